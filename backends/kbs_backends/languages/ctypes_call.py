"""A compiled ``solve`` called through ctypes with device pointers and scalars."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from kbs_backends.languages.base import Parameter, Signature
from kbs_backends.languages.signature import ENTRY
from kbs_engine.errors import InputError, MeasurementError, UsageError

SCALARS: Final[dict[str, Any]] = {
    "bool": ctypes.c_bool,
    "char": ctypes.c_char, "int8_t": ctypes.c_int8, "uint8_t": ctypes.c_uint8,
    "short": ctypes.c_short, "int16_t": ctypes.c_int16, "uint16_t": ctypes.c_uint16,
    "int": ctypes.c_int, "int32_t": ctypes.c_int32, "uint32_t": ctypes.c_uint32,
    "unsigned": ctypes.c_uint, "unsigned int": ctypes.c_uint,
    "long": ctypes.c_long, "long int": ctypes.c_long, "unsigned long": ctypes.c_ulong,
    "long long": ctypes.c_longlong, "unsigned long long": ctypes.c_ulonglong,
    "long long int": ctypes.c_longlong,
    "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64,
    "size_t": ctypes.c_size_t, "ssize_t": ctypes.c_ssize_t, "ptrdiff_t": ctypes.c_ssize_t,
    "std::size_t": ctypes.c_size_t, "std::int64_t": ctypes.c_int64,
    "float": ctypes.c_float, "double": ctypes.c_double,
}  # fmt: skip
"""Scalar types that ``solve`` may take."""

TORCH_DTYPES: Final[dict[str, tuple[str, ...]]] = {
    "float": ("float32",), "double": ("float64",),
    "__half": ("float16",), "half": ("float16",), "cutlass::half_t": ("float16",),
    "__nv_bfloat16": ("bfloat16",), "nv_bfloat16": ("bfloat16",),
    "cutlass::bfloat16_t": ("bfloat16",),
    "__nv_fp8_e4m3": ("float8_e4m3fn",), "__nv_fp8_e5m2": ("float8_e5m2",),
    "int": ("int32",), "int32_t": ("int32",), "long": ("int64",), "long long": ("int64",),
    "int64_t": ("int64",), "int8_t": ("int8",), "char": ("int8", "uint8"),
    "signed char": ("int8",), "uint8_t": ("uint8",), "unsigned char": ("uint8", "bool"),
    "bool": ("bool",), "short": ("int16",), "int16_t": ("int16",),
}  # fmt: skip
"""Element type of a pointer → the torch dtypes that its buffer may have; the first is made."""

_VECTOR_OF: Final[dict[str, str]] = {
    "float2": "float", "float4": "float", "half2": "__half", "__half2": "__half",
    "__nv_bfloat162": "__nv_bfloat16", "int4": "int", "int2": "int", "double2": "double",
}  # fmt: skip


def element_dtypes(type_: str) -> tuple[str, ...]:
    """Torch dtypes for a pointer's element type; empty for ``void`` and types of the user."""
    return TORCH_DTYPES.get(_VECTOR_OF.get(type_, type_), ())


class SolveCall:
    """``solve`` of a shared library, called by argument name."""

    def __init__(self, library: Path, signature: Signature, where: str) -> None:
        """Load the library and set the argument types.

        Raises:
            MeasurementError: The library cannot be loaded here.
            InputError: It has no ``solve``, or a parameter type is not known.
        """
        self.signature = signature
        self.arguments = signature.names
        self.optional: frozenset[str] = frozenset()
        self._where = where
        try:
            self._solve = getattr(ctypes.CDLL(str(library)), ENTRY)
        except AttributeError as problem:
            raise InputError(
                f"the library has no symbol {ENTRY}", where=str(library),
                remedy='declare it extern "C" and do not hide it',
            ) from problem  # fmt: skip
        except OSError as problem:
            raise MeasurementError(
                f"the library cannot be loaded: {problem}", where=str(library),
                remedy="compile it on this machine, with its CUDA libraries on the loader's path",
            ) from problem  # fmt: skip
        self._solve.restype = None
        self._solve.argtypes = [self._ctype(parameter) for parameter in signature.parameters]

    def _ctype(self, parameter: Parameter) -> Any:
        if parameter.pointer:
            return ctypes.c_void_p
        kind = SCALARS.get(parameter.type)
        if kind is None:
            raise InputError(
                f"solve takes {parameter.type} {parameter.name} by value",
                where=f"{self._where}:{self.signature.line}",
                remedy=f"pass scalars of type {', '.join(sorted(SCALARS))}",
            )
        return kind

    def __call__(self, **inputs: Any) -> None:
        """Launch once. Tensors become device pointers; the launch is asynchronous."""
        self._solve(*self.bind(inputs))

    def prepare(self, **inputs: Any) -> Callable[[], None]:
        """A launch with its arguments checked and converted, so that the call costs little.

        The tensors must live as long as the launch is used: it holds their addresses alone.
        """
        solve, arguments = self._solve, self.bind(inputs)
        return lambda: solve(*arguments)

    def bind(self, inputs: Mapping[str, Any]) -> list[Any]:
        """The C arguments, checked.

        Raises:
            UsageError: A missing argument, a tensor of another dtype, a tensor for a scalar.
        """
        return [self._value(parameter, inputs) for parameter in self.signature.parameters]

    def _value(self, parameter: Parameter, inputs: Mapping[str, Any]) -> Any:
        if parameter.name not in inputs:
            raise self._wrong(
                f"solve takes {parameter.name}, which is not among the inputs "
                f"({', '.join(inputs) or 'none'})",
                f"name it as setup() does, or give --{parameter.name}=VALUE",
            )
        value = inputs[parameter.name]
        is_tensor = hasattr(value, "data_ptr")
        if parameter.pointer != is_tensor:
            wanted = "a pointer" if parameter.pointer else f"a {parameter.type}"
            got = "a tensor" if is_tensor else repr(value)
            raise self._wrong(
                f"solve takes {wanted} for {parameter.name}, the inputs hold {got}",
                "make setup() and the signature agree",
            )
        if not parameter.pointer:
            return float(value) if parameter.type in ("float", "double") else int(value)
        allowed = element_dtypes(parameter.type)
        dtype = str(value.dtype).removeprefix("torch.")
        if allowed and dtype not in allowed:
            raise self._wrong(
                f"solve takes {parameter.type}* {parameter.name}, the input is {dtype}",
                f"take a pointer to {dtype}, or make setup() give {allowed[0]}",
            )
        return value.data_ptr()

    def _wrong(self, message: str, remedy: str) -> UsageError:
        return UsageError(message, where=f"{self._where}:{self.signature.line}", remedy=remedy)

"""Inputs of a baseline kernel, for references that have no setup() of their own."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from kbs_backends.languages.base import Parameter, Signature
from kbs_backends.languages.ctypes_call import element_dtypes
from kbs_backends.languages.python_kernel import Dims, PythonKernel
from kbs_backends.languages.signature import solve_signature
from kbs_backends.languages.sources import read_source
from kbs_backends.tasks.base import Inputs
from kbs_backends.tasks.computation import FileSetup, Setup
from kbs_engine.errors import InputError

_POINTER_DIMS = 2
"""Without more to go by, a buffer holds the product of the two largest whole dims."""


def setup_of_kernel(path: Path, ptr_size: int | None) -> Setup:
    """setup() of a .py kernel, or buffers by the signature of ``solve`` of a .cu file."""
    if path.suffix == ".py":
        return FileSetup(path, PythonKernel.load(path, "baseline").setup)
    return SignatureSetup(path, solve_signature(read_source(path), str(path)), ptr_size)


class SignatureSetup:
    """Arguments by the parameters of ``solve``: pointers are vectors of ``ptr_size`` elements."""

    def __init__(self, where: Path, signature: Signature, ptr_size: int | None) -> None:
        """Keep all three."""
        self._where = where
        self._signature = signature
        self._ptr_size = ptr_size

    def __call__(self, dims: Dims, seed: int) -> tuple[Inputs, tuple[str, ...]]:
        """Normal values for floats, zeros for integers (valid as indices); no outputs known."""
        import torch

        generator = torch.Generator().manual_seed(seed)
        inputs = {p.name: self._value(p, dims, generator) for p in self._signature.parameters}
        unused = {name: value for name, value in dims.items() if name not in inputs}
        return {**inputs, **unused}, ()

    def _value(self, parameter: Parameter, dims: Dims, generator: Any) -> Any:
        import torch

        if not parameter.pointer:
            if parameter.name not in dims:
                raise self._wrong(
                    f"wrong dims: solve takes {parameter.type} {parameter.name}",
                    f"give --{parameter.name}=VALUE, or a setup() in the reference",
                )
            return dims[parameter.name]
        known = element_dtypes(parameter.type)
        if not known:
            raise self._wrong(
                f"solve takes {parameter.type}* {parameter.name}, whose elements are not known",
                "give a setup() in the reference",
            )
        dtype = getattr(torch, known[0])
        count = self._elements(dims)
        if not dtype.is_floating_point:
            return torch.zeros(count, dtype=dtype, device="cuda")
        return torch.randn(count, generator=generator).to(dtype).to("cuda")

    def _elements(self, dims: Dims) -> int:
        if self._ptr_size:
            return self._ptr_size
        whole = sorted(v for v in dims.values() if isinstance(v, int) and not isinstance(v, bool))
        if not whole or whole[-1] < 1:
            raise self._wrong(
                "the size of its pointers is not known",
                "give a setup() in the reference, --dims, or --ptr-size",
            )
        return math.prod(whole[-_POINTER_DIMS:])

    def _wrong(self, message: str, remedy: str) -> InputError:
        place = f"{self._where}:{self._signature.line}"
        return InputError(message, where=place, remedy=remedy)

"""The contract of Python kernels: ``setup(**dims)`` and ``run_kernel(**kwargs)``."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from kbs_backends.languages.user_code import failures_by_line, import_file
from kbs_engine.errors import InputError

if TYPE_CHECKING:
    from typing_extensions import Self

SETUP, RUN = "setup", "run_kernel"
Dims = Mapping[str, int | float | str | bool]


class PythonKernel:
    """``run_kernel`` of a module, called with every input by name."""

    def __init__(self, source: Path, module: ModuleType) -> None:
        """Check the contract.

        Raises:
            InputError: ``run_kernel`` is missing.
        """
        self.source = source
        self.module = module
        self._run = required(module, RUN, source)
        self.arguments, self.optional = _named_arguments(self._run)

    @property
    def setup(self) -> Callable[..., Any]:
        """Its ``setup``; InputError where there is none (a reference may have its own)."""
        return required(self.module, SETUP, self.source)

    @classmethod
    def load(cls, source: Path, name: str = "") -> Self:
        """Import ``source`` and check it."""
        return cls(source, import_file(source, name))

    def __call__(self, **inputs: Any) -> object:
        """Launch once; InputError tells the line that raised."""
        with failures_by_line(self.source, f"{RUN} fails"):
            return self._run(**inputs)

    def prepare(self, **inputs: Any) -> Callable[[], object]:
        """The bare call, whose exceptions are the user's own."""
        return functools.partial(self._run, **inputs)


def required(module: ModuleType, name: str, source: Path) -> Callable[..., Any]:
    """The function ``name`` of a kernel file.

    Raises:
        InputError: There is none; says what it has to look like.
    """
    function: Callable[..., Any] | None = getattr(module, name, None)
    if not callable(function):
        shape = {
            SETUP: 'def setup(**dims): return {"inputs": {...}, "outputs": ["out"]}',
            RUN: "def run_kernel(**kwargs), which launches the kernel",
        }.get(name, f"def {name}(**kwargs)")
        raise InputError(f"defines no {name}", where=str(source), remedy=f"add {shape}")
    return function


def call_setup(
    setup: Callable[..., Any], dims: Dims, source: Path, *, seed: int | None = None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Inputs and output names of ``setup(**dims)``; ``seed`` is passed where it is taken.

    Raises:
        InputError: Wrong dims, another shape of the answer, or an output that is no input.
    """
    arguments = dict(dims)
    named, takes_any = _parameters(setup)
    if seed is not None and "seed" not in arguments and ("seed" in named or takes_any):
        arguments["seed"] = seed
    _check_dims(setup, arguments, source)
    told = f" with {', '.join(f'{name}={value}' for name, value in dims.items())}" if dims else ""
    with failures_by_line(source, f"{SETUP} fails{told}", remedy="fix the line, or the dims"):
        made = setup(**arguments)
    if not isinstance(made, Mapping) or not isinstance(made.get("inputs"), Mapping):
        raise InputError(
            f"{SETUP} does not return inputs", where=str(source),
            remedy='return {"inputs": {name: value, ...}, "outputs": [name, ...]}',
        )  # fmt: skip
    outputs = made.get("outputs") or ()
    names = (outputs,) if isinstance(outputs, str) else tuple(outputs)
    inputs = dict(made["inputs"])
    check_outputs(names, inputs, str(source))
    return inputs, names


def check_outputs(names: Sequence[str], inputs: Mapping[str, Any], where: str) -> None:
    """InputError for an output that is not an input, or is no tensor."""
    for name in names:
        if name not in inputs:
            raise InputError(
                f"output {name!r} is not among the inputs ({', '.join(inputs) or 'none'})",
                where=where,
                remedy="add its buffer to the inputs: kernels write outputs in place",
            )
        if not hasattr(inputs[name], "data_ptr"):
            raise InputError(
                f"output {name!r} is a {type(inputs[name]).__name__}, not a tensor", where=where,
                remedy="give a preallocated tensor, such as torch.empty(...)",
            )  # fmt: skip


def _check_dims(setup: Callable[..., Any], dims: Dims, source: Path) -> None:
    named, takes_any = _parameters(setup)
    unknown = [name for name in dims if name not in named and not takes_any]
    missing = [
        name
        for name, parameter in named.items()
        if parameter.default is inspect.Parameter.empty and name not in dims
    ]
    if unknown or missing:
        told = [
            *(f"{name} is not one of its dims" for name in unknown),
            *(f"{name} is not given" for name in missing),
        ]
        raise InputError(
            f"wrong dims for {SETUP}: {'; '.join(told)}", where=str(source),
            remedy=f"give --dims {','.join(f'{name}=…' for name in named) or '(none)'}",
        )  # fmt: skip


def _parameters(function: Callable[..., Any]) -> tuple[dict[str, inspect.Parameter], bool]:
    parameters = inspect.signature(function).parameters.values()
    named = {
        p.name: p
        for p in parameters
        if p.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    }
    return named, any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)


def _named_arguments(function: Callable[..., Any]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Names (none: any), and those with a default."""
    named, takes_any = _parameters(function)
    if takes_any:
        return (), frozenset()
    empty = inspect.Parameter.empty
    return tuple(named), frozenset(n for n, p in named.items() if p.default is not empty)

"""What a reference file computes: ``ref.py`` with ``reference``, or a KernelBench problem."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from kbs_backends.languages.python_kernel import Dims, call_setup
from kbs_backends.languages.user_code import failures_by_line, import_file
from kbs_backends.tasks.base import Inputs
from kbs_engine.errors import InputError

REFERENCE, MODEL = "reference", "Model"


class Setup(Protocol):
    """Where inputs come from: the reference's own setup, or that of the pinned baseline."""

    def __call__(self, dims: Dims, seed: int) -> tuple[Inputs, tuple[str, ...]]:
        """Arguments by name and the outputs that are declared (none: unknown)."""
        ...


class Computation(Protocol):
    """One reference file."""

    @property
    def where(self) -> Path:
        """The file."""
        ...

    @property
    def setup(self) -> Setup | None:
        """Its own inputs, where it has any."""
        ...

    def function(self, baseline: str = "") -> Callable[..., Any]:
        """What is called with every input by name."""
        ...

    def declared(self, name: str) -> Any:
        """A module-level value of the file (``atol``, ``flops``, ``family``…), or None."""
        ...


class FileComputation:
    """A file that defines ``reference(**kwargs)``."""

    def __init__(self, where: Path, module: ModuleType) -> None:
        """Keep the module."""
        self.where = where
        self._module = module

    @property
    def setup(self) -> Setup | None:
        """``setup`` of the file."""
        function = self.declared("setup")
        return FileSetup(self.where, function) if callable(function) else None

    def function(self, baseline: str = "") -> Callable[..., Any]:
        """``reference``, with ``baseline`` passed on where one is asked for."""
        reference: Callable[..., Any] = self.declared(REFERENCE)
        return functools.partial(reference, baseline=baseline) if baseline else reference

    def declared(self, name: str) -> Any:
        """A module-level value, or None."""
        return getattr(self._module, name, None)


class FileSetup:
    """``setup(**dims)`` of a Python file."""

    def __init__(self, where: Path, function: Callable[..., Any]) -> None:
        """Keep both."""
        self._where = where
        self._function = function

    def __call__(self, dims: Dims, seed: int) -> tuple[Inputs, tuple[str, ...]]:
        """Arguments and declared outputs."""
        return call_setup(self._function, dims, self._where, seed=seed)


def load_computation(path: Path) -> Computation:
    """Import a reference.

    Raises:
        InputError: It defines neither ``reference`` nor a KernelBench ``Model``, or fails.
    """
    from kbs_backends.tasks.kernelbench import KernelBenchComputation

    module = import_file(path, "reference")
    if callable(getattr(module, REFERENCE, None)):
        return FileComputation(path, module)
    if hasattr(module, MODEL):
        return KernelBenchComputation(path, module)
    raise InputError(
        f"defines no {REFERENCE}", where=str(path),
        remedy=f"add def {REFERENCE}(**kwargs) that returns the outputs, or a KernelBench "
        f"{MODEL} with get_inputs and get_init_inputs",
    )  # fmt: skip


def takes_no_buffers(function: Callable[..., Any], names: Sequence[str]) -> Callable[..., Any]:
    """``function`` without the arguments ``names``: buffers of outputs that it only returns."""
    if not names:
        return function

    @functools.wraps(function)
    def without_buffers(**inputs: Any) -> Any:
        return function(**{name: v for name, v in inputs.items() if name not in names})

    return without_buffers


def run_user(where: Path, function: Callable[..., Any], inputs: Mapping[str, Any]) -> Any:
    """Call the reference; InputError with the line that raised."""
    with failures_by_line(where, f"{REFERENCE} fails"):
        return function(**inputs)

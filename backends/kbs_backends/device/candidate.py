"""Loading what a worker calls: a candidate's source, or a baseline of the reference."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from kbs_backends.device.messages import Load
from kbs_engine.errors import InputError

Inputs = dict[str, Any]


class Callee(Protocol):
    """Something that can be called on a task's arguments."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names that it takes; empty: all."""
        ...

    def prepare(self, values: Inputs) -> Callable[[], Any]:
        """The call itself, with everything looked up beforehand."""
        ...


class KernelCallee:
    """A candidate in one of the languages."""

    def __init__(self, runnable: Any, dims: Inputs) -> None:
        """``runnable`` is what the language's ``load`` gave."""
        self._runnable = runnable
        self._dims = dims
        self.arguments: tuple[str, ...] = tuple(runnable.arguments)

    def prepare(self, values: Inputs) -> Callable[[], Any]:
        """Only the arguments that the kernel takes; a name that is missing fails here."""
        from kbs_backends.languages.arguments import arguments_for

        runnable = self._runnable
        chosen = arguments_for(runnable, values, self._dims)
        return lambda: runnable(**chosen)


class BaselineCallee:
    """The reference itself, run eagerly, compiled, or by a library."""

    arguments: tuple[str, ...] = ()

    def __init__(self, function: Callable[..., Any]) -> None:
        """``function`` takes every input by name."""
        self._function = function

    def prepare(self, values: Inputs) -> Callable[[], Any]:
        """One call of the reference in its own data type."""
        import torch

        function = self._function

        def call() -> Any:
            with torch.no_grad():
                return function(**values)

        return call


def load(message: Load, *, trusted: bool) -> Callee:
    """Load what the message names, in this process."""
    if message.baseline:
        if not trusted:
            raise RuntimeError("a baseline in a candidate's process")
        return _baseline(message)
    from kbs_backends.languages import LANGUAGES

    if message.language is None:
        raise RuntimeError("neither a language nor a baseline")
    module = LANGUAGES[message.language]
    artifact = Path(message.artifact) if message.artifact else None
    runnable = module.load(Path(message.path), artifact, name="candidate")
    return KernelCallee(runnable, message.dims)


def _baseline(message: Load) -> Callee:
    from kbs_backends.tasks.computation import load_computation, takes_no_buffers

    computation = load_computation(Path(message.path))
    plain = takes_no_buffers(computation.function(), message.only_returned)
    if message.baseline == "pytorch-eager":
        return BaselineCallee(plain)
    if message.baseline == "torch-compile":
        import torch

        return BaselineCallee(torch.compile(plain))
    asked = takes_no_buffers(computation.function(message.baseline), message.only_returned)
    return BaselineCallee(_of_library(plain, asked, message))


def _of_library(
    plain: Callable[..., Any], asked: Callable[..., Any], message: Load
) -> Callable[..., Any]:
    """The library's side of a reference; one that takes no ``baseline`` would run eagerly."""
    if "baseline" not in inspect.signature(plain).parameters:
        raise InputError(
            f"reference() takes no baseline, so {message.baseline} cannot be asked of it",
            where=Path(message.path).name,
            remedy=f'add baseline="" to its arguments and call {message.baseline} for it',
        )
    return asked

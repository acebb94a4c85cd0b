"""Watching one call in the worker: the candidate's own launches, and operations of libraries.

Runs in the candidate's process, so that what it tells is a claim. What is no claim is the
result of a call whose library operations fail (``refuse``), or whose own launches do nothing
(``skip``): the owner compares it as it compares any other.
"""

from __future__ import annotations

import functools
import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from kbs_backends.device.messages import Seen, WatchMode

_ALLOWED = frozenset(
    (
        "empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided",
        "zeros", "zeros_like", "new_zeros", "ones", "ones_like", "new_ones", "full", "full_like",
        "new_full", "zero_", "fill_", "set_", "resize_", "alias", "detach", "detach_",
        "lift_fresh", "scalar_tensor", "arange", "copy_", "clone", "_to_copy", "_unsafe_view",
        "_reshape_alias", "_local_scalar_dense", "record_stream",
    )
)  # fmt: skip
"""Making, filling, moving and viewing tensors is what goes around a kernel, not a kernel."""
_LIBRARIES = ("aten", "prims", "quantized", "mkldnn", "torchvision", "xformers", "flash_attn")


class LibraryCallError(RuntimeError):
    """A library operation in a call that must do without."""


class _Operations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes operations of torch's libraries; with ``refuse`` they fail."""

    def __init__(self, *, refuse: bool) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.names: list[str] = []
        self._refuse = refuse

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """No: to be skipped, torch's compiler would be imported first, for seconds."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        library, _, name = str(func).partition(".")
        name = name.partition(".")[0]
        if library not in _LIBRARIES:
            with self:  # an operation that the candidate registered: look inside
                return func(*args, **(kwargs or {}))
        if name not in _ALLOWED and not getattr(func, "is_view", False):
            self.names.append(f"{library}::{name}")
            if self._refuse:
                raise LibraryCallError(f"{library}::{name} where libraries are not permitted")
        return func(*args, **(kwargs or {}))


class Watched:
    """A call, watched."""

    def __init__(self, call: Callable[[], Any], mode: WatchMode) -> None:
        """``mode`` says what is let through."""
        self._call = call
        self._mode = mode
        self._operations = _Operations(refuse=mode == "refuse")
        self._launched: list[str] = []

    def __call__(self) -> Any:
        """Make the call."""
        with self._launches(), self._operations:
            return self._call()

    def seen(self) -> Seen:
        """What was seen, each name once, in order."""
        return Seen(
            launched=tuple(dict.fromkeys(self._launched)),
            operations=tuple(dict.fromkeys(self._operations.names)),
            defined=_defined(),
        )

    @contextmanager
    def _launches(self) -> Iterator[None]:
        """Note Triton's launches, in its compiler and its interpreter."""
        before = [(kind, kind.__dict__["run"]) for kind in _kinds()]
        for kind, run in before:
            kind.run = self._noted(run)
        compiled = getattr(sys.modules.get("triton.compiler.compiler"), "CompiledKernel", None)
        launcher = compiled.__getitem__ if compiled else None
        if compiled:
            compiled.__getitem__ = self._noted_launcher(launcher)
        try:
            yield
        finally:
            for kind, run in before:
                kind.run = run
            if compiled:
                compiled.__getitem__ = launcher

    def _noted(self, run: Callable[..., Any]) -> Callable[..., Any]:
        def noted(kernel: Any, *args: Any, **kwargs: Any) -> Any:
            if kwargs.get("warmup"):
                return run(kernel, *args, **kwargs)
            if self._mode == "skip":
                return None
            with _disable_current_modes():
                found = run(kernel, *args, **kwargs)
            self._launched.append(_name(kernel))
            return found

        return noted

    def _noted_launcher(self, launcher: Any) -> Callable[..., Any]:
        """For kernels that were compiled beforehand: ``compiled[grid](...)``."""

        def at(kernel: Any, grid: Any) -> Callable[..., Any]:
            def launch(_: Any, *args: Any, **kwargs: Any) -> Any:
                return launcher(kernel, grid)(*args, **kwargs)

            return functools.partial(self._noted(launch), kernel)

        return at


def _kinds() -> list[Any]:
    """Classes of Triton kernels, where Triton is loaded."""
    found = []
    for module, name in (("triton.runtime.jit", "JITFunction"),
                         ("triton.runtime.interpreter", "InterpretedFunction")):  # fmt: skip
        kind = getattr(sys.modules.get(module), name, None)
        if kind is not None and "run" in kind.__dict__:
            found.append(kind)
    return found


def _name(kernel: Any) -> str:
    return str(getattr(kernel, "__name__", "") or getattr(kernel, "name", "") or "a kernel")


def _defined() -> tuple[str, ...]:
    """Names of Triton kernels that the candidate defines."""
    kinds = tuple(_kinds())
    found = [one for one in gc.get_objects() if type(one) in kinds]
    return tuple(sorted(_name(one) for one in found if not _of_triton(one)))


def _of_triton(kernel: Any) -> bool:
    return str(getattr(kernel.fn, "__module__", "")).startswith("triton.")

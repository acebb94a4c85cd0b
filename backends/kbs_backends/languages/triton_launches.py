"""Cross-compilation of Triton: run ``run_kernel`` without a GPU and keep what it launches.

Triton's own launch path binds the arguments, decides what is specialised and compiles; only
its driver is another one, and nothing is loaded or launched. So signature, constexprs,
alignment, warps and stages are those of the real call.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from typing import Any
from unittest import mock

import msgspec

from kbs_backends.languages.placement import ONE_AT_A_TIME
from kbs_engine.errors import UsageError

_CUDA = re.compile(r"^sm_(\d{2,3})[af]?$")
_AMD = re.compile(r"^gfx[0-9a-f]{3,5}$")
_WAVE_32 = re.compile(r"^gfx1[0-9a-f]{3}$")


class Launched(msgspec.Struct, frozen=True, kw_only=True):
    """One compiled kernel of a call."""

    name: str
    asm: dict[str, Any]
    """Stage → text or bytes, as Triton holds them: ``ptx``, ``cubin``, ``amdgcn``, ``ttgir``."""
    shared_bytes: int
    warps: int
    warp_size: int
    stages: int | None
    constants: dict[str, str]


def target_of(arch: str) -> Any:
    """Triton's target; UsageError for what it is not a target of.

    Waves of RDNA (gfx10 and later) have 32 lanes, of CDNA 64.
    """
    from triton.backends.compiler import GPUTarget

    cuda = _CUDA.match(arch)
    if cuda is not None:
        return GPUTarget("cuda", int(cuda.group(1)), 32)
    if _AMD.match(arch):
        return GPUTarget("hip", arch, 32 if _WAVE_32.match(arch) else 64)
    raise no_target(arch)


def no_target(arch: str) -> UsageError:
    """What is said of a target that Triton does not have."""
    return UsageError(
        f"Triton does not compile for {arch}", remedy="give a target such as sm_90 or gfx942"
    )


@contextlib.contextmanager
def pinned_configuration() -> Iterator[None]:
    """Autotuned kernels take their first configuration: nothing is benchmarked.

    For compiling and interpreting, where there is nothing to measure, and under a profiler,
    whose counters a benchmark would fill.
    """
    from triton.runtime.autotuner import Autotuner

    tune = Autotuner.run

    def first(self: Any, *args: Any, **kwargs: Any) -> Any:
        with mock.patch.object(self, "configs", self.configs[:1]):
            return tune(self, *args, **kwargs)

    with mock.patch.object(Autotuner, "run", first):
        yield


@contextlib.contextmanager
def launches_for(arch: str) -> Iterator[list[Launched]]:
    """Within this context every Triton launch is compiled for ``arch`` and listed, not run.

    Launches of all threads would be listed, so threads take turns.
    """
    with ONE_AT_A_TIME, _listing(target_of(arch)) as found:
        yield found


@contextlib.contextmanager
def _listing(target: Any) -> Iterator[list[Launched]]:
    from triton import knobs
    from triton.runtime import driver as drivers
    from triton.runtime.jit import JITFunction

    found: list[Launched] = []
    run = JITFunction.run

    def captured(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        del warmup
        shown = [_stand_in(value) for value in args]
        options = {name: _stand_in(value) for name, value in kwargs.items()}
        compiled = run(self, *shown, grid=grid, warmup=True, **options)
        found.append(_launched(self, compiled, target))
        return compiled

    before = drivers._active  # noqa: SLF001 - there is no reader of it that makes no driver
    drivers.set_active(_CrossDriver(target))
    try:
        with (
            mock.patch.dict(os.environ),
            mock.patch.object(JITFunction, "run", captured),
            pinned_configuration(),
            mock.patch.object(knobs.runtime, "interpret", False),
        ):
            os.environ.pop("TRITON_INTERPRET", None)
            # 3.9 warns where this is unset; on is what it does then.
            os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
            yield found
    finally:
        drivers._active = before  # noqa: SLF001


def _launched(kernel: Any, compiled: Any, target: Any) -> Launched:
    metadata = compiled.metadata
    names = kernel.arg_names
    constants = getattr(compiled.src, "constants", {})
    return Launched(
        name=compiled.name,
        asm=dict(compiled.asm),
        shared_bytes=int(metadata.shared),
        warps=int(metadata.num_warps),
        warp_size=int(target.warp_size),
        stages=getattr(metadata, "num_stages", None),
        constants={
            names[path[0]]: str(value)
            for path, value in constants.items()
            if len(path) == 1 and path[0] < len(names)
        },
    )


class _CrossDriver:
    """Just enough of a driver to bind and compile; anything else is an error of the kernel."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def get_current_target(self) -> Any:
        return self._target

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        del device
        return 0

    def set_current_device(self, device: int) -> None:
        del device

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cuda", 0)

    def get_device_capability(self, device: int = 0) -> tuple[int, int]:
        del device
        if self._target.backend != "cuda":
            raise UsageError("the kernel asks an AMD target for its compute capability")
        major, minor = divmod(int(self._target.arch), 10)
        return major, minor


class _Pointer:
    """A tensor as Triton's binder reads it: a dtype and an aligned address."""

    def __init__(self, tensor: Any) -> None:
        self.dtype = tensor.dtype
        self.shape = tuple(tensor.shape)
        self._strides = tuple(tensor.stride())
        size = tensor.untyped_storage().nbytes()
        self._bytes = size
        self._offset = tensor.storage_offset() * tensor.element_size()

    def data_ptr(self) -> int:
        """Aligned to 16 bytes where a fresh allocation would be."""
        return int(self._offset)

    def ptr_range(self) -> int:
        """Bytes behind the pointer."""
        return int(self._bytes)

    def stride(self) -> tuple[int, ...]:
        """Strides in elements."""
        return self._strides

    def element_size(self) -> int:
        """Bytes of an element."""
        return int(self.dtype.itemsize)

    def untyped_storage(self) -> Any:
        """Itself, which knows the size of the storage."""
        return self

    def size(self) -> int:
        """Bytes of the storage, as Triton's AMD back end asks for them."""
        return int(self._bytes)


def _stand_in(value: Any) -> Any:
    import torch

    if isinstance(value, torch.Tensor):
        return _Pointer(value)
    base = getattr(value, "base", None)
    if isinstance(base, torch.Tensor) and hasattr(value, "__dict__"):
        clone = object.__new__(type(value))
        clone.__dict__.update(value.__dict__, base=_Pointer(base))
        return clone
    return value

"""User code that asks for a CUDA device, run where there is none: on CPU or meta tensors.

``device="cuda"`` is rewritten to the CPU, and the few functions of ``torch.cuda`` that setup
code calls get answers. With ``fake`` no memory is touched: tensors are shapes and types (the
``meta`` device), which is all that compiling and counting need.
"""

from __future__ import annotations

import contextlib
import threading
import types
from collections.abc import Iterator, Mapping
from typing import Any, Final
from unittest import mock

import msgspec

from kbs_engine.errors import InputError


class PretendChip(msgspec.Struct, frozen=True, kw_only=True):
    """What fake code is told of the chip that it is compiled for. None: asking is an error."""

    capability: tuple[int, int] | None = None
    unit_count: int | None = None


_SILENT: Final[tuple[str, ...]] = (
    "synchronize", "empty_cache", "reset_peak_memory_stats", "set_device", "manual_seed",
    "manual_seed_all",
)  # fmt: skip


ONE_AT_A_TIME: Final = threading.RLock()
"""What stands in for a GPU, or for its driver, is seen by all threads of a process."""


@contextlib.contextmanager
def without_gpu(*, fake: bool = False, chip: PretendChip | None = None) -> Iterator[None]:
    """Run user code as if there were one CUDA device, on CPU (or, ``fake``, meta) tensors."""
    import torch

    with ONE_AT_A_TIME, contextlib.ExitStack() as stack:
        for name, stand_in in _stand_ins(chip or PretendChip()).items():
            stack.enter_context(mock.patch.object(torch.cuda, name, stand_in))
        stack.enter_context(mock.patch.object(torch, "Generator", _cpu_generator()))
        if fake:
            stack.enter_context(torch.device("meta"))
        stack.enter_context(_placement_mode("meta" if fake else "cpu", pretend=fake))
        yield


def on_device(device: str) -> contextlib.AbstractContextManager[None]:
    """Where user code runs for tensors on ``device``: as it is on a GPU, else ``without_gpu``."""
    return contextlib.nullcontext() if device.startswith("cuda") else without_gpu()


def _placement_mode(target: str, *, pretend: bool) -> Any:
    """A mode that moves every torch call to ``target``; ``pretend`` lets tensors claim CUDA."""
    import torch
    from torch.overrides import TorchFunctionMode

    cuda = torch.device("cuda", 0)
    shapes = _shapes()
    properties: Any = torch.Tensor
    claims = {properties.is_cuda.__get__: True, properties.device.__get__: cuda}

    class Placement(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, kinds: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            del kinds
            if pretend and func in claims:
                return claims[func]
            if func is torch.Tensor.cuda:
                return args[0].to(target)
            if func is torch.Tensor.pin_memory:
                return args[0]
            args = tuple(_here(value, target) for value in args)
            options = {name: _here(value, target) for name, value in (kwargs or {}).items()}
            options.pop("pin_memory", None)
            if pretend and func in shapes:
                made = shapes[func](*args, **options)
                if made is not None:
                    return made
            return func(*args, **options)

    return Placement()


def _shapes() -> Mapping[Any, Any]:
    """Makers of tensors without values; None where an argument is not one of the usual.

    Torch itself imports its symbolic shapes for these, and sympy, for seconds.
    """
    import torch

    def drawn(*size: Any, generator: Any = None, **options: Any) -> Any:
        del generator
        return None if "out" in options else torch.empty(*size, **options)

    def like(one: Any, *others: Any, dtype: Any = None, **options: Any) -> Any:
        usual = isinstance(one, torch.Tensor) and one.is_contiguous() and not others
        if not usual or set(options) - {"device", "requires_grad", "generator"}:
            return None
        return torch.empty(one.shape, dtype=dtype or one.dtype)

    likes = (torch.empty_like, torch.zeros_like, torch.ones_like, torch.randn_like,
             torch.rand_like)  # fmt: skip
    return {torch.randn: drawn, torch.rand: drawn, **dict.fromkeys(likes, like)}


def _here(value: Any, target: str) -> Any:
    """A device that is CUDA becomes ``target``; anything else stays."""
    import torch

    if isinstance(value, str) and (value == "cuda" or value.startswith("cuda:")):
        return target
    if isinstance(value, torch.device) and value.type == "cuda":
        return torch.device(target)
    return value


def _cpu_generator() -> Any:
    import torch

    class CpuGenerator(torch.Generator):
        def __new__(cls, device: Any = None) -> Any:
            del device
            return super().__new__(cls, "cpu")  # type: ignore[call-arg]

    return CpuGenerator


def _stand_ins(chip: PretendChip) -> Mapping[str, Any]:
    """Answers of ``torch.cuda`` by function name; each an object of its own, as torch's are."""

    def capability(*_: Any, **__: Any) -> tuple[int, int]:
        if chip.capability is None:
            raise _unknown("the compute capability")
        return chip.capability

    return {
        **{name: _returning(None) for name in _SILENT},
        "current_device": _returning(0),
        "device_count": _returning(1),
        "is_available": _returning(True),
        "current_stream": lambda *_: types.SimpleNamespace(
            cuda_stream=0, synchronize=_returning(None)
        ),
        "device": lambda *_: contextlib.nullcontext(),
        "device_of": lambda *_: contextlib.nullcontext(),
        "get_device_capability": capability,
        "get_device_properties": lambda *_: _Properties(chip),
    }


def _returning(value: Any) -> Any:
    return lambda *_, **__: value


class _Properties:
    """Device properties that are known; the others are an error, never a made-up number."""

    def __init__(self, chip: PretendChip) -> None:
        self._chip = chip

    def __getattr__(self, name: str) -> Any:
        chip = self._chip
        if name == "multi_processor_count" and chip.unit_count is not None:
            return chip.unit_count
        if name in ("major", "minor") and chip.capability is not None:
            return chip.capability[name == "minor"]
        if name.startswith("__"):
            raise AttributeError(name)
        raise _unknown(name)


def _unknown(what: str) -> InputError:
    return InputError(
        f"the kernel asks the device for {what}, and there is no device here",
        remedy="name the chip that it is compiled for (--chip), or take the number as a dim",
    )

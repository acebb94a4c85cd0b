"""Compile every launch of a Triton case for a target without a GPU.

The tensors of a case are made on torch's ``meta`` device (or the CPU, where values decide the
grid); launches are caught instead of run, then compiled with the arguments they had.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

import torch
import triton
from torch.overrides import TorchFunctionMode
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.jit import JITFunction

NEEDS_VALUES = {"t215_spans"}
_TYPES = {
    torch.float64: "fp64", torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16",
    torch.int64: "i64", torch.int32: "i32", torch.int16: "i16", torch.int8: "i8",
}  # fmt: skip
_OPTIONS = ("num_warps", "num_stages")


class _Elsewhere(TorchFunctionMode):
    """Put what asks for device ``cuda`` on another device."""

    def __init__(self, device: str) -> None:
        super().__init__()
        self.device = device

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if kwargs.get("device") == "cuda":
            kwargs["device"] = self.device
        return func(*args, **kwargs)


@dataclass(frozen=True)
class Launch:
    """One caught launch."""

    kernel: Any
    grid: tuple[int, ...]
    arguments: dict[str, Any]
    options: dict[str, int]

    def key(self) -> tuple[Any, ...]:
        """Equal for launches that compile to the same code."""
        return (self.kernel.__name__, repr(_source(self)), tuple(sorted(self.options.items())))


@contextmanager
def caught() -> Iterator[list[Launch]]:
    """Catch ``kernel[grid](...)`` instead of running it."""
    launches: list[Launch] = []

    def run(kernel: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> None:
        names = kernel.arg_names
        options = {name: kwargs.pop(name) for name in _OPTIONS if name in kwargs}
        arguments = {**dict(zip(names, args, strict=False)), **kwargs}
        launches.append(Launch(kernel, tuple(grid), arguments, options))

    with mock.patch.object(JITFunction, "run", run):
        yield launches


def launches_of(case: Any) -> dict[str, list[Launch]]:
    """Launches of the faulty kernel and of each fix."""
    device = "cpu" if case.name in NEEDS_VALUES else "meta"
    found: dict[str, list[Launch]] = {}
    with _Elsewhere(device):
        ready = case.prepare()
        variants = {"faulty": ready.run, **ready.fixes}
        for name, call in variants.items():
            with caught() as launches:
                call()
            found[name] = list(launches)
    return found


def _source(launch: Launch) -> tuple[dict[str, str], dict[Any, Any], dict[Any, Any]]:
    signature: dict[str, str] = {}
    constants: dict[Any, Any] = {}
    attributes: dict[Any, Any] = {}
    for param in launch.kernel.params:
        value = launch.arguments[param.name]
        if param.is_constexpr or (isinstance(value, int) and value == 1 and _special(param)):
            signature[param.name] = "constexpr"
            constants[(param.num,)] = value
            continue
        if isinstance(value, torch.Tensor):
            signature[param.name] = f"*{_TYPES[value.dtype]}"
            aligned = True  # torch allocates at 256 bytes, and the slices used keep 16
        else:
            signature[param.name] = "fp32" if isinstance(value, float) else "i32"
            aligned = isinstance(value, int) and value % 16 == 0 and _special(param)
        if aligned:
            attributes[(param.num,)] = [["tt.divisibility", 16]]
    return signature, constants, attributes


def _special(param: Any) -> bool:
    return not param.do_not_specialize


def compiled(launch: Launch, target: GPUTarget | None = None) -> Any:
    """The compiled kernel of a launch, for sm_90 unless another target is given."""
    signature, constants, attributes = _source(launch)
    source = ASTSource(launch.kernel, signature, constants, attributes)
    options = {**launch.options, "enable_fp_fusion": True}
    return triton.compile(source, target=target or GPUTarget("cuda", 90, 32), options=options)

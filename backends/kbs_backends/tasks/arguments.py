"""What an argument may be: plain values and tensors, whose elements may repeat as in ``expand``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from kbs_engine.errors import InputError

_LEAST, _MOST = -(1 << 63), (1 << 64) - 1
"""Whole numbers that can be handed over."""


def once(value: Any, strides: Sequence[int] | None = None) -> Any:
    """A view with one element for each place: dims of stride zero are cut to one.

    Args:
        value: The tensor.
        strides: Strides that say what is repeated; its own by default.
    """
    for dim, stride in enumerate(value.stride() if strides is None else strides):
        if stride == 0 and value.shape[dim] > 1:
            value = value.narrow(dim, 0, 1)
    return value


def repeats(value: Any) -> bool:
    """Whether a dim of more than one element has stride zero."""
    return bool(once(value).shape != value.shape)


def no_overlaps(inputs: Mapping[str, Any], outputs: Sequence[str], where: Path) -> None:
    """InputError for arguments that cannot be filled with values of their own.

    Inputs may repeat along whole dims; windows that overlap may not, and outputs not at all.
    """
    import torch

    for name, value in inputs.items():
        if not isinstance(value, torch.Tensor):
            continue
        repeated = name in outputs and repeats(value)
        if repeated or _windows(once(value)):
            raise InputError(
                f"elements of {name} overlap in memory: shape {tuple(value.shape)}, "
                f"strides {tuple(value.stride())}",
                where=str(where), remedy=f"make setup() give {name}.contiguous()",
            )  # fmt: skip


def only_sendable(inputs: Mapping[str, Any], where: Path) -> None:
    """InputError for arguments that cannot be handed to the process of a kernel."""
    import torch

    for name, value in inputs.items():
        if isinstance(value, torch.Tensor):
            if value.layout is torch.strided:
                continue
            remedy = "make setup() give the dense tensors that it is made of, each by a name"
            raise _unfit(name, f"a tensor of layout {value.layout}", remedy, where)
        if not _plain(value):
            remedy = "make setup() give numbers, words and tensors, each by a name of its own"
            raise _unfit(name, _kind(value), remedy, where)


def _unfit(name: str, kind: str, remedy: str, where: Path) -> InputError:
    return InputError(
        f"argument {name} is {kind}, which no kernel can be given", where=str(where), remedy=remedy
    )


def _kind(value: Any) -> str:
    inside = isinstance(value, (list, tuple, dict))
    return f"a {type(value).__name__}" + (" that holds more than plain values" if inside else "")


def _plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _plain(one) for key, one in value.items())
    if isinstance(value, (list, tuple)):
        return all(map(_plain, value))
    if type(value) is int:
        return _LEAST <= value <= _MOST
    return value is None or type(value) in (bool, float, str)


def _windows(value: Any) -> bool:
    """Whether a step along one dim stays within what the dims of smaller strides span."""
    dims = sorted((stride, size) for size, stride in zip(value.shape, value.stride(), strict=True)
                  if size > 1)  # fmt: skip
    span = 0
    for (stride, size), (following, _) in pairwise(dims):
        span += stride * (size - 1)
        if following <= span:
            return bool(value.numel())
    return False

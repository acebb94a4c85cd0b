"""How tensors of a task lie in memory: templates read and write row after row, without gaps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def row_major(tensor: Any) -> bool:
    """Whether its elements lie in the order of its indices, without gaps."""
    return bool(tensor.is_contiguous())


def column_major(tensor: Any) -> bool:
    """Whether the last two dims lie the other way round: ``tensor.mT`` is row after row."""
    return tensor.dim() > 1 and not row_major(tensor) and bool(tensor.mT.is_contiguous())


def column_majors(inputs: Mapping[str, Any]) -> frozenset[str]:
    """Names of the tensors whose last two dims lie the other way round."""
    return frozenset(
        name for name, value in inputs.items() if hasattr(value, "shape") and column_major(value)
    )


def turned(tensors: Mapping[str, torch.Tensor], names: frozenset[str]) -> dict[str, torch.Tensor]:
    """The tensors, those of ``names`` as they lie in memory: their last two dims swapped."""
    return {name: value.mT if name in names else value for name, value in tensors.items()}


def odd_layouts(inputs: Mapping[str, Any]) -> dict[str, str]:
    """In words, how the tensors lie that do not lie row after row."""
    return {
        name: f"strides {tuple(value.stride())} for shape {tuple(value.shape)}"
        for name, value in inputs.items()
        if hasattr(value, "stride") and not row_major(value)
    }


def same_order(tensors: Mapping[str, torch.Tensor]) -> bool:
    """Whether all fill memory without gaps, with their elements in one and the same order."""
    strides = {
        tuple(stride for size, stride in zip(one.shape, one.stride(), strict=True) if size > 1)
        for one in tensors.values()
    }
    return len(strides) <= 1 and all(map(_dense, tensors.values()))


def _dense(tensor: torch.Tensor) -> bool:
    span = 1
    for stride, size in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if size > 1 and stride != span:
            return False
        span *= size
    return True

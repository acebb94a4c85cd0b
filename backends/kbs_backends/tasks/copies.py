"""Copies of arguments: as they are, in fp64, or in the layout of a buffer."""

from __future__ import annotations

from typing import Any

from kbs_backends.tasks.base import Inputs


def copies(inputs: Inputs, *, wide: bool) -> Inputs:
    """Copies with the same strides; ``wide``: floating tensors in fp64."""
    import torch

    def copy(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if wide and value.is_floating_point():
            return value.to(torch.float64, copy=True)
        return value.clone()

    return {name: copy(value) for name, value in inputs.items()}


def as_buffer(value: Any, buffer: Any) -> Any:
    """The eager result in the layout of the buffer: only values are judged here."""
    import torch

    if value.stride() == buffer.stride():
        return value
    made = torch.empty_strided(
        buffer.shape, buffer.stride(), dtype=buffer.dtype, device=buffer.device
    )
    return made.copy_(value)

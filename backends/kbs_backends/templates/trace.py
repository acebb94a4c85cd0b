"""A reference as a graph of torch's basic operations, from its read inputs to its outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kbs_backends.tasks.base import Inputs, Reference

if TYPE_CHECKING:
    import torch


def read_tensors(reference: Reference, inputs: Inputs) -> tuple[str, ...]:
    """Names of the tensors that the reference is given to read, in order."""
    return tuple(
        name
        for name, value in inputs.items()
        if hasattr(value, "shape") and name not in reference.output_names
    )


def trace(reference: Reference, inputs: Inputs, read: Sequence[str]) -> torch.fx.GraphModule:
    """The graph over ``read``; outputs that are written in place get buffers of the graph's own.

    Placeholders stand in the order of ``read``, results in that of ``output_names``.
    """
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    written = {
        name: (tuple(inputs[name].shape), inputs[name].dtype, inputs[name].device)
        for name in reference.output_names
        if hasattr(inputs.get(name), "shape")
    }

    def call(*given: torch.Tensor) -> list[torch.Tensor]:
        buffers = {
            name: torch.empty(shape, dtype=dtype, device=device)
            for name, (shape, dtype, device) in written.items()
        }
        results = reference.eager({**inputs, **buffers, **dict(zip(read, given, strict=True))})
        return [results[name] for name in reference.output_names]

    graph: torch.fx.GraphModule = make_fx(call)(*(inputs[name] for name in read))
    graph.graph.eliminate_dead_code()
    graph.recompile()
    return graph

"""A reference as a graph of torch's basic operations, from the tensors it reads to its outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from kbs_backends.tasks.base import Inputs, Reference
from kbs_engine.errors import KbsError, MeasurementError

if TYPE_CHECKING:
    import torch

_OF_VALUES = "tracing tensor"
"""Part of torch's message where the value of a traced tensor is asked for."""


class Traced(msgspec.Struct, frozen=True, kw_only=True):
    """A graph without changes in place; placeholders stand in the order of ``read``."""

    graph: Any
    """``torch.fx.GraphModule``; its results stand in the order of ``output_names``."""
    read: tuple[str, ...]
    """Tensors that it is given: inputs, then the outputs whose old content it reads."""


def trace(reference: Reference, inputs: Inputs) -> Traced:
    """The graph of ``reference``; outputs that are only written get buffers of its own.

    Raises:
        MeasurementError: It cannot be traced: its control flow depends on values, say.
    """
    tensors = [name for name, value in inputs.items() if hasattr(value, "shape")]
    given = [name for name in tensors if name not in reference.output_names]
    buffers = [name for name in tensors if name in reference.output_names]
    whole = _graph(reference, inputs, [*given, *buffers])
    holders = whole.graph.find_nodes(op="placeholder")[len(given) :]
    old = [name for name, node in zip(buffers, holders, strict=True) if _is_read(node)]
    read = (*given, *old)
    return Traced(graph=_graph(reference, inputs, read), read=read)


def _graph(reference: Reference, inputs: Inputs, read: Sequence[str]) -> torch.fx.GraphModule:
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    written = [name for name in reference.output_names if hasattr(inputs.get(name), "shape")]

    def call(*given: torch.Tensor) -> list[torch.Tensor]:
        values = dict(zip(read, given, strict=True))
        for name in written:  # what the reference writes is its own, and no argument of the graph
            buffer = inputs[name]
            values[name] = (
                values[name].clone()
                if name in values
                else torch.empty(tuple(buffer.shape), dtype=buffer.dtype, device=buffer.device)
            )
        results = reference.eager({**inputs, **values})
        return [results[name] for name in reference.output_names]

    pure = torch.func.functionalize(call, remove="mutations")
    try:
        graph: torch.fx.GraphModule = make_fx(pure)(*(inputs[name] for name in read))
    except (KbsError, RuntimeError) as problem:
        raise _untraceable(problem) from problem
    graph.graph.eliminate_dead_code()
    graph.recompile()
    return graph


def _is_read(node: torch.fx.Node) -> bool:
    """Whether what a buffer held matters: a copy over all of it makes it forgotten."""
    for user in node.users:
        name = str(user.target)
        if name.startswith("aten.clone"):
            if _is_read(user):
                return True
        elif not (name.startswith("aten.copy") and user.args[1] is not node):
            return True
    return False


def _untraceable(problem: Exception) -> MeasurementError:
    words = problem.message if isinstance(problem, KbsError) else str(problem)
    if _OF_VALUES in words:
        words = "its control flow depends on values"
    else:
        words = f"it cannot be traced: {words}"
    return MeasurementError(words, remedy="write the first kernel by hand")

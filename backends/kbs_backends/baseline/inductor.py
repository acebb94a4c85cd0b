"""What torch.compile generates for a reference, rewritten to the kernel contract."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from kbs_backends.tasks.base import Inputs, Reference
from kbs_backends.templates.instance import Argument, python_setup
from kbs_backends.templates.trace import trace
from kbs_engine.errors import MeasurementError

_ENTRY: Final = """

# The entry points of the contract; everything above is what torch.compile generated.
DEVICE = "{device}"


{setup}


def run_kernel(**kwargs):
    results = call([{given}])
{writes}
"""


def compiled_kernel(
    reference: Reference, inputs: Inputs, arguments: Sequence[Argument], device: str
) -> str:
    """The generated module with ``setup`` and ``run_kernel`` added.

    Args:
        reference: what is computed; it is traced and compiled, not only imported.
        inputs: example arguments on ``device``.
        arguments: the same, described.
        device: ``cuda`` for a Triton kernel; ``cpu`` gives C++ and serves tests.

    Raises:
        MeasurementError: torch.compile failed, or made several modules for one call.
    """
    import torch
    from torch._inductor.utils import run_and_get_code

    traced = trace(reference, inputs)
    graph, tensors = traced.graph, [inputs[name] for name in traced.read]
    used = [
        name
        for name, node in zip(traced.read, graph.graph.find_nodes(op="placeholder"), strict=True)
        if node.users
    ]
    try:
        _, codes = run_and_get_code(torch.compile(graph, fullgraph=True), *tensors)
    except Exception as problem:  # inductor and the user's forward may raise anything: told here
        raise MeasurementError(
            f"torch.compile cannot compile the reference: {type(problem).__name__}: {problem}",
            remedy="write the first kernel by hand, or simplify the reference",
        ) from problem
    if len(codes) != 1:
        raise MeasurementError(
            f"torch.compile made {len(codes)} modules for one call",
            remedy="write the first kernel by hand",
        )
    writes = "\n".join(
        f'    kwargs["{name}"].copy_(results[{place}])'
        for place, name in enumerate(reference.output_names)
    )
    entry = _ENTRY.format(
        device=device,
        setup=python_setup(arguments, reference.output_names),
        given=", ".join(f'kwargs["{name}"]' for name in used),
        writes=writes,
    )
    return _library(codes[0]) + entry


def _library(code: Any) -> str:
    """The generated text without its benchmark entry."""
    text = str(code)
    head, found, _ = text.partition('\nif __name__ == "__main__":')
    return (head if found else text).rstrip() + "\n"

"""Tasks: references, inputs, tolerances, comparison, dummies, work.

Public functions (torch is imported only when they are called):

- ``load_reference(path, dims=None, *, setup=None, outputs=(), ptr_size=None) -> Reference``
- ``DISTRIBUTIONS: tuple[str, ...]``, ``setup`` first
- ``POISONS: tuple[str, ...]``, ``poison(inputs, outputs, pattern, seed) -> None``
- ``compare(actual, expected, specs, tolerance) -> Difference``
- ``dummies(reference, seed, device) -> dict[str, dict[str, Tensor]]``
- ``degenerate(reference, tolerance, seed, device) -> str | None`` (name of the dummy that passes)
- ``digest(inputs, names) -> dict[str, str]`` (hash of every tensor, before and after)
"""

from kbs_backends.tasks.base import (
    Difference,
    Inputs,
    OutputSpec,
    PreparedRound,
    Reference,
    Tolerance,
)

__all__ = ["Difference", "Inputs", "OutputSpec", "PreparedRound", "Reference", "Tolerance"]

"""The epsilon of a normalization, solved for by value: a reference may have any.

Normalizations divide by a root: ``out = g / sqrt(v + eps) + bias``. So ``1 / (out - bias)^2`` is
linear in eps, two evaluations of the definition give the line, and the reference's own output
gives the place on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import torch

    from kbs_backends.templates.ops import Op

NAME: Final = "eps"
USUAL: Final = 1e-6
_LOW, _HIGH = 1e-6, 1.0
_SAME: Final = 1e-6
"""A number of few digits that is this near, relatively, is what was meant."""
_DIGITS: Final = 3


def solved_epsilons(
    op: Op, given: Mapping[str, torch.Tensor], expected: torch.Tensor, options: Mapping[str, Any]
) -> tuple[float, ...]:
    """Candidates for eps, likeliest first; none where the values tell of none.

    Args:
        op: a normalization with one output.
        given: its input tensors by role, in fp64, with values of small spread.
        expected: the reference's output, in fp64.
        options: the other options of the operation.
    """
    import torch

    if expected.dtype != torch.float64:
        return ()  # coarser values tell an epsilon too coarsely
    plain = {role: value for role, value in given.items() if role != "bias"}
    (name,) = op.outputs
    low, high = (op.compute(plain, {**options, NAME: eps})[name] for eps in (_LOW, _HIGH))
    seen = expected - op.compute(given, {**options, NAME: _HIGH})[name] + high
    at_low, at_high, at_seen = (one.square().reciprocal() for one in (low, high, seen))
    estimates = _LOW + (at_seen - at_low) / (at_high - at_low) * (_HIGH - _LOW)
    # Beside small outputs rounding shows most: the larger half of them is asked.
    estimates = estimates[(seen.abs() >= seen.abs().median()) & estimates.isfinite()]
    if estimates.numel() == 0 or (found := float(estimates.median())) < 0:
        return ()
    short = [float(f"{found:.{digits}g}") for digits in range(1, _DIGITS + 1)]
    near = [one for one in short if abs(one - found) <= _SAME * found]
    return tuple(dict.fromkeys([*near[:1], found]))

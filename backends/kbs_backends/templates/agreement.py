"""Whether the definition of an operation gives what a reference gave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from kbs_backends.tasks.base import Inputs
from kbs_backends.templates.ops import Op

if TYPE_CHECKING:
    import torch

TOLERANCE: Final[dict[str, float]] = {
    "float64": 1e-9, "float32": 1e-4, "float16": 8e-3, "bfloat16": 6e-2,
}  # fmt: skip
"""Allowed difference against the spread of the expected values, by the type compared in."""

NEARLY: Final = 1e-3
"""The same where a normalization is sought that differs by its epsilon alone."""

SAMPLED: Final = 1 << 20
"""So many elements of a larger output are compared."""


def agrees(
    op: Op,
    names: Mapping[str, str],
    options: Mapping[str, Any],
    inputs: Inputs,
    expected: Mapping[str, torch.Tensor],
    bound: float | None = None,
) -> bool:
    """Whether the definition gives what the reference gave on one draw.

    ``bound`` stands in for the one of ``TOLERANCE``.
    """
    import torch

    wide = expected[names[next(iter(op.outputs))]].dtype
    if wide.is_floating_point:  # a definition in bf16 rounds at every step, the reference need not
        wide = torch.promote_types(wide, torch.float32)
    try:
        results = op.compute(given_roles(op, names, inputs, wide), options)
    except (RuntimeError, ValueError, IndexError):  # the values do not suit this operation
        return False
    return all(_close(results[role], expected[names[role]], bound) for role in op.outputs)


def given_roles(
    op: Op, names: Mapping[str, str], inputs: Inputs, wide: torch.dtype
) -> dict[str, torch.Tensor]:
    """Copies of the input tensors by role; floating ones in ``wide``."""
    given = {}
    for role in op.inputs:
        if role in names:
            tensor = inputs[names[role]]
            floating = tensor.is_floating_point() and wide.is_floating_point
            given[role] = tensor.to(wide) if floating else tensor.clone()
    return given


def _close(actual: torch.Tensor, expected: torch.Tensor, bound: float | None) -> bool:
    if actual.shape != expected.shape or expected.numel() == 0:
        return False
    if expected.numel() > SAMPLED:
        import torch

        where = torch.randint(
            expected.numel(), (SAMPLED,), generator=torch.Generator().manual_seed(SAMPLED)
        ).to(expected.device)
        actual, expected = actual.reshape(-1)[where], expected.reshape(-1)[where]
    if not expected.is_floating_point():
        return bool((actual.to(expected.dtype) == expected).all())
    if bound is None:
        bound = TOLERANCE.get(str(expected.dtype).removeprefix("torch."))
    left, right = actual.double(), expected.double()
    if bound is None or bool((left.isfinite() != right.isfinite()).any()):
        return False
    scale = float(right[right.isfinite()].abs().mean()) if bool(right.isfinite().any()) else 0.0
    gap = (left - right).nan_to_num(0.0, 0.0, 0.0).abs()
    return float(gap.max()) <= bound * max(scale, float(right.abs().max()) * 0.1, 1e-30)

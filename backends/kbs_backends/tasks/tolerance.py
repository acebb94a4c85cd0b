"""How close is close: command line, else ref.py, else derived; a declared one never widened.

Derived: a result in a dtype of unit round-off ``u`` that sums ``n`` terms with arithmetic of
round-off ``w``, on operands that may be rounded to ``p``, is allowed ``2 u + 16 w sqrt(n) + 4 p``,
of the value and of the root mean square of the output. Rounding errors of a sum of n terms grow
with sqrt(n) when they are independent (Higham, Accuracy and Stability of Numerical Algorithms,
2nd ed., section 2.8: the rule of thumb); the factor 16 leaves room for another order of summation
and fast intrinsics. Operands are rounded once, before any sum: the error of each product is a
share of it, and the sum of n such errors grows with sqrt(n) as does the sum itself. Rounding two
operands gives products a deviation of p / sqrt(6); 4 p is ten of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from kbs_backends.tasks.base import OutputSpec, Tolerance
from kbs_backends.tasks.comparing import compare
from kbs_engine.errors import InputError

ROUND_OFF: Final[dict[str, float]] = {
    "float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7,
    "float8_e4m3fn": 2.0**-3, "float8_e5m2": 2.0**-2,
}  # fmt: skip
"""Distance from 1 to the next number, by torch dtype."""
PERMITTED_ROUND_OFF: Final[dict[str, float]] = {
    "tf32": 2.0**-10, "fp16": 2.0**-10, "bf16": 2.0**-7, "fp8_e4m3": 2.0**-3, "fp8_e5m2": 2.0**-2,
    "fp32": 2.0**-23, "fp64": 2.0**-52,
}  # fmt: skip
"""The same for precisions to which operands may be rounded."""
SHORT: Final[dict[str, str]] = {
    "float64": "fp64", "float32": "fp32", "float16": "fp16", "bfloat16": "bf16",
    "float8_e4m3fn": "fp8_e4m3", "float8_e5m2": "fp8_e5m2", "int32": "int32", "int8": "int8",
    "bool": "bool",
}  # fmt: skip
"""Our words for torch dtypes."""
HEADROOM = 0.5
"""The eager reference must stay within this share of the tolerance for a round to judge."""
OUTPUT_FACTOR, SUM_FACTOR, OPERAND_FACTOR = 2.0, 16.0, 4.0


def chosen(
    given: Mapping[str, float | None], declared: Mapping[str, Any], derived: Tolerance, where: str
) -> Tolerance:
    """The tolerance that counts; each of atol and rtol by the first place that states it.

    Raises:
        InputError: A declared value that is no number of at least zero.
    """
    values: dict[str, float] = {}
    sources: dict[str, str] = {}
    for name, fallback in (("atol", derived.atol), ("rtol", derived.rtol)):
        values[name], sources[name] = fallback, derived.source
        for source, stated in (("command line", given), ("reference", declared)):
            if stated.get(name) is not None:
                values[name] = _number(name, stated[name], source, where)
                sources[name] = source
                break
    same = len(set(sources.values())) == 1
    told = "; ".join(f"{name}: {source}" for name, source in sources.items())
    return Tolerance(
        atol=values["atol"],
        rtol=values["rtol"],
        source=sources["atol"] if same else told,
        derived=sources["atol"] == derived.source and derived.derived,
        finer=derived.finer if same and sources["atol"] == derived.source else {},
    )


def _number(name: str, value: Any, source: str, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise InputError(
            f"{name} ({source}) is no number of at least zero", where=where,
            remedy=f"give {name} as in {name} = 1e-3",
        )  # fmt: skip
    return float(value)


_PART = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}


def derive(dtypes: Mapping[str, str], length: int, permitted: Sequence[str] = ()) -> Tolerance:
    """From the dtypes of the outputs by name, the reduction length and permitted precisions.

    Whole numbers must be exact. ``atol`` is in units of each output's root mean square.
    """
    parts = {name: _PART.get(dtype, dtype) for name, dtype in dtypes.items()}
    floating = {name: dtype for name, dtype in parts.items() if dtype in ROUND_OFF}
    if not floating:
        return Tolerance(atol=0.0, rtol=0.0, source="exact for whole numbers", derived=True)
    coarsest = max(floating.values(), key=lambda dtype: ROUND_OFF[dtype])
    allowed = _allowed(coarsest, length, permitted)
    shares = {
        name: _allowed(dtype, length, permitted) / allowed for name, dtype in floating.items()
    }
    finer = {name: share for name, share in shares.items() if share < 1}
    own = "".join(f", {name} from {SHORT[floating[name]]}" for name in finer)
    also = f", {' and '.join(permitted)} permitted" if permitted else ""
    return Tolerance(
        atol=allowed,
        rtol=allowed,
        source=f"derived from {SHORT[coarsest]}{own}, reduction of {length}{also}",
        derived=True,
        finer=finer,
    )


def _allowed(dtype: str, length: int, permitted: Sequence[str]) -> float:
    work = 2.0**-52 if dtype == "float64" else 2.0**-23
    operands = max((PERMITTED_ROUND_OFF.get(name, 0.0) for name in permitted), default=0.0)
    sums = SUM_FACTOR * work * math.sqrt(max(1, length))
    return OUTPUT_FACTOR * ROUND_OFF[dtype] + sums + OPERAND_FACTOR * operands


def times(tolerance: Tolerance, factor: float) -> Tolerance:
    """The same, so many times as wide."""
    return msgspec.structs.replace(
        tolerance, atol=tolerance.atol * factor, rtol=tolerance.rtol * factor
    )


def reached(
    own: Mapping[str, Any],
    expected: Mapping[str, Any],
    specs: Mapping[str, OutputSpec],
    tolerance: Tolerance,
) -> Tolerance:
    """Finer only for outputs that the reference in its own types computes so finely.

    A sum that it takes in bf16 and then gives as fp32 is no better than bf16.
    """
    tight = times(tolerance, HEADROOM)
    coarse = [
        name
        for name in tolerance.finer
        if not compare({name: own[name]}, expected, {name: specs[name]}, tight).ok
    ]
    return tolerance.without(coarse)


def reduction_length(inputs: Mapping[str, Any], outputs: Sequence[str], flops: float | None) -> int:
    """How many terms an output element sums, at most as far as shapes and FLOPs tell.

    The largest of: FLOPs / 2 per output element (matrix products), elements of the largest input
    per output element (reductions), the last extent of the largest input (row-wise operations).
    """
    made = sum(inputs[name].numel() for name in outputs) or 1
    tensors = [v for n, v in inputs.items() if n not in outputs and hasattr(v, "numel")]
    largest = max(tensors, key=lambda value: value.numel(), default=None)
    candidates = [1.0, (flops or 0.0) / 2 / made]
    if largest is not None:
        candidates.append(largest.numel() / made)
        if largest.dim():
            candidates.append(float(largest.shape[-1]))
    return max(1, round(max(candidates)))

"""Arithmetic that a hardware page must obey, unless it lists a sourced exception.

``dense_sparse_ratio``: where dense and sparse both stand, their ratio is 2 within 0.5 %.
``peak_arithmetic``: a peak is units × operations per clock and unit × its clock, within 2 %.
``measured_above_peak``: a measured ceiling is not above the documented one.
"""

from __future__ import annotations

from kbs_engine.facts import Spec
from kbs_ingest.wiki.faults import Faults
from kbs_ingest.wiki.model import ChipPage

RATIO, RATIO_TOLERANCE = 2.0, 0.005
PEAK_TOLERANCE = 0.02
CHECKS = (
    "dense_sparse_ratio", "peak_arithmetic", "measured_above_peak", "basis_clock", "per_die",
    "sibling_value",
)  # fmt: skip
"""Checks from which a row under Exceptions frees; the last three are of ``kbs wiki check``."""


def check_chip(page: ChipPage, faults: Faults) -> None:
    """Add a fault for each check that fails without an exception on the page."""
    for spec in page.chip.specs:
        if not isinstance(spec.value, float):
            continue
        for check, problem in (
            ("dense_sparse_ratio", _ratio(page, spec)),
            ("peak_arithmetic", _arithmetic(page, spec)),
            ("measured_above_peak", _measured(page, spec)),
        ):
            if problem and (check, spec.metric) not in page.exceptions:
                faults.add(
                    f"{spec.citation.path}:{spec.citation.line}",
                    f"{check}: {spec.metric} {problem}",
                    "correct the row, or give the sourced reason under '## Exceptions'",
                )


def _ratio(page: ChipPage, sparse: Spec) -> str:
    """Why a sparse row does not fit its dense one."""
    if sparse.basis.density != "sparse" or sparse.measured:
        return ""
    for dense in page.chip.specs:
        same = (dense.metric, dense.basis.accumulate, dense.basis.scope) == (
            sparse.metric,
            sparse.basis.accumulate,
            sparse.basis.scope,
        )
        if not same or dense.measured or dense.basis.density != "dense" or not dense.base_value:
            continue
        ratio = (sparse.base_value or 0.0) / dense.base_value
        if abs(ratio / RATIO - 1) > RATIO_TOLERANCE:
            return f"is {ratio:.4g} times the dense value of line {dense.citation.line}, not 2"
    return ""


def _arithmetic(page: ChipPage, peak: Spec) -> str:
    """Why a dense peak is not the product of what the page states."""
    chip = page.chip
    if not peak.metric.startswith("peak_") or peak.measured or not peak.basis.clock_hz:
        return ""
    if peak.basis.density != "dense" or peak.basis.scope != "chip":
        return ""
    dtype = peak.metric.removeprefix("peak_")
    rate_name = f"ops_per_clock_{dtype}"
    if dtype.endswith("_tensor"):
        rate_name = f"tensor_ops_per_clock_{dtype.removesuffix('_tensor')}"
    units, rate = chip.number("unit_count"), _rate(page, rate_name, peak)
    if not units or not rate or not peak.base_value:
        return ""
    product = units * rate * peak.basis.clock_hz
    if abs(product / peak.base_value - 1) <= PEAK_TOLERANCE:
        return ""
    return (
        f"is {peak.base_value:.4g}, but {units:g} units × {rate:g} per clock × "
        f"{peak.basis.clock_hz / 1e6:g} MHz is {product:.4g}"
    )


def _rate(page: ChipPage, name: str, peak: Spec) -> float | None:
    """Dense operations per clock and unit, for the same accumulate type where one is stated."""
    for spec in page.chip.specs:
        fits = spec.basis.accumulate in (None, peak.basis.accumulate)
        if spec.metric == name and fits and spec.basis.density != "sparse":
            return spec.base_value
    return None


def _measured(page: ChipPage, measured: Spec) -> str:
    """Why a measured ceiling cannot be right."""
    if not measured.measured or measured.base_value is None:
        return ""
    density = measured.basis.density or "dense"
    cited = page.chip.find(measured.metric, density=density)
    if cited is None or cited.base_value is None or cited.quantity != measured.quantity:
        return ""
    if cited.quantity not in {"bytes_per_s", "ops_per_s"}:
        return ""
    if measured.base_value <= cited.base_value:
        return ""
    return f"is measured above its documented peak of {cited.value:g} {cited.unit}"

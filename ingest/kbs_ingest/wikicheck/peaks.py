"""Peaks against arithmetic, their sparse rows and their sibling pages."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator

import msgspec

from kbs_engine.facts import Chip, Spec
from kbs_ingest.audit.tables import PageTables
from kbs_ingest.wikicheck.model import Collected, Collector

RATIO_TOLERANCE = 0.01
ARITHMETIC_TOLERANCE = 0.02
SAME = 0.002
"""Two figures are the same print of one number: 1978.9 and 1979."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One chip page with its rows, own and inherited."""

    chip: Chip
    tables: PageTables
    own: tuple[Spec, ...]
    """Rows on the page itself that state a number."""

    def number(self, metric: str) -> float | None:
        """The chip-wide documented value in base units."""
        for spec in self.chip.specs:
            if spec.metric == metric and not spec.measured and spec.basis.scope != "die":
                return spec.base_value
        return None


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """What arithmetic says about one peak. ``value`` None: only a power of two is asked for."""

    value: float | None
    units: float
    clock: float
    rate: float | None


def check_peaks(wiki: Collected, out: Collector) -> int:
    """Check every peak of every chip page; return how many were compared with arithmetic."""
    parts = list(parts_of(wiki))
    compared = 0
    for part in parts:
        siblings = [
            other
            for other in parts
            if other is not part and other.chip.architecture == part.chip.architecture
        ]
        blamed: set[int] = set()
        confirmed: set[int] = set()
        if shared := _shared_factor(part):
            compared += _blame_units(part, *shared, out)
            _check_ratios(part, blamed, confirmed, out)
            continue
        for row in part.own:
            if not row.metric.startswith("peak_") or row.basis.scope == "die":
                continue
            if row.basis.density == "sparse" and _dense_of(part, row):
                continue  # the ratio judges it
            compared += _check_row(part, row, siblings, (blamed, confirmed), out)
        _check_ratios(part, blamed, confirmed, out)
    return compared


def parts_of(wiki: Collected) -> Iterator[Part]:
    """Every chip page that was read, with its own rows."""
    for page in wiki.chips.values():
        path = page.chip.citation.path
        tables = wiki.tables.get(path)
        if tables is None:
            continue
        own = tuple(
            spec
            for spec in page.chip.specs
            if spec.citation.path == path and not spec.measured and spec.base_value is not None
        )
        yield Part(chip=page.chip, tables=tables, own=own)


def _shared_factor(part: Part) -> tuple[float, list[Spec]] | None:
    """The factor by which all dense peaks with a documented rate are off, when it is the same.

    At least two metrics must show it, one at a stated clock: then only the unit count is left.
    """
    found = [
        (row, (row.base_value or 0.0) / expected.value)
        for row in part.own
        if row.metric.startswith("peak_")
        and row.basis.density == "dense"
        and row.basis.scope == "chip"
        and not part.tables.exception("peak_arithmetic", row.metric)
        and (expected := _expected(part, row)) is not None
        and expected.value
    ]
    rows = [row for row, _ in found]
    if len({row.metric for row in rows}) < 2 or not any(row.basis.clock_hz for row in rows):  # noqa: PLR2004
        return None
    factor = statistics.median(other for _, other in found)
    same = all(near(other, factor, ARITHMETIC_TOLERANCE) for _, other in found)
    return (factor, rows) if same and not near(factor, 1.0, ARITHMETIC_TOLERANCE) else None


def _blame_units(part: Part, factor: float, rows: list[Spec], out: Collector) -> int:
    """Report the unit count, on its own row where the page has one."""
    row = next(
        (spec for spec in part.own if spec.metric == "unit_count" and spec.basis.scope != "die"),
        rows[0],
    )
    units = part.number("unit_count") or 0.0
    lines = ", ".join(str(peak.citation.line) for peak in rows)
    out.add(
        f"{row.citation.path}:{row.citation.line}",
        "peak_arithmetic",
        f"unit_count {units:g}: all dense peaks with a documented rate (lines {lines}) are "
        f"{factor:.4g} times {units:g} units × rate × clock, "
        f"as about {units * factor:.0f} units make",
        "give the enabled units of the whole chip, or the peaks of this part",
    )
    return len(rows)


def confirmed_by_arithmetic(part: Part, row: Spec) -> bool:
    """Whether documented units, rate and clock make this very peak."""
    if not row.metric.startswith("peak_"):
        return False
    expected = _expected(part, row)
    return (
        expected is not None
        and expected.value is not None
        and _agrees(row, row.base_value or 0.0, expected)
    )


def _check_row(
    part: Part,
    row: Spec,
    siblings: list[Part],
    marks: tuple[set[int], set[int]],
    out: Collector,
) -> bool:
    """Blame one row at most once; true when arithmetic could be done."""
    blamed, confirmed = marks
    value = row.base_value or 0.0
    expected = _expected(part, row)
    line = row.citation.line
    where = f"{row.citation.path}:{line}"
    if expected is not None and _agrees(row, value, expected):
        confirmed.add(line)
        if expected.value is not None:
            return True
    if row.basis.density == "dense" and (twin := _sparse_twin(part, row, siblings, confirmed)):
        blamed.add(line)
        out.add(
            where,
            "sparse_as_dense",
            f"{row.metric} {shown(row)} is marked dense and equals the sparse figure of {twin}",
            "give the dense figure, or mark the row sparse",
        )
        return expected is not None
    if expected is None or line in confirmed:
        return expected is not None
    if part.tables.exception("peak_arithmetic", row.metric):
        return True
    blamed.add(line)
    _blame(part, row, expected, siblings, out)
    return True


def _blame(part: Part, row: Spec, expected: Expected, siblings: list[Part], out: Collector) -> None:
    """Say which of the known mistakes a peak that fails arithmetic is."""
    where = f"{row.citation.path}:{row.citation.line}"
    value = row.base_value or 0.0
    told = _told(row, expected, value)
    if (
        row.basis.density == "dense"
        and expected.value
        and near(value, 2 * expected.value, ARITHMETIC_TOLERANCE)
    ):
        out.add(
            where,
            "sparse_as_dense",
            f"{row.metric} {shown(row)} is marked dense and is twice {told}",
            "give the dense figure, or mark the row sparse",
        )
        return
    for other in siblings:
        for spec in other.own:
            same = (spec.metric, spec.basis.density) == (row.metric, row.basis.density)
            if same and near(value, spec.base_value or 0.0, SAME):
                out.add(
                    where,
                    "sibling_value",
                    f"{row.metric} {shown(row)} is the value of {other.chip.id} "
                    f"(gpu-wiki/{spec.citation.path}:L{spec.citation.line}); "
                    f"{part.chip.id} has {told}",
                    "give the figure of this form factor",
                )
                return
    out.add(
        where,
        "peak_arithmetic",
        f"{row.metric} {shown(row)} disagrees with {told}",
        "correct the row that is wrong, or add a sourced row under Exceptions",
    )


def _told(row: Spec, expected: Expected, value: float) -> str:
    base = f"{expected.units:g} units × {{}} per clock × {expected.clock / 1e6:g} MHz"
    if expected.value is not None and expected.rate is not None:
        return f"{base.format(f'{expected.rate:g}')} = {expected.value / 1e12:.5g} T per second"
    rate = value / expected.units / expected.clock
    half = " (half of it, as sparse)" if row.basis.density == "sparse" else ""
    return f"{base.format(f'{rate:.5g}')}, a rate that is no power of two within 2 %{half}"


def _expected(part: Part, row: Spec) -> Expected | None:
    """Units × rate × clock, where all stand on the page or the page that it inherits."""
    units = part.number("unit_count")
    if not units:
        return None
    rate = _rate(part, row)
    clock = row.basis.clock_hz
    if clock is None and rate is not None:
        name = "tensor_clock" if row.metric.endswith("_tensor") else "clock_boost"
        clock = part.number(name) or part.number("clock_boost")
    if not clock:
        return None
    if rate is not None and row.basis.density == "sparse":
        rate *= 2
    value = None if rate is None else units * rate * clock
    return Expected(value=value, units=units, clock=clock, rate=rate)


def _rate(part: Part, row: Spec) -> float | None:
    """The documented dense rate, of the peak's accumulate type where several stand."""
    tensor = row.metric.endswith("_tensor")
    dtype = row.metric.removeprefix("peak_").removesuffix("_tensor")
    name = f"{'tensor_' if tensor else ''}ops_per_clock_{dtype}"
    rows = [
        spec
        for spec in part.chip.specs
        if spec.metric == name
        and spec.base_value is not None
        and not spec.measured
        and spec.basis.density != "sparse"
    ]
    exact = [spec for spec in rows if spec.basis.accumulate == row.basis.accumulate]
    open_ = [spec for spec in rows if spec.basis.accumulate is None]
    chosen = exact or open_ or (rows if row.basis.accumulate is None and len(rows) == 1 else [])
    return chosen[0].base_value if chosen else None


def _agrees(row: Spec, value: float, expected: Expected) -> bool:
    if expected.value is not None:
        return near(value, expected.value, ARITHMETIC_TOLERANCE)
    rate = value / expected.units / expected.clock
    if row.basis.density == "sparse":
        rate /= 2
    power = 2.0 ** round(math.log2(rate)) if rate > 0 else 0.0
    return near(rate, power, ARITHMETIC_TOLERANCE)


def _sparse_twin(
    part: Part, row: Spec, siblings: Iterable[Part], confirmed: set[int]
) -> str | None:
    """The row whose sparse figure a dense row repeats: on this page, else on a sibling's."""
    sure = row.citation.line in confirmed and _rate(part, row) is not None
    if sure:
        return None
    for owner in (part, *siblings):
        for spec in owner.own:
            if (
                spec.metric == row.metric
                and spec.basis.density == "sparse"
                and spec.basis.accumulate in (row.basis.accumulate, None)
                and spec.basis.scope == row.basis.scope
                and near(row.base_value or 0.0, spec.base_value or 0.0, SAME)
            ):
                return f"{owner.chip.id} on gpu-wiki/{spec.citation.path}:L{spec.citation.line}"
    return None


def _dense_of(part: Part, sparse: Spec) -> list[Spec]:
    """Dense rows of the same metric, accumulate type and scope."""
    asked = (sparse.metric, "dense", sparse.basis.scope, sparse.basis.accumulate)
    return [
        row
        for row in part.own
        if (row.metric, row.basis.density, row.basis.scope, row.basis.accumulate) == asked
    ]


def _check_ratios(part: Part, blamed: set[int], confirmed: set[int], out: Collector) -> None:
    """Sparse is twice dense, per metric, accumulate type and scope."""
    for sparse in (row for row in part.own if row.basis.density == "sparse"):
        for dense in _dense_of(part, sparse):
            if {dense.citation.line, sparse.citation.line} & blamed:
                continue
            ratio = (sparse.base_value or 0.0) / (dense.base_value or 1.0)
            if near(ratio, 2.0, RATIO_TOLERANCE):
                continue
            if part.tables.exception("dense_sparse_ratio", dense.metric):
                continue
            wrong = sparse if dense.citation.line in confirmed else dense
            out.add(
                f"{wrong.citation.path}:{wrong.citation.line}",
                "dense_sparse_ratio",
                f"{dense.metric} is {shown(dense)} dense (line {dense.citation.line}) and "
                f"{shown(sparse)} sparse (line {sparse.citation.line}), ratio {ratio:.3g}",
                "correct one, or add a sourced row `dense_sparse_ratio` under Exceptions",
            )


def near(value: float, other: float, tolerance: float) -> bool:
    """Whether two figures are the same within a relative tolerance."""
    return bool(other) and abs(value / other - 1.0) <= tolerance


def shown(row: Spec) -> str:
    """Value and unit as the page prints them."""
    return f"{row.value:.12g} {row.unit}" if isinstance(row.value, float) else str(row.value)

"""What a page says twice: the clock of its peaks, its dies, its memory."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from kbs_engine.facts import Spec
from kbs_ingest.wikicheck.model import Collected, Collector
from kbs_ingest.wikicheck.peaks import (
    ARITHMETIC_TOLERANCE,
    Part,
    confirmed_by_arithmetic,
    near,
    parts_of,
    shown,
)

CLOCK_TOLERANCE = 0.0005
CLOCKS = ("clock_boost", "tensor_clock", "clock_base")
_MEMORY = re.compile(r"(?:HBM|GDDR|LPDDR|DDR)\w*", re.IGNORECASE)


def check_conditions(wiki: Collected, out: Collector) -> None:
    """All checks of one page against itself; a line that is blamed already is left alone."""
    parts = list(parts_of(wiki))
    for part in parts:
        _check_clocks(part, out)
        _check_dies(part, out)
        _check_memory_words(part, parts, out)


def family_of(part: Part, parts: Iterable[Part]) -> list[Part]:
    """Other form factors: pages whose id begins with the same word."""
    prefix = part.chip.id.split("_")[0]
    return [other for other in parts if other is not part and other.chip.id.split("_")[0] == prefix]


def _check_clocks(part: Part, out: Collector) -> None:
    """The clock in a peak's Basis is one of the clock rows."""
    rows = [
        spec
        for name in CLOCKS
        for spec in part.chip.specs
        if spec.metric == name and spec.base_value and not spec.measured
    ]
    by_clock: dict[float, list[Spec]] = {}
    for peak in part.own:
        if peak.metric.startswith("peak_") and peak.basis.clock_hz:
            by_clock.setdefault(peak.basis.clock_hz, []).append(peak)
    used = {row.metric: _used(row, by_clock) for row in rows}
    for clock, peaks in by_clock.items():
        if any(near(clock, row.base_value or 0.0, CLOCK_TOLERANCE) for row in rows):
            continue
        left = [peak for peak in peaks if not part.tables.exception("basis_clock", peak.metric)]
        if not left:
            continue
        if not rows:
            out.add(
                _where(left[0]),
                "basis_clock",
                f"{left[0].metric} holds at {clock / 1e6:g} MHz and the page has no clock row",
                "add the row of that clock with its source, or UNKNOWN with what was looked in",
                severity="warning",
            )
            continue
        _blame_clock(left, clock, rows, used, out)


def _used(row: Spec, by_clock: dict[float, list[Spec]]) -> bool:
    return any(near(clock, row.base_value or 0.0, CLOCK_TOLERANCE) for clock in by_clock)


def _blame_clock(
    peaks: list[Spec], clock: float, rows: list[Spec], used: dict[str, bool], out: Collector
) -> None:
    """The clock row, when several peaks contradict it and none agrees; else the peaks."""
    tensor = all(peak.metric.endswith("_tensor") for peak in peaks)
    wanted = ("tensor_clock", "clock_boost") if tensor else ("clock_boost", "tensor_clock")
    metrics = {row.metric: row for row in rows}
    row = next((metrics[name] for name in wanted if name in metrics), rows[0])
    stated = ", ".join(f"`{one.metric}` {shown(one)}" for one in rows)
    if len(peaks) > 1 and not used[row.metric]:
        lines = ", ".join(str(peak.citation.line) for peak in peaks)
        _add(
            out,
            row,
            "basis_clock",
            f"{row.metric} {shown(row)} is the clock of no peak; "
            f"lines {lines} hold at {clock / 1e6:g} MHz",
            "correct the one that is wrong, or add a sourced row `basis_clock` under Exceptions",
        )
        return
    for peak in peaks:
        _add(
            out,
            peak,
            "basis_clock",
            f"{peak.metric} holds at {clock / 1e6:g} MHz, which is no clock of the page ({stated})",
            "correct the one that is wrong, or add a sourced row `basis_clock` under Exceptions",
        )


def _check_dies(part: Part, out: Collector) -> None:
    """Where a metric stands per chip and per die, the chip is a whole number of dies."""
    pairs = [
        (chip, die, (chip.base_value or 0.0) / (die.base_value or 1.0))
        for chip in part.own
        for die in part.own
        if (chip.basis.scope, die.basis.scope) == ("chip", "die")
        and (chip.metric, chip.basis.density, chip.basis.accumulate)
        == (die.metric, die.basis.density, die.basis.accumulate)
    ]
    dies = Counter(round(ratio) for *_, ratio in pairs if _whole(ratio))
    common = dies.most_common(1)[0][0] if dies else 0
    for chip, die, ratio in pairs:
        if _whole(ratio) and round(ratio) == common:
            continue
        if part.tables.exception("per_die", chip.metric):
            continue
        wrong = die if confirmed_by_arithmetic(part, chip) else chip
        if {_where(chip), _where(die)} & _blamed(out):
            continue
        number = f"{common}" if common else "a whole number of"
        _add(
            out,
            wrong,
            "per_die",
            f"{chip.metric} is {shown(chip)} per chip (line {chip.citation.line}) and "
            f"{shown(die)} per die (line {die.citation.line}), ratio {ratio:.3g} and not "
            f"{number} dies",
            "give the value of the whole chip and of one die, or add a sourced row `per_die` "
            "under Exceptions",
        )


def _whole(ratio: float) -> bool:
    return round(ratio) > 1 and near(ratio, round(ratio), ARITHMETIC_TOLERANCE)


def _check_memory_words(part: Part, parts: Iterable[Part], out: Collector) -> None:
    """`memory_type` is what the capacity and bandwidth rows call it."""
    path = part.chip.citation.path
    type_row = next(
        (
            spec
            for spec in part.chip.specs
            if spec.metric == "memory_type" and spec.citation.path == path
        ),
        None,
    )
    if type_row is None or not isinstance(type_row.value, str):
        return
    named = {
        spec: found[0]
        for spec in part.own
        if spec.metric in ("memory_capacity", "memory_bandwidth")
        and (found := _MEMORY.search(spec.words))
    }
    other = {spec: word for spec, word in named.items() if not _same(word, type_row.value)}
    if not other:
        return
    wrong = type_row if len(other) == len(named) else next(iter(other))
    twin = next(
        (
            sibling.chip.id
            for sibling in family_of(part, parts)
            for spec in sibling.chip.specs
            if spec.metric == "memory_type" and spec.value == type_row.value
        ),
        "",
    )
    lines = ", ".join(f"{word} on line {spec.citation.line}" for spec, word in other.items())
    _add(
        out,
        wrong,
        "sibling_value" if twin and wrong is type_row else "memory_words",
        f"memory_type is {type_row.value}"
        + (f", as on {twin}," if twin else "")
        + f" and the page speaks of {lines}",
        "name one memory type in all rows",
    )


def _same(word: str, value: str) -> bool:
    return word.casefold() == value.casefold()


def _where(row: Spec) -> str:
    return f"{row.citation.path}:{row.citation.line}"


def _blamed(out: Collector) -> set[str]:
    return {f"{fault.file}:{fault.line}" for fault in out.found if fault.severity == "error"}


def _add(out: Collector, row: Spec, check: str, message: str, remedy: str) -> None:
    """Blame one row, unless another check has."""
    if _where(row) not in _blamed(out):
        out.add(_where(row), check, message, remedy)

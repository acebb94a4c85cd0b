"""Spec-like numbers without a citation, and vague wording beside specs.

A number is spec-like when its own clause holds a spec word and its unit fits that word.
What a kernel did (measured, median, % of peak, µs) and what a kernel uses are no specs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from kbs_engine.units import QUANTITY, to_base
from kbs_ingest.audit.containers import PROSE_SUFFIXES, Piece
from kbs_ingest.audit.lexicon import (
    CAN,
    CHIP,
    CONSTANT,
    COUNT_IS,
    CUT,
    DEFINED,
    DOES,
    HAS,
    IN_NAME,
    ITSELF,
    KERNEL,
    LIKENESS,
    MEASURED,
    NAME_OF_RUN,
    NAME_SPELLING,
    NAMED,
    NOUN,
    OF_A_PART,
    OF_A_UNIT,
    OWNS,
    PEAK_RATE,
    PRINTED,
    RUN,
    SPEC,
    STRONG,
    UNIT_OF_COLUMN,
    VAGUE,
    WORDS,
)
from kbs_ingest.audit.model import Citation, Uncited
from kbs_ingest.audit.scan import Scan
from kbs_ingest.audit.values import NUMBER, parse_quantity

_READ_SUFFIXES = PROSE_SUFFIXES | {
    ".json", ".jsonl", ".ndjson", ".py", ".toml", ".cfg", ".ini", ".sh",
    ".cu", ".cuh", ".hip", ".c", ".cc", ".cpp", ".h", ".hpp",
}  # fmt: skip
_RATES = ("bytes_per_s", "ops_per_s")
_CELL = re.compile(rf"(?<=\|)\s*(?P<value>{NUMBER})\s*(?=\||$)")
_SHOWN = 200
_MAX_LINE = 4000
"""Longer lines are data, not sentences."""


def suspects(scan: Scan, suffix: str, shown: str) -> list[Uncited]:
    """Findings of one text, each line and kind once. ``shown`` is the file's name."""
    if suffix not in _READ_SUFFIXES:
        return []
    known = _cited_values(scan.citations)
    found: dict[tuple[int, str], Uncited] = {}
    for number, piece in enumerate(scan.pieces):
        text = piece.text if piece.prose is None else piece.prose
        if len(piece.text) > _MAX_LINE:
            continue
        cited = number in scan.cited_pieces
        if not cited and _is_named(piece.text, known):
            found[piece.line, "uncited"] = Uncited(
                file=shown, line=piece.line, text=piece.text.strip()[:_SHOWN], kind="uncited"
            )
        for kind in _kinds(text, piece, known, cited=cited) if text else ():
            key = (piece.line, kind)
            if key not in found:
                found[key] = Uncited(
                    file=shown,
                    line=piece.line,
                    text=text.strip()[:_SHOWN],
                    kind="vague" if kind == "vague" else "uncited",
                )
    return list(found.values())


def _cited_values(citations: tuple[Citation, ...]) -> set[tuple[str, float]]:
    """Values that this file cites somewhere; repeating one is no new claim."""
    return {
        (QUANTITY[c.value.unit], to_base(c.value.number, c.value.unit))
        for c in citations
        if c.value is not None and c.value.number is not None
    }


def _kinds(text: str, piece: Piece, known: set[tuple[str, float]], *, cited: bool) -> Iterator[str]:
    for clause, value, quantity, prose in _spec_like(text, piece):
        if VAGUE.search(prose):
            yield "vague"
        header_cites = piece.row is not None and piece.row.cited
        if cited or header_cites or _is_known(value, quantity, known):
            continue
        if clause:
            yield "uncited"
    if CHIP.search(text) and (cited or NOUN.search(text)):
        yield from (
            "vague"
            for _, clause in _clauses(text)
            if CHIP.search(clause) and not _tells_of_a_run(clause) and _is_vague(clause)
        )


def _is_vague(clause: str) -> bool:
    """Likeness of a chip's spec, or a rough rate of a chip, whatever words the clause spares."""
    if LIKENESS.search(clause) and NOUN.search(clause):
        return True
    return bool(VAGUE.search(clause)) and any(
        quantity in ("bytes_per_s", "ops_per_s")
        for hit in SPEC.finditer(clause)
        if hit["unit"] and (quantity := _quantity(hit["value"]))
    )


def _tells_of_a_run(clause: str) -> bool:
    run = MEASURED.search(clause) or RUN.search(clause)
    return bool(run) and not (PRINTED.search(clause) and not MEASURED.search(clause))


def _quantity(value: str) -> str:
    parsed = parse_quantity(value)
    return QUANTITY[parsed.unit] if parsed else ""


def _is_named(text: str, known: set[tuple[str, float]]) -> bool:
    """Whether code or data gives a rate the name of a spec; a value cited elsewhere may."""
    constants = CONSTANT.finditer(text) if "=" in text or "define" in text else ()
    for hit in chain(NAMED.finditer(text), DEFINED.finditer(text), constants, _of_parts(text)):
        parsed = parse_quantity(hit["value"])
        if parsed is None or not parsed.number or parsed.number <= 1:
            continue
        if NAME_OF_RUN.search(hit["name"]):
            continue
        if not any(_is_scaled(parsed.number, other) for kind, other in known if kind in _RATES):
            return True
    return False


def _of_parts(text: str) -> Iterator[re.Match[str]]:
    found = OF_A_PART.match(text)
    if found and CHIP.search(found["part"].replace("_", " ").upper()):
        yield found


def _is_scaled(number: float, other: float) -> bool:
    """Whether two numbers are the same but for a decimal prefix, which the name holds."""
    return any(abs(number * 1e3**step - other) <= 1e-9 * other for step in range(6))


def _spec_like(text: str, piece: Piece) -> Iterator[tuple[str, str, str, str]]:
    """Clause, value, quantity and the words around of every spec-like number."""
    hits = [*SPEC.finditer(text), *COUNT_IS.finditer(text), *_under_units(text, piece)]
    if not hits:
        return
    whole = _as_having(text)
    cut = _clauses(text)
    for hit in hits:
        groups = hit.groupdict()
        of = "value" if groups.get("value") else "each"
        start = hit.start(of)
        clause = next((part for at, part in reversed(cut) if at <= start), text)
        context = _in_row(text, piece, start, clause) if text.count("|") > 1 else clause
        name = NAME_SPELLING.match(text, start)
        if name or IN_NAME.search(text, max(0, start - 24), start):
            continue
        unit = groups.get("unit") or _unit_above(hit, text, piece)
        if unit in ("B", "byte", "bytes"):
            continue
        value = hit[of] if groups.get("unit") else f"{hit[of]} {unit}".strip()
        quantity = _quantity(value) if unit else "count"
        if unit and not _is_of(quantity, context):
            continue
        if _is_work(_as_having(context), whole, quantity):
            continue
        yield context, value, quantity, context


def _as_having(text: str) -> str:
    """``The H100 delivers`` read as ``The H100 has``, which no run says of itself.

    ``Peak DRAM throughput`` is read as a rate, which is none of a run's either.
    """
    if "hroughput" in text:
        text = PEAK_RATE.sub(lambda found: f"{found['peak']} {found['of'] or ''}rate", text)
    return CAN.sub(lambda found: f"{found['who']} has", text)


def _is_of(quantity: str, context: str) -> bool:
    """Whether the words around a number name what such a unit measures of hardware."""
    words = WORDS.get(quantity)
    if words and words.search(context):
        return True
    if quantity == "bytes":
        return bool(OWNS.search(context) or OF_A_UNIT.search(context))
    return quantity in _RATES and bool(DOES.search(context))


def _under_units(text: str, piece: Piece) -> Iterator[re.Match[str]]:
    """Bare numbers of a row in columns whose heading gives their unit."""
    if piece.row is not None:
        yield from (hit for hit in _CELL.finditer(text) if _unit_above(hit, text, piece))


def _unit_above(hit: re.Match[str], text: str, piece: Piece) -> str:
    """The unit that the heading of a bare number's column gives, or nothing."""
    if hit.re is not _CELL or piece.row is None:
        return ""
    column = _column(text, hit.start("value"))
    head = piece.row.header[column] if 0 <= column < len(piece.row.header) else ""
    found = UNIT_OF_COLUMN.search(head)
    return found["unit"] if found else ""


def _is_work(context: str, text: str, quantity: str) -> bool:
    """Whether the number tells what a kernel did or uses, or does not say what hardware has."""
    if _tells_of_a_run(context):
        return True
    if quantity in ("bytes", "count") and KERNEL.search(context):
        return True
    if not STRONG.search(context) and MEASURED.search(text):
        return True
    return not any(words.search(context) for words in (STRONG, HAS, ITSELF, CHIP))


def _clauses(text: str) -> list[tuple[int, str]]:
    """Start and text of each clause."""
    parts = []
    start = 0
    for cut in CUT.finditer(text):
        parts.append((start, text[start : cut.start()]))
        start = cut.end()
    parts.append((start, text[start:]))
    return parts


def _in_row(text: str, piece: Piece, at: int, clause: str) -> str:
    """A cell is read with its column's heading and with the cells of words before it."""
    column = _column(text, at)
    labels = [cell for cell in text[:at].split("|")[:-1] if not SPEC.search(cell)]
    header = ""
    if piece.row is not None and 0 <= column < len(piece.row.header):
        header = piece.row.header[column]
    return f"{' '.join(labels)} {header} {clause}"


def _column(text: str, at: int) -> int:
    return text[:at].count("|") - (1 if text.lstrip().startswith("|") else 0)


def _is_known(value: str, quantity: str, known: set[tuple[str, float]]) -> bool:
    parsed = parse_quantity(value)
    if parsed is None or parsed.number is None:
        return False
    unit = parsed.unit if quantity != "count" else ""
    base = to_base(parsed.number, unit)
    return any(kind == quantity and abs(base - other) <= 1e-9 * other for kind, other in known)

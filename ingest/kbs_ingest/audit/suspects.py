"""Spec-like numbers without a citation, and vague wording beside specs.

A number is spec-like when its own clause holds a spec word and its unit fits that word.
What a kernel did (measured, median, % of peak, µs) and what a kernel uses are no specs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kbs_engine.units import QUANTITY, to_base
from kbs_ingest.audit.containers import PROSE_SUFFIXES, Piece
from kbs_ingest.audit.model import Citation, Uncited
from kbs_ingest.audit.scan import Scan
from kbs_ingest.audit.values import NUMBER, UNIT, parse_quantity

_READ_SUFFIXES = PROSE_SUFFIXES | {
    ".json", ".jsonl", ".ndjson", ".py", ".cu", ".cuh", ".hip", ".cpp", ".h", ".hpp",
}  # fmt: skip
_COUNTED = (
    r"(?:SMs\b|CUs\b|compute units\b|multiprocessors\b|tensor cores\b|CUDA cores\b"
    r"|stream processors\b|(?:32-bit )?registers per (?:SM|CU)\b|XCDs\b)"
)
_SPEC = re.compile(
    rf"(?<![\w.,-])(?P<value>{NUMBER}\s?(?P<unit>{UNIT})(?![\w/%])|{NUMBER}\s(?P<count>{_COUNTED}))"
)
_COUNT_IS = re.compile(
    rf"\b(?:SM|CU) count\b[^\d\n|]{{0,20}}(?P<value>{NUMBER})(?![\w%])", re.IGNORECASE
)
_WORDS: dict[str, re.Pattern[str]] = {
    "bytes_per_s": re.compile(
        r"bandwidth|\bHBM|\bGDDR|\bDRAM\b|\bVRAM\b|NVLink|PCIe|Infinity Fabric|\bpeak\b|theoretical"
        r"|datasheet|\bspec\b",
        re.IGNORECASE,
    ),
    "ops_per_s": re.compile(
        r"\bpeak\b|dense|sparse|tensor|theoretical|datasheet|\bspec\b|\bFP\d+|\bBF16|\bTF32|\bINT\d"
        r"|matrix|vector",
        re.IGNORECASE,
    ),
    "bytes": re.compile(
        r"\bHBM|\bGDDR|\bVRAM\b|\bL[12]\b|shared memory per (?:SM|CU)|\bLDS per|register file"
        r"|Infinity Cache|device memory|memory capacity",
        re.IGNORECASE,
    ),
    "hz": re.compile(r"boost|base clock|peak clock|max(?:imum)? clock|clock", re.IGNORECASE),
    "watt": re.compile(r"\bTDP\b|board power|power limit", re.IGNORECASE),
}
_STRONG = re.compile(
    r"\bpeak\b|theoretical|datasheet|spec sheet|\brated\b|nominal|\bspec\b", re.IGNORECASE
)
_MEASURED = re.compile(
    r"measur|\bmedian\b|\bmean\b|achiev|observ|sustain|effective|\bactual|\breach|attain|\bhits?\b"
    r"|deliver|\bran\b|\bruns? (?:at|in)\b|\btook\b|\btakes\b|profil|\bncu\b|nsight|rocprof|\btimer"
    r"|benchmark|speed-?up|\bfaster\b|\bslower\b|throughput|%\s*of\b|\d\s?%|\b\d[\d.]*\s?(?:µs|us|ms|ns|s)\b"
    r"|iteration|\bp\d\d\b|baseline|\bbefore\b|\bafter\b|improv|result|\w__\w",
    re.IGNORECASE,
)
_KERNEL = re.compile(
    r"\buse[sd]?\b|\busing\b|allocat|\bneeds?\b|requires?\b"
    r"|per (?:block|thread|CTA|stage|tile|warp)"
    r"|\btiles?\b|\bstages?\b|spill|working set|\binputs?\b|\boutputs?\b|\bbuffers?\b|footprint"
    r"|traffic|\bmoves?\b|\breads?\b|\bwrites?\b|\bloads?\b|\bstores?\b|carve|\bfits?\b|transfer"
    r"|\btensors?\b(?! (?:core|peak))|\bmatri(?:x|ces) (?:of|is|are)|\b(?:larg|small)er than\b"
    r"|\bexceeds?\b|weights?\b|activations?\b|\bcopy\b|\bcopies\b|\brows?\b",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"\bapproximately\b|\bapprox\b|\babout\b|\baround\b|\broughly\b|\bshould be\b|\bsimilar to\b"
    r"|\busually\b|\btypically\b|\bprobably\b|\bpresumably\b|\bnearly\b|\bcirca\b|\bclose to\b"
    r"|\bsimilar product\b|[~≈]\s?\d",
    re.IGNORECASE,
)
_LIKENESS = re.compile(
    r"\bshould be\b|\bsimilar (?:to|product)\b|\bsame as\b|\bcomparable to\b|\bprobably\b"
    r"|\bpresumably\b|\busually\b|\btypically\b|\broughly\b|\bapproximately\b",
    re.IGNORECASE,
)
_NOUN = re.compile(
    r"bandwidth|\bpeak\b|[TP]FLOPS|\bTOPS\b|\b(?:SM|CU) count|\bHBM|\bL2 (?:size|cache|capacity)"
    r"|boost clock|\bTDP\b",
    re.IGNORECASE,
)
_CHIP = re.compile(r"\b(?:[ABHLV]\d{2,3}|MI\d{3}[A-Z]?|G[BH]\d{3}|B\d{3}|RTX\s?\d{4}|T4|L4|H20)\b")
_IN_NAME = re.compile(
    r"(?:\b[A-Z]{1,3}\d{2,4}[A-Z]*|\bSXM\d?|\bPCIe|\bNVL|\bOAM|±|\d+ of)[\s_-]*$", re.IGNORECASE
)
"""What stands before a number that is part of a product name, a tolerance or a share."""
_NAME_SPELLING = re.compile(r"\d+GB HBM")
"""How tools print a part: ``NVIDIA GH200 144GB HBM3e``; a sentence leaves a space before GB."""
_CUT = re.compile(
    r";|\.\s|,\s|[()\[\]|]|\s(?:against|versus|vs\.?|while|but|whereas|compared)\s", re.IGNORECASE
)
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
        if not text or len(text) > _MAX_LINE:
            continue
        cited = number in scan.cited_pieces
        for kind in _kinds(text, piece, known, cited=cited):
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
        if _VAGUE.search(prose):
            yield "vague"
        header_cites = piece.row is not None and piece.row.cited
        if cited or header_cites or _is_known(value, quantity, known):
            continue
        if clause:
            yield "uncited"
    if _CHIP.search(text) and _LIKENESS.search(text) and _NOUN.search(text):
        for _, clause in _clauses(text):
            likeness = _LIKENESS.search(clause) and _NOUN.search(clause) and _CHIP.search(clause)
            if likeness and not _MEASURED.search(clause):
                yield "vague"


def _spec_like(text: str, piece: Piece) -> Iterator[tuple[str, str, str, str]]:
    """Clause, value, quantity and the words around of every spec-like number."""
    hits = list(_SPEC.finditer(text))
    hits.extend(_COUNT_IS.finditer(text))
    if not hits:
        return
    cut = _clauses(text)
    for hit in hits:
        start = hit.start("value")
        clause = next((part for at, part in reversed(cut) if at <= start), text)
        context = _in_row(text, piece, start, clause) if text.count("|") > 1 else clause
        name = _NAME_SPELLING.match(text, start)
        if name or _IN_NAME.search(text, max(0, start - 24), start):
            continue
        groups = hit.groupdict()
        unit = groups.get("unit")
        quantity = "count"
        if unit in ("B", "byte", "bytes"):
            continue
        if unit:
            parsed = parse_quantity(hit["value"])
            quantity = QUANTITY[parsed.unit] if parsed else ""
            words = _WORDS.get(quantity)
            if words is None or not words.search(context):
                continue
        if _is_work(context, text, quantity):
            continue
        yield context, hit["value"], quantity, context


def _is_work(context: str, text: str, quantity: str) -> bool:
    """Whether the number tells what a kernel did or uses."""
    if _MEASURED.search(context):
        return True
    if quantity in ("bytes", "count") and _KERNEL.search(context):
        return True
    return not _STRONG.search(context) and bool(_MEASURED.search(text))


def _clauses(text: str) -> list[tuple[int, str]]:
    """Start and text of each clause."""
    parts = []
    start = 0
    for cut in _CUT.finditer(text):
        parts.append((start, text[start : cut.start()]))
        start = cut.end()
    parts.append((start, text[start:]))
    return parts


def _in_row(text: str, piece: Piece, at: int, clause: str) -> str:
    """A cell is read with its column's heading and with the cells of words before it."""
    column = text[:at].count("|") - (1 if text.lstrip().startswith("|") else 0)
    labels = [cell for cell in text[:at].split("|")[:-1] if not _SPEC.search(cell)]
    header = ""
    if piece.row is not None and 0 <= column < len(piece.row.header):
        header = piece.row.header[column]
    return f"{' '.join(labels)} {header} {clause}"


def _is_known(value: str, quantity: str, known: set[tuple[str, float]]) -> bool:
    parsed = parse_quantity(value)
    if parsed is None or parsed.number is None:
        return False
    unit = parsed.unit if quantity != "count" else ""
    base = to_base(parsed.number, unit)
    return any(kind == quantity and abs(base - other) <= 1e-9 * other for kind, other in known)

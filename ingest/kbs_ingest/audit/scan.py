"""Citations in text of any container: prose, tables, code, bullets, JSON strings."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from kbs_ingest.audit.containers import Piece, pieces
from kbs_ingest.audit.model import Anchor, Citation, Quantity
from kbs_ingest.audit.qualifiers import behind_value, multiplied, twist_behind
from kbs_ingest.audit.twists import no_number, twisted
from kbs_ingest.audit.values import NUMBER, UNIT, parse_quantity

_ROOT = (
    r"(?:<gpu-wiki>|&lt;gpu-wiki&gt;|\[gpu-wiki\]"
    r"|(?:(?P<before>[\w.~/-]{0,200})/)?(?:(?<![\w-])|(?<=<-)|(?<=<--))gpu-wiki)"
)
_CITE = re.compile(
    rf"(?P<arrow>(?:<-{{1,4}}|←|⟵|&lt;-{{1,4}})\s{{0,8}})?[`\"'(*]{{0,4}}{_ROOT}(?P<gap>[/\\]|\s+(?=[\w.-]+/))"
    r"(?P<path>[^\s:|`\"'<>()\[\]{},;#§]+)"
    r"(?P<anchor>(?::|#)L?(?P<first>\d{1,9})(?!\d)(?:\s?[-–]\s?L?(?P<last>\d{1,9})(?!\d))?"
    r"|\s?[:#§]\s?[\"“']?(?P<section>[^\W\d_][^|`\"”'\n<>;]{0,80}))?"
)
_NOT_FOUND = re.compile(r"(?P<label>[^|;:\n]{0,160}):\s*[`*]*UNKNOWN[`*]*\s*\(gpu-wiki not found\)")
_TRAILING = " \t`\"'([*_"
_LAST_VALUE = re.compile(rf"(?<![\w.,])({NUMBER})\s*({UNIT})(?!\w)(?:(?<=/s)|(?<=S)|(?!/))")
_CLAUSE = re.compile(r"[.;•!?]\s|,\s|\s[-–—]\s|:\s|[(\[]")
_BULLET = re.compile(r"^\s*(?:[-*+•>]|\d+[.)]|#+|//+|#)\s+")
_COMMENT = re.compile(r"//|/\*|\s#|^#")
_REMARK = re.compile(r"^[`\"'*]*\s*\([^()]{0,200}\)")
"""What stands in brackets right behind a citation belongs to it, not to the next one."""
_NEXT = re.compile(r"[;,|]|\.\s")
_STOP = re.compile(r";|\.\s")
_REACH = 1000
"""A label does not begin farther before its citation."""
_SHOWN = 200
_NEAR = 100
_MIXED = re.compile(
    r"[A-Za-z_]\w*[\u0370-\u03bb\u03bd-\u058f\uff21-\uff5a]\w*|"
    r"[\u0400-\u058f\uff21-\uff5a]\w*[A-Za-z_]"
)
"""A word of Latin letters with Greek (but mu), Cyrillic or full-width ones among them."""


class Scan(msgspec.Struct, frozen=True, kw_only=True):
    """All citations of one text and the pieces of text they stand in."""

    citations: tuple[Citation, ...]
    pieces: tuple[Piece, ...]
    cited_pieces: frozenset[int]
    """Indices of pieces that hold a citation."""


def scan_text(text: str, suffix: str) -> Scan:
    """Find every citation; ``suffix`` says how to read the text (``.md``, ``.json``, …)."""
    found: list[Citation] = []
    listed = tuple(pieces(text, suffix))
    cited: set[int] = set()
    before = ""
    for number, piece in enumerate(listed):
        if "gpu-wiki" in piece.text:
            here = list(_in_piece(piece, before))
            if here:
                cited.add(number)
                found.extend(here)
        before = piece.text
    return Scan(citations=tuple(found), pieces=listed, cited_pieces=frozenset(cited))


def _in_piece(piece: Piece, before: str) -> Iterator[Citation]:
    text = piece.text
    for lost in _NOT_FOUND.finditer(text):
        yield Citation(
            line=piece.line,
            text=lost[0].strip()[:_SHOWN],
            labels=(_plain(lost["label"]),),
            value=Quantity(number=None, word="UNKNOWN", text="UNKNOWN"),
            path="",
            anchor=Anchor(),
            not_found=True,
        )
    end = 0
    for cite in _CITE.finditer(text):
        if cite["anchor"] is None and cite["arrow"] is None:
            continue
        if cite["gap"] != "/" and not cite["arrow"]:
            continue
        segment = text[max(end, cite.start() - _REACH) : cite.start()]
        if piece.prose is not None:
            segment = _COMMENT.split(segment)[-1]
        if end:
            segment = _REMARK.sub("", segment)
        if cite["arrow"] and not segment.strip(_TRAILING + "|"):
            segment = before
        yield _citation(piece, cite, segment)
        end = cite.end()


def _after(piece: Piece, end: int) -> str:
    """What the same statement says after its citation; another citation ends it sooner."""
    rest = piece.text[end : end + _REACH]
    following = _CITE.search(rest)
    if following:
        return _NEXT.split(rest[: following.start()], maxsplit=1)[0]
    return rest if piece.row is not None else _STOP.split(rest, maxsplit=1)[0]


def _citation(piece: Piece, cite: re.Match[str], segment: str) -> Citation:
    labels, value = _statement(piece, segment.rstrip(_TRAILING), cite.start())
    between = segment.rpartition(value.text)[2] if value and value.text in segment else ""
    if not cite["arrow"] and not _is_direct(segment, value):
        value = None
    after = _after(piece, cite.end())
    behind = behind_value(segment, value) if value else ""
    if value and not value.twist:
        twist = twist_behind(value, behind, after) or multiplied(labels[0] if labels else "")
        value = msgspec.structs.replace(value, twist=twist)
    first = int(cite["first"]) if cite["first"] else None
    last = int(cite["last"]) if cite["last"] else first
    path = _path(cite)
    shown = f"{labels[0]}: {value.text}" if value and labels else segment.strip(_TRAILING + "|")
    place = cite["anchor"] or ""
    return Citation(
        line=piece.line,
        text=f"{shown[:_SHOWN]} <- gpu-wiki/{path}{place.rstrip()}".strip(),
        labels=labels,
        value=value,
        path=path,
        anchor=Anchor(first=first, last=last, section=(cite["section"] or "").strip()),
        beside=f"{between} {after}".strip(),
        behind=behind,
        strange=_strange(f"{segment[-_NEAR:]}{cite[0]}"),
        after=after,
        span=piece.raw_span(cite.start("first"), cite.end("first"))
        if first is not None and first == last
        else None,
    )


def _strange(text: str) -> str:
    """A digit or a letter that only looks like the ASCII one, or nothing."""
    digit = next((char for char in text if char.isdecimal() and not char.isascii()), "")
    mixed = _MIXED.search(text)
    return digit or (mixed[0] if mixed else "")


def _path(cite: re.Match[str]) -> str:
    """The path below the wiki; one that leaves it and comes back is kept whole."""
    path = cite["path"].rstrip(".") if cite["anchor"] is None else cite["path"]
    _, wiki, inside = f"/{cite['before'] or ''}/".partition("/gpu-wiki/")
    return f"{inside}gpu-wiki/{path}" if wiki and ".." in inside.split("/") else path


def _is_direct(segment: str, value: Quantity | None) -> bool:
    """Without an arrow a value counts as cited only where it stands right before the path."""
    if value is None:
        return False
    tail = segment.rstrip(_TRAILING + "|")
    return tail.endswith((value.text, value.text.replace(" ", "")))


def _statement(piece: Piece, segment: str, at: int) -> tuple[tuple[str, ...], Quantity | None]:
    """Labels from near to wide, and the value, of what stands before a citation."""
    if piece.row is not None and "|" in segment:
        return _in_table(piece, segment, at)
    label, value = _split(segment)
    if piece.row is not None and value is not None:
        return (*_labels(label), *_context(piece, at, label)), value
    return _labels(label), value


def _split(segment: str) -> tuple[str, Quantity | None]:
    """Label and value; the value with what stands before its number and twists it."""
    label, value = _apart(segment)
    return label, twisted(value, segment) if value is not None else None


def _apart(segment: str) -> tuple[str, Quantity | None]:
    head, colon, tail = segment.rpartition(":")
    if not colon:
        head, colon, tail = segment.rpartition("=")
    if colon and (value := parse_quantity(tail)):
        return head, value
    numbers = list(_LAST_VALUE.finditer(segment))
    if numbers:
        last = numbers[-1]
        return segment[: last.start()], parse_quantity(last[0]) or no_number(last[0])
    if colon and (value := no_number(tail)):
        return head, value
    if value := parse_quantity(segment):
        return "", value if value.number is not None else None
    words = segment.rsplit(None, 1)
    if len(words) > 1 and (value := parse_quantity(words[1])) and value.number is not None:
        return words[0], value
    return segment, None


def _in_table(piece: Piece, segment: str, at: int) -> tuple[tuple[str, ...], Quantity | None]:
    cells = [cell for cell in map(_unmarked, segment.split("|")) if cell]
    if not cells:
        return (), None
    label, value = _split(cells[-1])
    if value is not None and _plain(label):
        wide = " ".join(cells[:-1])
        return (*_labels(label), f"{wide} {_plain(label)}"), value
    for start in range(len(cells) - 1, -1, -1):
        joined = " ".join(cells[start : start + 2])
        for text in (joined, cells[start]):
            value = parse_quantity(text)
            if value is not None and value.number is not None:
                rest = " ".join(cells[:start])
                return (*_labels(rest), *_context(piece, at, rest)), twisted(value, text)
    word = parse_quantity(cells[-1]) or no_number(cells[-1])
    if word is not None and len(cells) > 1:
        return _labels(" ".join(cells[:-1])), word
    return (" ".join(cells),), None


def _context(piece: Piece, at: int, label: str) -> tuple[str, ...]:
    """First cell and column heading, for values that stand in a grid."""
    if piece.row is None:
        return ()
    column = piece.text[:at].count("|") - (1 if piece.text.lstrip().startswith("|") else 0)
    cells = [_plain(cell) for cell in piece.text.strip().strip("|").split("|")]
    first = cells[0] if cells and column > 0 else ""
    head = piece.row.header[column] if 0 <= column < len(piece.row.header) else ""
    near = f"{head} {_plain(label)}".strip()
    return tuple(text for text in (near, f"{first} {near}".strip()) if text)


def _labels(label: str) -> tuple[str, ...]:
    """The last clause, then everything."""
    whole = _plain(label)
    if not whole:
        return ()
    last = _CLAUSE.split(f"{whole} ")[-1].strip()
    return (last, whole) if last and last != whole else (whole,)


def _plain(text: str) -> str:
    return _unmarked(_BULLET.sub("", text))


def _unmarked(text: str) -> str:
    """Without marks of emphasis; a sign in front is kept."""
    return text.replace("*", "").replace("`", "").replace("\\|", "|").strip(" \t\"'|:_([")

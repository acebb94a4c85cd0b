"""Citations in text of any container: prose, tables, code, bullets, JSON strings."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from kbs_ingest.audit.containers import Piece, pieces
from kbs_ingest.audit.headings import Headings
from kbs_ingest.audit.model import Anchor, Citation, Quantity, Said
from kbs_ingest.audit.qualifiers import behind_value, multiplied, twist_behind
from kbs_ingest.audit.said import OWN, SENTENCE, label_parts, said_of
from kbs_ingest.audit.statement import plain, split_value, statement
from kbs_ingest.audit.twists import struck

_ROOT = (
    r"(?:<gpu-wiki>|&lt;gpu-wiki&gt;|\[gpu-wiki\]"
    r"|(?:(?P<before>[\w.~/-]{0,200})/)?(?:(?<![\w-])|(?<=<-)|(?<=<--)|(?<=[\s*(]_))gpu-wiki)"
)
_ARROW = r"(?:(?:[<‹〈⟨]|&lt;|&lsaquo;)[-–—−=]{1,4}|[←⟵⇐⟸⬅]|&larr;|<&[nm]dash;)"
_LEAD = r"[`\"'(*<_]{0,4}(?:!?\[(?P<link>[^\]\[\n]{0,120})\]\s?\(<?|<a\s+href=)?[`\"'(*\[<_]{0,4}"
"""What may stand between the arrow and the path: marks, and the text of a link."""
_CITE = re.compile(
    rf"(?P<arrow>{_ARROW}\s{{0,8}})?{_LEAD}{_ROOT}(?P<gap>[/\\]|\s+(?=[\w.-]+/))"
    r"(?P<path>[^\s:|`\"'<>()\[\]{},;#§]+)"
    r"(?P<anchor>(?::|#)L?(?P<first>\d{1,9})(?![^\W_]|\.\w)(?:\s?[-–]\s?L?(?P<last>\d{1,9})(?![^\W_]|\.\w))?"
    r"|\s?[:#§]\s?[\"“']?(?P<section>(?:[^\W\d_]|(?<=[:#§])\d)[^|`\"”'\n<>;]{0,80}))?"
)
_NOT_FOUND = re.compile(r"(?P<label>[^|;:\n]{0,160}):\s*[`*]*UNKNOWN[`*]*\s*\(gpu-wiki not found\)")
_TRAILING = " \t`\"'([*_"
_COMMENT = re.compile(r"//|/\*|\s#|^#")
_REMARK = re.compile(r"^[`\"'*]*\s*\([^()]{0,200}\)")
"""What stands in brackets right behind a citation belongs to it, not to the next one."""
_NEXT = re.compile(r"[;,|]|\.\s")
_ITEM = re.compile(r"^\s*(?:[-*+•>]|\d+[.)])\s")
_ENDS = re.compile(r"[.;:!?|]\s*$|^\s*$")
_COUNT = re.compile(r"(?<![\w.,-])\d[\d.,]*(?![\w-])")
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
    headings = Headings(suffix)
    for number, piece in enumerate(listed):
        headings.pass_by(piece.text)
        if "gpu-wiki" in piece.text:
            here = list(_in_piece(piece, before, headings.above()))
            if any(citation.value is not None for citation in here):
                cited.add(number)
            if here:
                found.extend(here)
        before = piece.text
    return Scan(citations=tuple(found), pieces=listed, cited_pieces=frozenset(cited))


def _in_piece(piece: Piece, before: str, headings: tuple[str, ...]) -> Iterator[Citation]:
    text = piece.text
    for lost in _NOT_FOUND.finditer(text):
        yield Citation(
            line=piece.line,
            text=lost[0].strip()[:_SHOWN],
            labels=(plain(lost["label"]),),
            value=Quantity(number=None, word="UNKNOWN", text="UNKNOWN"),
            path="",
            anchor=Anchor(),
            not_found=True,
            said=Said(near=label_parts(plain(lost["label"]))[0]),
        )
    end = 0
    for cite in _CITE.finditer(text):
        if cite["anchor"] is None and cite["arrow"] is None:
            continue
        if cite["gap"] != "/" and not cite["arrow"]:
            continue
        segment = _segment(
            piece, text[max(end, cite.start() - _REACH) : cite.start()], first=not end
        )
        if cite["arrow"]:
            segment = _continued(segment, before, piece)
        if cite["link"] and OWN.search(cite["link"]):
            segment = f"{segment} {cite['link']}"
        yield _citation(piece, cite, segment, headings)
        end = cite.end()


def _segment(piece: Piece, text: str, *, first: bool) -> str:
    """What stands before a citation and belongs to it."""
    if piece.prose is not None:
        text = _COMMENT.split(text)[-1]
    return text if first else _REMARK.sub("", text)


def _continued(segment: str, before: str, piece: Piece) -> str:
    """With the line before where the statement began there: ``9.99`` above ``TB/s <- …``."""
    if not segment.strip(_TRAILING + "|"):
        return before
    if "gpu-wiki" in before or piece.row is not None or _ITEM.match(segment):
        return segment
    if split_value(segment)[1] is not None or _ENDS.search(before):
        return segment
    head = _COMMENT.split(before)[-1] if piece.prose is not None else before
    joined = f"{head} {segment.strip()}"
    return joined if split_value(joined)[1] is not None else segment


def _after(piece: Piece, end: int) -> str:
    """What the same statement says after its citation; another citation ends it sooner."""
    rest = piece.text[end : end + _REACH]
    following = _CITE.search(rest)
    if following:
        return _NEXT.split(rest[: following.start()], maxsplit=1)[0]
    return rest if piece.row is not None else _STOP.split(rest, maxsplit=1)[0]


def _citation(
    piece: Piece, cite: re.Match[str], segment: str, headings: tuple[str, ...]
) -> Citation:
    told = statement(piece, segment.rstrip(_TRAILING), cite.start())
    labels, value = told.labels, told.value
    between = segment.rpartition(value.text)[2] if value and value.text in segment else ""
    unread = "" if value else _number_near(segment, counts=bool(cite["arrow"]))
    if value and not cite["arrow"] and not _is_direct(segment, value):
        unread, value = _number_near(segment, counts=False), None
    after = _after(piece, cite.end())
    behind = behind_value(segment, value) if value else ""
    if value and not value.twist:
        twist = twist_behind(value, behind, after) or multiplied(labels[0] if labels else "")
        value = msgspec.structs.replace(value, twist=twist or struck(segment, value))
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
        said=said_of(told, behind, after, value, cite["link"] or "") if value else Said(),
        headings=headings,
        unread=unread,
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


def _number_near(segment: str, *, counts: bool) -> str:
    """A number of the same sentence, with its unit or, of ``counts``, without one."""
    sentence = SENTENCE.split(segment)[-1]
    found = [*OWN.finditer(sentence)] or [*_COUNT.finditer(sentence)] * counts
    return found[-1][0].strip() if found else ""


def _path(cite: re.Match[str]) -> str:
    """The path below the wiki; one that leaves it and comes back is kept whole."""
    path = cite["path"].rstrip(".") if cite["anchor"] is None else cite["path"]
    _, wiki, inside = f"/{cite['before'] or ''}/".partition("/gpu-wiki/")
    return f"{inside}gpu-wiki/{path}" if wiki and ".." in inside.split("/") else path


def _is_direct(segment: str, value: Quantity | None) -> bool:
    """Without an arrow a value counts as cited only where it stands right before the path."""
    if value is None:
        return False
    tail = segment.rstrip(_TRAILING + "|]")
    return tail.endswith((value.text, value.text.replace(" ", "")))

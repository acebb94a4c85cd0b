"""Text under headings: the form that hypothesis, evidence and plan share."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from kbs_engine.errors import InputError

_HEADING = re.compile(
    r"^(?:#{1,6}\s+(?P<hash>.+?)\s*#*|(?P<plain>[A-Z][A-Za-z /-]{2,40}):\s*(?P<rest>.*))$"
)
_BULLET = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """One heading with what stands under it."""

    title: str
    line: int
    body: str

    @property
    def items(self) -> tuple[str, ...]:
        """The bullets, or the paragraphs where there are none."""
        lines = [line.strip() for line in self.body.splitlines() if line.strip()]
        return tuple(_BULLET.sub("", line) for line in lines)

    @property
    def text(self) -> str:
        """The body on one line."""
        return " ".join(self.items)


def sections(text: str, titles: Sequence[str]) -> tuple[Section, ...]:
    """The sections of ``text`` whose heading is one of ``titles``, in the order of the text.

    Headings are ``## Title`` or ``Title: text``; words, not case or punctuation, are compared.
    """
    known = {normal(title): title for title in titles}
    found: list[Section] = []
    open_at: tuple[str, int, list[str]] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        match = _HEADING.match(line)
        title = match and known.get(normal(match["hash"] or match["plain"] or ""))
        if match and title:
            if open_at is not None:
                found.append(_closed(open_at))
            open_at = (title, number, [match["rest"] or ""])
        elif open_at is not None:
            open_at[2].append(line)
    if open_at is not None:
        found.append(_closed(open_at))
    return tuple(found)


def normal(title: str) -> str:
    """Words of a heading in lower case, without punctuation."""
    return " ".join(re.findall(r"[a-z0-9]+", title.lower()))


def in_order(text: str, titles: Sequence[str], where: str) -> dict[str, Section]:
    """Every one of ``titles``, in this order and with something under it.

    Raises:
        InputError: with file and line: a heading is missing, out of order, twice or empty.
    """
    found = sections(text, titles)
    by_title = {section.title: section for section in found}
    missing = [title for title in titles if title not in by_title]
    if missing:
        raise InputError(
            f"lacks the heading{'s' if len(missing) > 1 else ''} {', '.join(missing)}",
            where=where,
            remedy=f"write the headings {', '.join(titles)} in this order",
        )
    order = [section.title for section in found]
    if order != list(titles):
        wrong = next((s for s, title in zip(found, titles, strict=False) if s.title != title),
                     found[-1])  # fmt: skip
        raise InputError(
            f"heading {wrong.title!r} stands twice or out of order",
            where=f"{where}:{wrong.line}",
            remedy=f"keep the order {', '.join(titles)}",
        )
    for section in found:
        if not section.text.strip():
            raise InputError(
                f"nothing stands under {section.title!r}",
                where=f"{where}:{section.line}",
                remedy="say it, or say why it does not apply",
            )
    return by_title


def _closed(open_at: tuple[str, int, list[str]]) -> Section:
    title, line, body = open_at
    return Section(title=title, line=line, body="\n".join(body).strip("\n"))


def bullets(lines: Sequence[str]) -> str:
    """Lines as bullets; ``- none`` for nothing, so that a section is never empty."""
    return "\n".join(f"- {line}" for line in lines) if lines else "- none"


def one_line(text: str) -> str:
    """Text without line breaks, so that it stays under its heading."""
    return " ".join(text.split())

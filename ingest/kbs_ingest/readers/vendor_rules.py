"""Findings of Nsight Compute's own rules."""

from __future__ import annotations

import re
from typing import Final

from kbs_engine.profiles import VendorRule

_SECTION: Final = re.compile(r"@section:[^:@]*:([^@]*)@")
_LINK: Final = re.compile(r"@url:([^:@]*):([^@]*)@")
_SOURCE: Final = re.compile(r"@source:[^@]*:([^:@]*)@")
_WIDTH: Final = 60


def plain_text(message: str) -> str:
    """Replace the markup of rule messages by the words that ncu prints for it."""
    text = _SECTION.sub(r"\1", message)
    text = _LINK.sub(r"\1 (\2)", text)
    return " ".join(_SOURCE.sub(r"\1", text).split())


def from_row(
    rule: str, kind: str, message: str, section: str, scope: str, speedup: float | None
) -> VendorRule:
    """A finding as the details page gives it: it has no title, so its first words stand in."""
    return VendorRule(
        rule=rule,
        title=_title(message) if kind != "ERR" else f"rule failed: {_title(message)}",
        message=" ".join(message.split()),
        section=section,
        estimated_speedup_pct=speedup,
        scope=scope if scope in ("global", "local") else "",
    )


def _title(message: str) -> str:
    first = re.split(r"(?<=[a-z%)])[.:] ", message.strip(), maxsplit=1)[0]
    return first if len(first) <= _WIDTH else first[:_WIDTH].rsplit(" ", 1)[0] + " …"

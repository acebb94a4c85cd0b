"""What README.md of a run says of its task, against the state, and its specs, each cited."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kbs_engine.reports.readme import TBD, workspace_readme
from kbs_engine.run.state import State

_HEADING = re.compile(r"^## +(.+?)\s*$", re.MULTILINE)
_OWN = ("Task Context", "Epochs")
"""Sections that follow from state.json alone. The others rest on the wiki or are a person's."""
_GROWS = "| iterations |"
"""`kbs loop extend` allows more without a new README."""


def sections(text: str) -> Mapping[str, str]:
    """The text under each second-level heading."""
    parts = _HEADING.split(text)
    return dict(zip(parts[1::2], (part.strip() for part in parts[2::2]), strict=True))


def differing(text: str, state: State) -> Iterator[tuple[str, str]]:
    """Lines of the README that the state does not give: what it says, what the state gives."""
    mine, theirs = sections(text), sections(workspace_readme(state))
    for name in _OWN:
        found, expected = _lines(mine.get(name, "")), _lines(theirs[name])
        wrong = [line for line in found if line not in expected]
        lacking = [line for line in expected if line not in found]
        for number in range(max(len(wrong), len(lacking))):
            said = wrong[number] if number < len(wrong) else ""
            given = lacking[number] if number < len(lacking) else ""
            yield said, given


def uncited(text: str, state: State) -> Iterator[str]:
    """Lines under Hardware Spec that are neither cited nor UNKNOWN nor a marked placeholder."""
    placeholders = {str(row) for row in state.settings.placeholders}
    for line in sections(text).get("Hardware Spec", "").splitlines():
        said = line.strip().removeprefix("- ").strip()
        known = not said or said == TBD or "<- gpu-wiki/" in said or "UNKNOWN" in said
        if not known and said not in placeholders:
            yield said


def _lines(text: str) -> list[str]:
    return [
        line.strip()
        for line in text.splitlines()
        if line.strip() and not line.strip().startswith(_GROWS)
    ]

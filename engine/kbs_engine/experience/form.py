"""Whether the words, dates and shares of a record have the form that they must have.

A record of somebody else's log may hold anything that JSON can. What is no id, no day or no
interval is not believed, and its reason is told; nothing of it is looked up by such a name.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from kbs_engine.days import day_fault
from kbs_engine.outcomes import Outcome
from kbs_engine.unseen import CONTROLS, UNSEEN

LONGEST: Final = 200
"""Characters of a name; the longest of any GPU or driver has a third of it."""

ABSURD: Final = 1e6
"""No method makes a kernel this many times slower, and no interval reaches further."""

_METHOD: Final = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)*")
_VERSION: Final = re.compile(r"v\d{1,9}|")
_CONTROL: Final = re.compile(f"[{CONTROLS}]")
_UNSEEN: Final = re.compile(f"[{UNSEEN}]")
_NAMES: Final = (
    "chip", "arch", "dominant_stall", "dims_class", "baseline", "run", "source_hash", "device",
    "driver", "machine", "date",
)  # fmt: skip
_NUMERAL: Final = re.compile(r"[-+]?[\d.]+(?:[eE][-+]?\d+)?")
_WORK: Final = ("flops", "bytes_in", "bytes_out")


def malformed(outcome: Outcome) -> str | None:
    """What of a record has no possible form, or None."""
    return (
        _method(outcome.method)
        or next((told for told in map(_method, outcome.together_with) if told), None)
        or _names(outcome)
        or _day(outcome.date)
        or _interval(outcome)
        or _sizes(outcome)
    )


@lru_cache(maxsize=4096)
def _method(word: str) -> str | None:
    if len(word) <= LONGEST and _METHOD.fullmatch(word):
        return None
    return f"{_shown(word)} is no id of a method"


def _names(outcome: Outcome) -> str | None:
    if not _VERSION.fullmatch(outcome.version):
        return f"version {_shown(outcome.version)} is none"
    for name in _NAMES:
        told = _name(getattr(outcome, name))
        if told:
            return f"{name} {told}"
    return None


@lru_cache(maxsize=65536)
def _name(word: str) -> str:
    if len(word) > LONGEST:
        return f"of {len(word)} characters is no name"
    if word.isascii() and word.isprintable():
        return ""
    if _CONTROL.search(word):
        return f"{_shown(word)} holds control characters"
    return f"{_shown(word)} holds characters that are not seen" if _UNSEEN.search(word) else ""


def _day(text: str) -> str | None:
    """A record may tell no date; one that it tells must be a day that has come."""
    fault = day_fault(text, measured=True) if text else None
    return f"{_shown(text)} {fault}" if fault else None


def _sizes(outcome: Outcome) -> str | None:
    """Sizes are written in capitals (``M``); other dims may be an axis or a factor below 0.

    A word may stand for an option; a number in quotes is none, and finds no record of its task.
    """
    for name, value in outcome.dims.items():
        size = name.isupper()
        if isinstance(value, str):
            if size or _NUMERAL.fullmatch(value.strip()):
                told = "is no size" if size else "is a number in quotes"
                return f"{_shown(name)} {told}: {_shown(value)}"
        elif size and value < 0:
            return f"{_shown(name)} is no size: {value:g}"
    for name in _WORK:
        value = getattr(outcome, name)
        if value is not None and value < 0:
            return f"{name} is no amount of work: {value:g}"
    return None


def _interval(outcome: Outcome) -> str | None:
    pairs = (
        ("gain", outcome.gain_low, outcome.gain_high),
        ("predicted gain", *(outcome.predicted_gain or (None, None))),
    )
    for name, low, high in pairs:
        if low is not None and high is not None and low > high:
            return f"the interval of its {name} is reversed: {low:.3g} to {high:.3g}"
    for name, share in (("gain", outcome.gain), *((name, end) for name, *ends in pairs
                                                   for end in ends)):  # fmt: skip
        if share is not None and not 1 - ABSURD < share <= 1:
            return f"a {name} of {share:.3g} cannot be"
    return None


def _shown(text: str) -> str:
    """A word in quotes, cut to a line's worth."""
    return repr(text if len(text) <= 40 else f"{text[:40]}…")  # noqa: PLR2004

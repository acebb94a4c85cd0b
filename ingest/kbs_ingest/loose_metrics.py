"""Numbers under whatever names people have for them, brought to canonical metrics.

In order: the canonical name; a vendor's counter; a label of the details page; an alias; a stall
reason; a name whose words fit one canonical metric and no other. What remains is kept as words
for search. A name that was not canonical is told in a note, so that nobody is misread silently;
so is a name or a value that cannot be read, and a number that cannot be, which is not used.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from kbs_engine.metrics import (
    SHARE_LIMIT_PCT,
    MetricMap,
    canonical,
    drop_no_durations,
    impossible,
)
from kbs_engine.numerals import shortened
from kbs_ingest.metric_aliases import PLAIN, SQUEEZED, STALLS, plain
from kbs_ingest.readers.derived import derive
from kbs_ingest.readers.labels import Labels
from kbs_ingest.readers.numbers import POINT, is_absent, parse
from kbs_ingest.readers.vendor_units import parse_unit

_VALUE: Final = re.compile(
    r"([-+]?[\d.,]+(?:[eE][-+]?\d+)?)\s*(x|×|-?way|[A-Za-zµ%/][A-Za-zµ%/ ]*)?", re.ASCII
)
_STALL: Final = re.compile(
    r"^(?:smsp_(?:average_)?warps?_(?:issue_)?stalled_|warp_)?stall(?:ed|s)?_?(?:on_)?"
    r"(?P<reason>[a-z_]+?)(?P<share>_(?:pct|percent|share|ratio|frac\w*|fraction))?$"
)
_WORD: Final = re.compile(r"[a-z0-9]+")
_IGNORED: Final = frozenset({"pct", "percent", "avg", "average", "sum", "per", "of", "the", "rate",
                             "value", "total", "ratio", "throughput", "utilization"})  # fmt: skip
_EXTRA: Final = frozenset({"kernel_count", "warp_execution_efficiency_pct"})
LANES: Final = 32
UNUSED: Final = "; not used"
TELLING: Final = 0.3
"""Share of warp cycles from which a stall is worth a word: Nsight's own bound."""
ALIKE: Final = 0.6
"""Share of words that two names must have in common to be one."""


class Understood(msgspec.Struct, frozen=True, kw_only=True):
    """What numbers mean."""

    metrics: dict[str, float]
    words: str
    """Names and values that are no metric, as text."""
    notes: tuple[str, ...]


def understand_metrics(given: Mapping[str, float | str], maps: Sequence[MetricMap]) -> Understood:
    """Canonical metrics of ``given``; ``maps`` in the order of trust."""
    reader = _Reader(maps)
    for name, value in given.items():
        reader.add(name, value)
    return reader.done()


class _Reader:
    """Collects metrics, raw vendor counters, words and notes."""

    def __init__(self, maps: Sequence[MetricMap]) -> None:
        self.maps = maps
        self.labels = [Labels(one) for one in maps]
        self.canonical = {name for one in maps for name in one.metrics} | _EXTRA
        self.vendor = {name for one in maps for name in one.vendor_names()}
        self.metrics: dict[str, float] = {}
        self.raw: dict[str, float] = {}
        self.words: list[str] = []
        self.notes: list[str] = []

    def add(self, name: str, value: float | str) -> None:
        """Take one pair."""
        number, unit = _number(value)
        if number is None:
            if not isinstance(value, str) or not is_absent(value):
                self.words.append(f"{_spaced(name)} {value}")
                self.notes.append(f"{name}: {shortened(value)} is no number; taken as words")
            return
        if not math.isfinite(number):
            self.notes.append(f"{name} is not finite: taken as not measured")
        elif not self._known(name.strip(), number, unit):
            self.words.append(f"{_spaced(name)} {value}")
            self.notes.append(f"{name} is no metric that is known; taken as words")

    def _known(self, name: str, number: float, unit: str) -> bool:
        if name in self.canonical or name.startswith("opcode_"):
            self.metrics[name] = _base(number, unit)
            return True
        if name in self.vendor:
            self.raw[name] = _base(number, unit)
            return True
        for labels in self.labels:
            counter = labels.counter(name, "", unit)
            if counter in self.vendor and counter is not None:
                self.raw[counter] = _base(number, unit)
                return True
        return self._alias(name, number, unit) or self._similar(name, number, unit)

    def _alias(self, name: str, number: float, unit: str) -> bool:
        """Names of other tools and of people."""
        key = plain(name)
        target = PLAIN.get(key) or SQUEEZED.get(key.replace("_", ""))
        if target is None:
            return self._stall(name, key, number, unit)
        found, scale = target
        if found == "warp_execution_efficiency_pct":
            share = _percent(number, unit)
            if 0 <= share <= SHARE_LIMIT_PCT:
                self._keep(name, "threads_per_instruction", share / 100 * LANES)
            else:
                self.notes.append(f"{name} is {share:.4g} %, outside 0 to 100 %{UNUSED}")
            return True
        value = _base(number, unit) if unit and unit != "%" else number * scale
        if found.endswith("_pct"):
            value = _percent(number * scale, unit, fraction=_is_fraction(key))
        self._keep(name, found, value)
        return True

    def _stall(self, name: str, key: str, number: float, unit: str) -> bool:
        """A stall reason: cycles per issue, or a share of warp cycles where it says percent."""
        match = _STALL.match(key)
        if match is None:
            return False
        reason = match["reason"].removesuffix("_per_issue_active").removesuffix("_per_warp_active")
        reason = STALLS.get(reason, reason)
        metric = f"stall_{reason}"
        if metric not in self.canonical:
            return False
        share = bool(match["share"]) or unit == "%" or "per_warp_active" in key
        if share:
            # a share of warp cycles needs no count of cycles: it says what part of them it is
            part = number / 100 if number > 1 or unit == "%" else number
            self.words.append(f"{_spaced(metric)} {part:.0%}" if part >= TELLING else "")
            self.notes.append(f"{name} is read as a share of warp cycles")
            return True
        self._keep(name, metric, number)
        return True

    def _similar(self, name: str, number: float, unit: str) -> bool:
        """The one canonical metric whose name shares all its telling words with this name."""
        mine = _tokens(name)
        if not mine:
            return False
        scores: dict[str, float] = {}
        for candidate in self.canonical:
            theirs = _tokens(candidate)
            shared = mine & theirs
            if theirs and shared == theirs:
                scores[candidate] = len(shared) / len(mine | theirs)
        best = sorted(scores, key=lambda one: (-scores[one], one))
        if not best or scores[best[0]] < ALIKE:
            return False
        if len(best) > 1 and scores[best[0]] == scores[best[1]]:
            return False
        percent = best[0].endswith("_pct")
        if percent and not (unit in ("%", "") and 0 <= number <= SHARE_LIMIT_PCT):
            return False
        self._keep(name, best[0], _base(number, unit))
        return True

    def _keep(self, name: str, found: str, value: float) -> None:
        self.metrics.setdefault(found, value)
        self.notes.append(f"{name} is read as {found} = {value:g}")

    def done(self) -> Understood:
        """Vendor counters become metrics too."""
        raw = dict(self.raw)
        self.notes += derive(raw, self.vendor)
        for one in self.maps:
            for name, value in canonical(one, raw).items():
                self.metrics.setdefault(name, value)
        self.notes += drop_no_durations(self.metrics)
        self._drop_impossible()
        return Understood(
            metrics=self.metrics,
            words="; ".join(word for word in self.words if word),
            notes=tuple(self.notes),
        )

    def _drop_impossible(self) -> None:
        """Remove what cannot be, each with its note: somebody typed it, nobody measured it."""
        for name, value in list(self.metrics.items()):
            if not math.isfinite(value):
                self.notes.append(f"{name} is not finite: taken as not measured")
                del self.metrics[name]
                continue
            told = [doubt for one in self.maps for doubt in impossible(one, {name: value})]
            if told:
                self.notes.append(f"{told[0]}{UNUSED}")
                del self.metrics[name]


def _number(value: float | str) -> tuple[float | None, str]:
    """Number and unit of ``85``, ``"85 %"``, ``"1.2 TB/s"``, ``"8-way"``."""
    if not isinstance(value, str):
        return value, ""
    match = _VALUE.fullmatch(value.strip())
    if match is None:
        return None, ""
    try:
        return parse(match[1], POINT), (match[2] or "").strip()
    except ValueError:
        return None, ""


def _base(number: float, unit: str) -> float:
    """Base units; a unit that is not known keeps its number."""
    found = parse_unit(_usual(unit)) if unit else None
    return number * found.factor if found else number


def _usual(unit: str) -> str:
    """``GB/s`` and ``KiB`` as ncu spells them."""
    match = re.fullmatch(r"([KMGTP]?)i?B(/s)?", unit, re.IGNORECASE)
    if match is None:
        return unit
    return f"{match[1].upper()}byte{'/second' if match[2] else ''}"


def _is_fraction(key: str) -> bool:
    return "pct" not in key and "percent" not in key


def _percent(number: float, unit: str, *, fraction: bool = True) -> float:
    """Percent; a value up to 1 under a name that does not say percent is a fraction."""
    if unit == "%" or not fraction or number > 1:
        return number
    return number * 100


def _tokens(name: str) -> frozenset[str]:
    split = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    words = _WORD.findall(split.casefold().replace("%", " "))
    return frozenset(word for word in words if word not in _IGNORED)


def _spaced(name: str) -> str:
    return re.sub(r"[_.]+", " ", name)

"""What an entry of an older flat log means.

Such a log is a JSON array of ``{kernel, backend, chip, dims, bottleneck_before, dominant_stall,
metrics_before/after {memory_sol_pct, sm_sol_pct, latency_ms, achieved_occupancy}, optimization,
outcome, speedup, notes, date}``. It has no verdict on correctness or integrity, so what it says
is taken as *unverified*.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from kbs_engine.experience.records import Entry, Legacy, entry_of, record_id
from kbs_engine.outcomes import Outcome, dims_class
from kbs_engine.partial_words import family_of
from kbs_engine.vocabulary import (
    FAMILIES,
    LANGUAGE_ALIASES,
    LANGUAGES,
    LIMITER_ALIASES,
    LIMITERS,
    Verdict,
)

_DAY_LIKE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)

METRICS: Final[dict[str, str]] = {
    "memory_sol_pct": "memory_pct",
    "sm_sol_pct": "compute_pct",
    "achieved_occupancy": "achieved_occupancy_pct",
    "achieved_occupancy_pct": "achieved_occupancy_pct",
    "dram_sol_pct": "dram_pct",
}
"""Metric of the older logs to canonical metric; ``latency_ms`` becomes the time."""

_VERDICTS: Final[tuple[tuple[str, Verdict], ...]] = (
    ("incorrect", "implementation_failed"),
    ("wrong", "implementation_failed"),
    ("compile", "implementation_failed"),
    ("crash", "implementation_failed"),
    ("regress", "harmful"),
    ("slower", "harmful"),
    ("success", "effective"),
    ("improved", "effective"),
    ("neutral", "ineffective"),
    ("fail", "ineffective"),
    ("no_change", "ineffective"),
)
"""Their outcome words; ``neutral`` is 2 to 5 % there, near enough to noise to be no success."""

_CANONICAL: Final = msgspec.json.Encoder(order="deterministic")


def legacy_entries(entries: Sequence[Mapping[str, Any]], origin: str) -> list[Entry]:
    """Records of one log, in its order, with ids that any importer of the log finds too.

    The row id of the log is left out: merging renumbered it. Entries that are equal without it
    are told apart by their number of occurrence.

    Raises:
        ValueError: An entry lacks what was tried or what came of it.
    """
    seen: dict[bytes, int] = {}
    found = []
    for entry in entries:
        bare = {name: value for name, value in entry.items() if name != "id"}
        key = _CANONICAL.encode(bare)
        seen[key] = seen.get(key, -1) + 1
        found.append(legacy_entry(bare, seen[key], origin))
    return found


def legacy_entry(entry: Mapping[str, Any], occurrence: int, origin: str) -> Entry:
    """One record; ``occurrence`` counts equal entries of the log from 0."""
    bare = {name: value for name, value in entry.items() if name != "id"}
    record = Legacy(entry=bare, measurement=f"legacy-{occurrence}")
    checked = entry_of(record, origin)
    outcome_of(record)
    return Entry(id=record_id(record), origin=origin, record=checked.record)


def outcome_of(record: Legacy) -> Outcome:
    """The unverified outcome that an entry describes.

    All entries about one chip count as one machine: the log does not say which it was.

    Raises:
        ValueError: Its outcome is no known word, or its numbers are none.
    """
    entry = record.entry
    words = str(entry["optimization"])
    verdict = _verdict(str(entry["outcome"]))
    chip = _text(entry, "chip")
    before, after = _metrics(entry, "metrics_before"), _metrics(entry, "metrics_after")
    fields = {
        "method": method_slug(words),
        "verdict": verdict,
        "kernel": _family(_text(entry, "kernel")),
        "language": _language(_text(entry, "backend") or _text(entry, "language")),
        "chip": chip,
        "arch": _arch(chip),
        "limiter": limiter_of(_text(entry, "bottleneck_before") or _text(entry, "bottleneck")),
        "dominant_stall": _text(entry, "dominant_stall"),
        "dims": _dims(entry.get("dims")),
        "dims_class": dims_class(_dims(entry.get("dims"))),
        "correct": verdict != "implementation_failed",
        "integrity": False,
        "verified": False,
        "gain": _gain(entry.get("speedup")),
        "before_ns": _latency(entry, "metrics_before"),
        "after_ns": _latency(entry, "metrics_after"),
        "metrics_before": before,
        "metrics_after": after,
        "machine": f"unnamed {chip}",
        "date": _date(entry),
        "measurement": record.measurement,
        "words": words,
        "notes": _text(entry, "notes"),
    }
    return msgspec.convert(fields, Outcome)


def _date(entry: Mapping[str, Any]) -> str:
    """What looks like a day; other words, as older logs have them, count as no date."""
    text = _text(entry, "date") or _text(entry, "timestamp")
    return text if _DAY_LIKE.match(text) else ""


def limiter_of(word: str) -> str:
    """The limiter for one of our words or an older one; ``unknown`` for any other."""
    key = word.strip().casefold().replace("-", "_").replace(" ", "_")
    found = LIMITER_ALIASES.get(key, key)
    return found if found in LIMITERS else "unknown"


def method_slug(words: str) -> str:
    """An id for the free text of a method: what stands before ``{``, in small letters."""
    head = words.split("{", 1)[0].strip().casefold()
    return re.sub(r"[^a-z0-9]+", "_", head).strip("_")[:80] or "unnamed"


def _verdict(word: str) -> Verdict:
    key = word.strip().casefold().replace(" ", "_")
    for part, verdict in _VERDICTS:
        if part in key:
            return verdict
    msg = f"outcome {word!r} is none of success, neutral, failure, regressed, incorrect"
    raise ValueError(msg)


def _family(word: str) -> str:
    key = word.strip().casefold().replace("-", "_").replace(" ", "_")
    return key if key in FAMILIES else family_of(word) or "other"


def _language(word: str) -> str:
    key = word.strip().casefold()
    found = LANGUAGE_ALIASES.get(key, key)
    return found if found in LANGUAGES else "other"


def _arch(chip: str) -> str:
    """``sm_90`` stands for the architecture whose chips run ``sm_90a``."""
    key = chip.strip().casefold()
    if re.fullmatch(r"sm_(90|100|103|110|120|121)", key):
        return f"{key}a"
    return key if re.fullmatch(r"sm_\d+[af]?|gfx[0-9a-f]+", key) else ""


def _gain(speedup: object) -> float | None:
    if speedup is None or speedup == "":
        return None
    number = _number(speedup)
    if number is None or number <= 0:
        msg = f"speedup {speedup!r} is no factor"
        raise ValueError(msg)
    return 1 - 1 / number


def _latency(entry: Mapping[str, Any], side: str) -> float | None:
    metrics = entry.get(side)
    value = metrics.get("latency_ms") if isinstance(metrics, dict) else None
    if value is None or value == "":
        return None
    number = _number(value)
    if number is None or number <= 0:
        msg = f"latency_ms {value!r} of {side} is no time"
        raise ValueError(msg)
    return number * 1e6


def _metrics(entry: Mapping[str, Any], side: str) -> dict[str, float]:
    metrics = entry.get(side)
    if not isinstance(metrics, dict):
        return {}
    named = {METRICS.get(str(name), str(name)): value for name, value in metrics.items()}
    numbers = {name: _number(value) for name, value in named.items() if name != "latency_ms"}
    return {name: value for name, value in numbers.items() if value is not None}


def _number(value: object) -> float | None:
    """A finite number, also from ``"1.8x"`` or ``"35 %"``; None for anything else."""
    if isinstance(value, str):
        match = re.fullmatch(r"\s*([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*[x×%]?\s*", value)
        value = float(match.group(1)) if match else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _dims(value: object) -> dict[str, int | float | str | bool]:
    if isinstance(value, str):
        pairs = re.findall(r"([A-Za-z_]\w*)\s*[=:]\s*(\d+)", value)
        return {name: int(size) for name, size in pairs}
    if not isinstance(value, dict):
        return {}
    return {str(k): v for k, v in value.items() if isinstance(v, (int, float, str, bool))}


def _text(entry: Mapping[str, Any], name: str) -> str:
    value = entry.get(name)
    return value.strip() if isinstance(value, str) else ""

"""What to offer for a name that is no GPU: chips of an architecture, or those named alike."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

import msgspec

from kbs_ingest.wiki.names import normalise

SHOWN = 6
_ARCH = re.compile(r"(?:sm|compute|cc)?(?P<number>\d{2,3})(?P<suffix>[af]?)|(?P<gfx>gfx[0-9a-f]+)")
_TOKEN = re.compile(r"[a-z]+[0-9]+[a-z0-9]*|[a-z]+|[0-9]+[a-z]*")
_COMMON = 3
"""A word that more than every third chip has (the vendor) tells nothing."""
_CLOSE = 0.5


class ChipName(msgspec.Struct, frozen=True):
    """A chip with what it is called."""

    id: str
    architecture: str
    arch: str
    names: tuple[str, ...]


def of_architecture(name: str, chips: Sequence[ChipName]) -> list[str]:
    """Chips of the architecture that ``name`` is; empty when it is none."""
    key = normalise(name).replace(".", "")
    found = _ARCH.fullmatch(key)
    if found and found["gfx"]:
        return sorted(chip.id for chip in chips if chip.arch == found["gfx"])
    if found and not (key.isdigit() and "." not in name):
        number = f"sm_{found['number']}"
        return sorted(chip.id for chip in chips if chip.arch.rstrip("af") == number)
    return sorted(chip.id for chip in chips if normalise(chip.architecture) == key)


def named_alike(name: str, chips: Sequence[ChipName]) -> list[str]:
    """Chips that share the telling words of ``name``, best first; else those spelled alike."""
    words = {chip.id: _tokens((chip.id, *chip.names)) for chip in chips}
    spread = Counter(word for found in words.values() for word in found)
    few = len(chips) / _COMMON
    telling = {word for word in _tokens((name,)) if 0 < spread[word] < few}
    scores = {
        id_: sum(1 / spread[word] for word in telling & found) for id_, found in words.items()
    }
    best = max(scores.values(), default=0.0)
    if best > 0:
        kept = [id_ for id_, score in scores.items() if score >= _CLOSE * best]
        return sorted(kept, key=lambda id_: (-scores[id_], id_))[:SHOWN]
    return _spelled_alike(name, chips)


def _spelled_alike(name: str, chips: Sequence[ChipName]) -> list[str]:
    keys = {normalise(word): chip.id for chip in chips for word in (chip.id, *chip.names)}
    close = get_close_matches(normalise(name), sorted(keys), n=SHOWN, cutoff=0.6)
    return list(dict.fromkeys(keys[key] for key in close))


def _tokens(names: Iterable[str]) -> frozenset[str]:
    return frozenset(
        token for name in names for token in _TOKEN.findall(name.casefold()) if len(token) > 1
    )

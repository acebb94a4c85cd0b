"""The chip that a label names: a name counts whole, so that ``A10G`` is no A10."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from kbs_ingest.audit.words import tokens

_VENDOR = frozenset({"nvidia", "amd", "instinct", "geforce", "radeon", "tesla", "gpu"})
_WIDTH = r"(?!.(?:16|32|64|96|128|256|512)(?!\d))"
_CHIP_LIKE = re.compile(
    rf"(?:mi\d{{2,3}}[a-z]{{0,3}}|g[bh]\d{{2,3}}[a-z]?|a\d{{2,3}}[a-z]?|{_WIDTH}[bhlv]\d{{2,3}}[a-z]?)"
)
"""What looks like a part number; ``b128`` and ``v64`` are widths."""
_SERIES = frozenset({"rtx", "gtx", "rx", "quadro"})
_MODEL = re.compile(r"[aw]?\d{3,4}[a-z]{0,3}")
_SERIES_MODEL = re.compile(r"(?:rtx|gtx|rx)[aw]?\d{3,4}[a-z]{0,3}")
_STUCK = re.compile(r"(?P<stem>[a-z]+\d+)(?!x\d)(?!gpus?$)[a-z]{1,6}\d?")
_SUFFIX = re.compile(
    r"laptop|notebook|mobile|d|s|ti|super|nvl|pcie|sxm\d?|oam|mxm|xt|xtx|gre|ultra|ada|pro|blackwell"
)
"""What makes another product of the name before it, unless that part is called so itself."""
_SIZE = re.compile(r"\d{1,3}gb?")
_PCIE_WORD = re.compile(
    r"bandwidth|bw|gen\d?|links?|lanes?|generation|version|x\d{1,2}|interface|interconnect|bus"
    r"|speed|rate|transfer|host|[3-6]"
)
"""Behind ``PCIe`` these speak of the bus, not of the card."""
_MAX_NAME_TOKENS = 8


class Named(msgspec.Struct, frozen=True, kw_only=True):
    """A name in a text with the chips that it fits; none for a product that the wiki lacks."""

    text: str
    chips: frozenset[str] = frozenset()
    sure: bool = True
    """False for what only looks like a part number."""


class ChipNames:
    """Names that a label may call a chip by, each with the chips that it fits."""

    def __init__(self, names: Mapping[str, Iterable[str]]) -> None:
        """``names`` maps a chip id to everything it is called."""
        self.by_key: dict[str, frozenset[str]] = {}
        self.words: dict[str, frozenset[str]] = {}
        for chip, called in names.items():
            listed = [tokens(name) for name in (chip, *called)]
            self.words[chip] = frozenset(word for words in listed for word in words)
            for words in listed:
                self._add(words, chip)

    def _add(self, words: list[str], chip: str) -> None:
        while words:
            key = "".join(words)
            if not key.isdigit() and len(key) > 1 and any(char.isdigit() for char in key):
                self.by_key[key] = self.by_key.get(key, frozenset()) | {chip}
            if words[0] not in _VENDOR:
                return
            words = words[1:]

    def find(self, words: Sequence[str]) -> tuple[frozenset[str], list[str], str]:
        """Chips that the words name, the words that remain, and an unknown chip's name.

        The longest name wins; what several names mean together is their union. A known name
        with a suffix that no such part bears is an unknown product.
        """
        named, kept = self.read(words)
        chips: frozenset[str] = frozenset()
        guess = product = ""
        for name in named:
            if name.chips:
                chips, product = chips | name.chips, ""
            elif name.sure:
                product = name.text
            else:
                guess = name.text
        return chips, [words[at] for at in kept], product or ("" if chips else guess)

    def read(
        self, words: Sequence[str], of: frozenset[str] | None = None
    ) -> tuple[list[Named], list[int]]:
        """Every name among the words, in order, and the places of words that no known name holds.

        A name of no known chip keeps its words, and so does one of none of the chips ``of``.
        """
        named: list[Named] = []
        kept: list[int] = []
        position = 0
        while position < len(words):
            size, known = self._known(words, position)
            if size:
                start, position = position, position + size
                known, used, strange = self._suffixed(known, words, position)
                position += used
                if start and words[start - 1] == "quadro":
                    strange = strange or "quadro"
                text = " ".join(words[start:position])
                if of is not None and (strange or not known & of):
                    kept.extend(range(start, position))
                named.append(Named(text=text, chips=frozenset() if strange else known))
                continue
            taken = self._product(words, position)
            if taken:
                named.append(Named(text=" ".join(words[position : position + taken])))
            elif _CHIP_LIKE.fullmatch(words[position]):
                named.append(Named(text=words[position], sure=False))
            kept.extend(range(position, position + max(taken, 1)))
            position += max(taken, 1)
        return named, kept

    def _known(self, words: Sequence[str], at: int) -> tuple[int, frozenset[str]]:
        for size in range(min(_MAX_NAME_TOKENS, len(words) - at), 0, -1):
            known = self.by_key.get("".join(words[at : at + size]))
            if known:
                return size, known
        return 0, frozenset()

    def _suffixed(
        self, known: frozenset[str], words: Sequence[str], at: int
    ) -> tuple[frozenset[str], int, str]:
        """Narrow a name by the words behind it: chips, words used, and a foreign suffix."""
        used = 0
        while at + used < len(words):
            size, suffix = _suffix(words, at + used)
            if not size:
                break
            bearing = frozenset(chip for chip in known if self._bears(chip, suffix))
            used += size
            if not bearing:
                return known, used, suffix
            known = bearing
        return known, used, ""

    def _bears(self, chip: str, suffix: str) -> bool:
        own = self.words[chip]
        if suffix == "sxm":
            return any(word.startswith("sxm") for word in own)
        if _SIZE.fullmatch(suffix):
            number = suffix.rstrip("gb")
            sizes = {word.rstrip("gb") for word in own if _SIZE.fullmatch(word) and "g" in word}
            return not sizes or number in sizes
        return suffix in own

    def _product(self, words: Sequence[str], at: int) -> int:
        """How many words name a product that the wiki does not know."""
        word = words[at]
        stuck = _STUCK.fullmatch(word)
        if _SERIES_MODEL.fullmatch(word) or (stuck and stuck["stem"] in self.by_key):
            return 1
        if word not in _SERIES:
            return 0
        ahead = at + 1
        while ahead < len(words) and words[ahead] in ("pro", "rtx"):
            ahead += 1
        if ahead < len(words) and _MODEL.fullmatch(words[ahead]):
            return ahead + 1 - at
        return 0


def _suffix(words: Sequence[str], at: int) -> tuple[int, str]:
    """The suffix that stands at a place, and of how many words it is."""
    word = words[at]
    after = words[at + 1] if at + 1 < len(words) else ""
    if word == "max" and after == "q":
        return 2, "max-q"
    if word == "pcie" and _PCIE_WORD.fullmatch(after):
        return 0, ""
    if _SIZE.fullmatch(word) and "g" in word:
        return 1, word
    if after == "gb" and _SIZE.fullmatch(f"{word}gb"):
        return 2, f"{word}gb"
    return (1, word) if _SUFFIX.fullmatch(word) else (0, "")

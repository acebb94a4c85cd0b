"""What a label speaks of: the discriminating words of a metric."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

import msgspec

Density = Literal["dense", "sparse"]
_TOKEN = re.compile(r"[a-z0-9]+")
_PAIRS: dict[tuple[str, str], str] = {
    ("shared", "memory"): "shared",
    ("tensor", "memory"): "tmem",
    ("constant", "memory"): "constant",
    ("local", "memory"): "local",
    ("infinity", "cache"): "mall",
    ("infinity", "fabric"): "interconnect",
    ("compute", "unit"): "unit",
    ("compute", "units"): "unit",
    ("non", "tensor"): "vector",
    ("cuda", "core"): "lane",
    ("cuda", "cores"): "lane",
    ("stream", "processors"): "lane",
}
_CONCEPTS: dict[str, str] = {
    "memory": "hbm hbm2 hbm2e hbm3 hbm3e gddr gddr5 gddr6 gddr6x gddr7 dram vram mem memory",
    "unit": "sm sms cu cus unit units multiprocessor multiprocessors",
    "tensor": "tensor matrix mfma wmma mma",
    "shared": "shared smem lds",
    "register": "register registers reg regs vgpr vgprs",
    "warp": "warp warps wave waves wavefront wavefronts",
    "block": "block blocks workgroup workgroups cta ctas",
    "thread": "thread threads",
    "clock": "clock clocks frequency",
    "power": "tdp power",
    "interconnect": "nvlink interconnect xgmi",
    "pcie": "pcie pci",
    "bandwidth": "bandwidth bw",
    "size": "capacity size",
    "fp8": "e4m3 e5m2 fp8",
    "fp4": "mxfp4 nvfp4 fp4",
    "bank": "bank banks",
    "lane": "lane lanes",
    "grid": "grid grids",
    "link": "link links",
}
_ALONE = (
    "l1 l2 mall tmem constant local boost base vector bus scalar instruction cluster fp64 fp32 "
    "tf32 fp16 bf16 fp6 int8 int4 int32 cpu xcd gpc sfu shuffle popc generation capability type "
    "partition scheduler"
)
_ALIKE: dict[str, str] = {
    **{word: word for word in _ALONE.split()},
    **{word: concept for concept, words in _CONCEPTS.items() for word in words.split()},
}
"""Word to concept; words that are not listed tell no metric from another."""
_PIPES = (("cuda", "core"), ("cuda", "cores"), ("stream", "processors"))
DTYPES = frozenset(
    {"fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "fp6", "fp4", "int8", "int4", "int32"}
)
_NEGATIONS = frozenset({"no", "not", "non", "without"})
_GENITIVE = re.compile(r"(?<=\w)['’]s\b|(?<=\b[A-Z]\d\d)(?<!L40)s\b|(?<=\b[A-Z]\d\d\d)s\b")


class Topic(msgspec.Struct, frozen=True):
    """What a piece of text speaks of."""

    concepts: frozenset[str]
    density: Density | None
    die: bool
    words: frozenset[str] = frozenset()
    """The words themselves, for labels that repeat a row's own."""

    def covers(self, other: Topic) -> bool:
        """Whether everything that ``other`` (a label) names is named here (a row)."""
        if not other.concepts or not (other.concepts & self.concepts):
            return False
        strict = other.concepts - DTYPES
        if not strict <= self.concepts:
            return False
        dtypes = other.concepts & DTYPES
        mine = self.concepts & DTYPES
        return not dtypes or bool(dtypes & mine)


def tokens(text: str) -> list[str]:
    """Lower-case words and numbers; ``H100's`` and ``H100s`` are the H100."""
    return _TOKEN.findall(without_genitive(text).casefold())


def without_genitive(text: str) -> str:
    """``H100's`` and ``H100s`` without their ending."""
    return _GENITIVE.sub("", text)


def singular(word: str) -> str:
    """A word in lower case without its plural s."""
    low = word.casefold()
    return low if low.endswith("ss") or low == "s" else low.removesuffix("s")


def concept_of(word: str, after: str = "", before: str = "") -> str:
    """The concept of a word, alone or with the word beside it, or nothing."""
    return _PAIRS.get((word, after)) or _PAIRS.get((before, word)) or _ALIKE.get(word, "")


def of_rate(words: Iterable[str]) -> list[str]:
    """Words of a label beside a rate, where ``CUDA cores`` are no lanes but the vector pipe."""
    kept: list[str] = []
    for word in words:
        if kept and (kept[-1], word) in _PIPES:
            kept[-1] = "vector"
        else:
            kept.append(word)
    return kept


def topic(words: Iterable[str]) -> Topic:
    """The concepts of some words."""
    listed = list(words)
    found: set[str] = set()
    density: Density | None = None
    position = 0
    while position < len(listed):
        word = listed[position]
        pair = _PAIRS.get((word, listed[position + 1])) if position + 1 < len(listed) else None
        if pair:
            found.add(pair)
            position += 2
            continue
        if word in ("dense", "sparse", "sparsity"):
            negated = position > 0 and listed[position - 1] in _NEGATIONS
            density = "dense" if (word == "dense") != negated else "sparse"
        if concept := _ALIKE.get(word):
            found.add(concept)
        position += 1
    return Topic(frozenset(found), density, "die" in listed or "gcd" in listed, frozenset(listed))

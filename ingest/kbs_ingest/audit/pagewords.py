"""What a chip is called beside its names: its maker, architecture, target and memory."""

from __future__ import annotations

from collections.abc import Iterable

from kbs_engine.facts import Spec
from kbs_ingest.audit.vocabulary import MEMORY_KIND, joined
from kbs_ingest.audit.words import tokens
from kbs_ingest.wiki.hardware import HardwareFront, SpecPage

_MAKERS = {
    "nvidia": frozenset({"nvidia", "geforce", "quadro", "tesla", "cuda"}),
    "amd": frozenset({"amd", "instinct", "radeon", "rocm", "hip"}),
}


def page_words(pages: Iterable[SpecPage]) -> dict[str, frozenset[str]]:
    """Chip to lower-case words, from the front matter of its page and the memory it states."""
    found: dict[str, frozenset[str]] = {}
    for page in pages:
        front = page.front
        if isinstance(front, HardwareFront):
            names = (front.name, *front.aliases, *front.ambiguous, front.architecture)
            words = set(tokens(joined(" ".join(names)))) | _MAKERS[front.vendor]
            words |= _targets(front.arch) | _memory(page.specs)
            words |= {word.rstrip("0123456789") for word in tokens(front.architecture)}
            found[front.id] = found.get(front.id, frozenset()) | words
    return found


def _targets(arch: str) -> set[str]:
    """``sm_90a`` is also sm_90, and its compute capability."""
    whole = arch.replace("_", "").casefold()
    if not whole.startswith("sm"):
        return {whole}
    plain = whole.rstrip("abcdefghijklmnopqrstuvwxyz")
    return {whole, plain, f"cc{plain.removeprefix('sm')}"}


def _memory(specs: Iterable[Spec]) -> set[str]:
    """Kinds of the chip's own memory, with the family of each."""
    kinds = {
        word
        for spec in specs
        if spec.metric.startswith("memory_")
        for word in tokens(f"{spec.words} {spec.value if isinstance(spec.value, str) else ''}")
        if MEMORY_KIND.fullmatch(word)
    }
    families = {family for kind in kinds for family in ("hbm", "gddr") if kind.startswith(family)}
    return kinds | families

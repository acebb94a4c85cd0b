"""Architectures and mnemonics of signatures against what the wiki knows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from kbs_engine.signatures import OpcodePattern
from kbs_ingest.wiki.faults import near
from kbs_ingest.wiki.hardware import MeasuredFront
from kbs_ingest.wiki.model import SignatureFile
from kbs_ingest.wikicheck.mnemonics import AMD, NVIDIA
from kbs_ingest.wikicheck.model import Collected, Collector

_WORD = re.compile(r"\b(?:[A-Z][A-Z0-9]*[A-Z0-9]|[a-z]+_[a-z0-9_]+)")


def check_opcodes(wiki: Collected, out: Collector) -> None:
    """An architecture that no page has is a fault, a mnemonic seen nowhere else a warning."""
    archs = _archs(wiki)
    by_file = {
        name: {mnemonic for pattern in _patterns(found) if (mnemonic := _mnemonic(pattern))}
        for name, found in wiki.merged.signatures.items()
    }
    words = _words(wiki)
    for name, found in wiki.merged.signatures.items():
        where = f"{found.citation.path}:{found.citation.line}"
        named = sorted({arch for claim in found.signature.claims for arch in claim.arch})
        for arch in named:
            if archs and arch not in archs:
                out.add(
                    where,
                    "signature_arch",
                    f"the signature of {name} speaks of {arch}, which no hardware page and no "
                    "feature has",
                    near(arch, archs) or "correct the target, or add its page",
                )
        others = words.union(NVIDIA, *(held for other, held in by_file.items() if other != name))
        for mnemonic in sorted(by_file[name]):
            if AMD.fullmatch(mnemonic) or mnemonic.strip("*") == "":
                continue
            if not any(fnmatchcase(word, mnemonic) for word in others):
                out.add(
                    where,
                    "opcode",
                    f"the signature of {name} asks for {mnemonic}, which no list of "
                    "mnemonics, no page of isa/ and no other signature names",
                    near(mnemonic, others) or "check its spelling",
                    severity="warning",
                )


def _archs(wiki: Collected) -> set[str]:
    heads = (page.front for page in wiki.merged.pages.values())
    pages = {head.arch for head in heads if not isinstance(head, MeasuredFront) and head.arch}
    return pages | {arch for one in wiki.merged.features.values() for arch in one.archs}


def _patterns(found: SignatureFile) -> Iterator[OpcodePattern]:
    for claim in found.signature.claims:
        yield from (*claim.all_of, *claim.any_of, *claim.none_of)


def _mnemonic(pattern: OpcodePattern) -> str:
    return pattern.opcode.split(".")[0].strip()


def _words(wiki: Collected) -> set[str]:
    """What the guides in isa/ name, probes and methods left out."""
    found: set[str] = set()
    for file in wiki.files:
        if file.suffix == ".md" and file.relative.startswith("isa/"):
            found.update(_WORD.findall(file.data.decode("utf-8", "replace")))
    return found

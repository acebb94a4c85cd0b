"""A wiki of one or more roots: read, laid over each other, checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import msgspec

from kbs_engine.metrics import MetricMap
from kbs_ingest.rules.columns import Columns
from kbs_ingest.wiki import shadows
from kbs_ingest.wiki.chips import build_chips
from kbs_ingest.wiki.crosscheck import Names, crosscheck
from kbs_ingest.wiki.faults import Faults
from kbs_ingest.wiki.model import ChipPage, Chunk, Wiki
from kbs_ingest.wiki.places import shown_place
from kbs_ingest.wiki.rootreader import RootReader
from kbs_ingest.wiki.source import WikiFile, name_roots, read_files
from kbs_ingest.wiki.words import check_words

Progress = Callable[[str, int, int], None]


def list_wiki(roots: Sequence[Path]) -> list[WikiFile]:
    """All files of all roots; WikiError lists those that are refused."""
    faults = Faults()
    named = name_roots(roots)
    files = [file for root in named for file in read_files(root, faults)]
    faults.raise_if_any(partial(shown_place, roots=named))
    return files


def load_wiki(roots: Sequence[Path]) -> Wiki:
    """Read the wiki; later roots replace ids of earlier ones. WikiError lists all faults."""
    return load_files(list_wiki(roots))


def load_files(files: Sequence[WikiFile], progress: Progress | None = None) -> Wiki:
    """Read files that ``list_wiki`` found."""
    faults = Faults()
    merged, chips = read_together(files, faults, progress)
    named = {file.root.name: file.root for file in files}
    faults.raise_if_any(partial(shown_place, roots=tuple(named.values())))
    return Wiki(
        chips=chips,
        rules={id_: page.rule for id_, page in sorted(merged.rules.items())},
        methods={id_: page.method for id_, page in sorted(merged.methods.items())},
        groups=tuple(frozenset(group) for part in merged.groups for group in part.groups),
        features=dict(sorted(merged.features.items())),
        signatures=dict(sorted(merged.signatures.items())),
        metric_maps=dict(sorted(merged.maps.items())),
        cases=dict(sorted(merged.cases.items())),
        chunks=_chunks(merged),
        files={file.path: file.sha256 for file in files},
        shadows=shadows.notes(shadows.differences(merged.shadowed)),
    )


def read_together(
    files: Sequence[WikiFile], faults: Faults, progress: Progress | None = None
) -> tuple[RootReader, dict[str, ChipPage]]:
    """All roots laid over each other, with the chips; ``faults`` gathers what is wrong."""
    readers: dict[str, RootReader] = {}
    for number, file in enumerate(files):
        readers.setdefault(file.root.name, RootReader(faults)).read(file)
        if progress:
            progress("reading", number + 1, len(files))
    merged = _overlay(list(readers.values()), faults)
    names = Names(
        methods=merged.methods,
        rules=merged.rules,
        features=merged.features,
        signatures=merged.signatures,
        groups=tuple(merged.groups),
        columns=Columns(name for part in merged.maps.values() for name in part.metrics),
        lost=frozenset(merged.lost),
    )
    crosscheck(names, faults)
    known = {
        "symptoms": {*merged.rules, *names.without("symptoms")},
        "methods": {*merged.methods, *names.without("methods")},
    }
    for words in merged.words:
        check_words(words, known, faults)
    lost = names.without("hardware")
    return merged, build_chips(merged.pages, list(merged.measured.values()), faults, lost)


def _overlay(readers: Sequence[RootReader], faults: Faults) -> RootReader:
    merged = RootReader(faults)
    for reader in readers:
        for kept, new in ((merged.pages, reader.pages), (merged.measured, reader.measured)):
            merged.shadowed.extend((kept[id_], new[id_]) for id_ in kept.keys() & new.keys())
            kept.update(new)
        merged.methods.update(reader.methods)
        merged.rules.update(reader.rules)
        merged.features.update(reader.features)
        merged.groups.extend(reader.groups)
        merged.words.extend(reader.words)
        merged.signatures.update(reader.signatures)
        merged.cases.update(reader.cases)
        merged.chunks.extend(reader.chunks)
        merged.lost.update(reader.lost)
        for vendor, part in reader.maps.items():
            before = merged.maps.get(vendor)
            metrics = {**(before.metrics if before else {}), **part.metrics}
            merged.maps[vendor] = MetricMap(vendor=part.vendor, metrics=metrics)
    return merged


def _chunks(merged: RootReader) -> tuple[Chunk, ...]:
    """Chunks of pages that no later root replaced, sorted by place."""
    current: dict[tuple[str, str], str] = {
        **{("method", id_): page.method.citation.path for id_, page in merged.methods.items()},
        **{("symptom", id_): page.rule.citation.path for id_, page in merged.rules.items()},
        **{(page.front.kind, id_): page.citation.path for id_, page in merged.pages.items()},
        **{("case", id_): case.citation.path for id_, case in merged.cases.items()},
    }
    kinds = {id_: page.front.kind for id_, page in merged.pages.items()}
    kept = {}
    for chunk in merged.chunks:
        kind = kinds.get(chunk.owner, chunk.kind) if chunk.kind == "spec" else chunk.kind
        if current.get((kind, chunk.owner), chunk.path) == chunk.path:
            kept[chunk.id] = _with_archs(chunk, merged)
    return tuple(sorted(kept.values(), key=lambda chunk: (chunk.path, chunk.line, chunk.id)))


def _with_archs(chunk: Chunk, merged: RootReader) -> Chunk:
    """A method's text speaks for the architectures that have all features it requires."""
    page = merged.methods.get(chunk.owner) if chunk.kind == "method" else None
    if page is None or not page.method.requires or chunk.archs:
        return chunk
    have = [
        set(merged.features[name].archs) for name in page.method.requires if name in merged.features
    ]
    archs = tuple(sorted(set.intersection(*have))) if have else ()
    return msgspec.structs.replace(chunk, archs=archs)

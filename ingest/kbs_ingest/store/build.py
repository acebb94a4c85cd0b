"""One generation built in its folder: DuckDB file, LanceDB tables, similarities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb
import msgspec

from kbs_ingest.embedding import Embedder
from kbs_ingest.experience.lore import Lore
from kbs_ingest.store import experience, similarity, tables, vectors
from kbs_ingest.store.experience import BadLine, Loaded, Stamp
from kbs_ingest.store.texts import embedding_text, has_meaning, text_hash
from kbs_ingest.wiki import Wiki, load_files
from kbs_ingest.wiki.model import Chunk
from kbs_ingest.wiki.source import WikiFile

Progress = Callable[[str, int, int], None]


class Built(msgspec.Struct, frozen=True):
    """What went into a generation."""

    counts: dict[str, int]
    embedded: int
    bad: tuple[BadLine, ...]
    shadows: tuple[str, ...] = ()


def build(
    folder: Path,
    files: Sequence[WikiFile],
    segments: Path,
    now: Stamp,
    embedder: Embedder,
    *,
    earlier: Path | None,
    progress: Progress | None,
) -> Built:
    """Fill ``folder``; WikiError when the wiki is at fault.

    Args:
        folder: of the new generation.
        files: pages of the wikis.
        segments: the folder of the experience log.
        now: its segments as they are to be read.
        embedder: makes vectors of texts.
        earlier: the generation before, which lends its vectors.
        progress: told what is being done.
    """
    wiki = load_files(files, progress)
    lance = folder / "lance"
    hashes, found, embedded = _vectors(wiki.chunks, embedder, earlier, progress)
    if progress:
        progress("writing", 0, 1)
    vectors.write_chunks(lance, wiki.chunks, hashes, found)
    if found:
        likeness = similarity.by_vectors(wiki.chunks, [found.get(key) for key in hashes])
    else:
        likeness = similarity.by_bm25(wiki.chunks, vectors.VectorStore(lance))
    lore = Lore.of_wiki(wiki)
    loaded: list[Loaded] = []

    def fill(connection: duckdb.DuckDBPyConnection) -> None:
        loaded.append(experience.load(connection, segments, now, lore, progress))
        vectors.write_outcomes(lance, experience.texts(connection))

    counts = _counts(wiki)
    tables.write_tables(
        folder / "kbs.duckdb",
        wiki,
        fill,
        likeness,
        {"embedding_model": embedder.ref.identity, **{k: str(v) for k, v in counts.items()}},
    )
    if progress:
        progress("writing", 1, 1)
    return Built({**counts, **loaded[0].counts}, embedded, loaded[0].bad, wiki.shadows)


def _vectors(
    chunks: Sequence[Chunk],
    embedder: Embedder,
    earlier: Path | None,
    progress: Progress | None,
) -> tuple[list[str], dict[str, list[float]], int]:
    """Text hashes, vectors by hash, and how many had to be computed."""
    texts = [embedding_text(chunk) for chunk in chunks]
    hashes = [text_hash(text, embedder.ref.identity) for text in texts]
    if not embedder.ref.present:
        return hashes, {}, 0
    kept = vectors.stored_vectors(earlier / "lance") if earlier else {}
    wanted = {
        key: text
        for key, text, chunk in zip(hashes, texts, chunks, strict=True)
        if has_meaning(chunk)
    }
    found = {key: kept[key] for key in wanted if key in kept}
    missing = [key for key in wanted if key not in found]

    def step(done: int) -> None:
        if progress:
            progress("embedding", done, len(missing))

    new = embedder.encode([wanted[key] for key in missing], step)
    found.update(zip(missing, new, strict=True))
    return hashes, found, len(missing)


def _counts(wiki: Wiki) -> dict[str, int]:
    return {
        "files": len(wiki.files),
        "chips": len(wiki.chips),
        "specs": sum(len(page.chip.specs) for page in wiki.chips.values()),
        "methods": len(wiki.methods),
        "symptoms": len(wiki.rules),
        "signatures": len(wiki.signatures),
        "features": len(wiki.features),
        "metrics": sum(len(found.metrics) for found in wiki.metric_maps.values()),
        "cases": len(wiki.cases),
        "chunks": len(wiki.chunks),
    }

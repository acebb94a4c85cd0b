"""Search over the pieces of text: BM25 and vectors, put together by rank."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb
import msgspec

from kbs_engine.errors import UsageError
from kbs_ingest.embedding import Embedder, ModelRef, find_model
from kbs_ingest.store.layout import Manifest
from kbs_ingest.store.vectors import Filter, Hits, VectorStore
from kbs_ingest.wiki.model import Chunk

__all__ = ["Filter", "Hit", "SearchResult", "Searcher", "fuse", "kind_names"]

RRF_K = 60
UNLIKE = 0.2
"""Cosine of short technical texts that have nothing to do with each other."""
NO_WORD = "no word of the question stands in these pages: they are the nearest by meaning alone"
DEPTH = 100
MAX_LIMIT = 1000
MAX_ROWS = 3
INCLUDED = {"hardware": ("hardware", "limits", "measured", "spec")}


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of text with its score."""

    chunk: Chunk
    score: float


class SearchResult(msgspec.Struct, frozen=True, kw_only=True):
    """What was found, and how it was searched."""

    results: tuple[Hit, ...]
    mode: str
    """``hybrid`` or ``bm25``."""
    note: str = ""


def kind_names(kinds: Sequence[str]) -> tuple[str, ...]:
    """Kinds with what they include: hardware pages also as limits, measured and single rows."""
    return tuple(sorted({part for kind in kinds for part in INCLUDED.get(kind, (kind,))}))


def few_rows(hits: Hits, kinds: dict[str, str], limit: int) -> Hits:
    """At most ``MAX_ROWS`` single rows of spec tables, so that they do not crowd out pages."""
    kept: Hits = []
    rows = 0
    for id_, score in hits:
        rows += kinds.get(id_) == "spec"
        if kinds.get(id_) != "spec" or rows <= MAX_ROWS:
            kept.append((id_, score))
    return kept[:limit]


def fuse(rankings: Sequence[Hits], limit: int) -> Hits:
    """Reciprocal rank fusion: Σ 1 / (60 + rank), ties by id."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, (id_, _) in enumerate(ranking, start=1):
            scores[id_] = scores.get(id_, 0.0) + 1 / (RRF_K + rank)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:limit]


class Searcher:
    """Searches one generation; the model is loaded by the first hybrid search."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest
    ) -> None:
        """Keep what is needed; nothing heavy is loaded yet."""
        self._connection = connection
        self._vectors = VectorStore(folder)
        self._ref = ModelRef(identity=manifest.model, location=manifest.model_location)
        self._embedder: Embedder | None = None
        self._note = ""
        self._decided = False

    def search(self, text: str, wanted: Filter, limit: int) -> SearchResult:
        """The best ``limit`` pieces; UsageError for an empty question."""
        if not text.strip():
            raise UsageError("the question is empty", remedy="say what you look for")
        if not 1 <= limit <= MAX_LIMIT:
            raise UsageError(f"limit is {limit}", remedy=f"use 1 to {MAX_LIMIT}")
        depth = max(DEPTH, limit)
        words = self._vectors.bm25(text, wanted, depth)
        embedder = self._model()
        if embedder is None:
            return self._result(words, wanted, limit, "bm25")
        near = self._vectors.nearest(embedder.encode_one(text), wanted, depth)
        if not words:
            near = [(id_, score) for id_, score in near if 1 + score >= UNLIKE]
        found = self._result(fuse([words, near], 2 * depth), wanted, limit, "hybrid")
        if words or not found.results:
            return found
        return msgspec.structs.replace(found, note=NO_WORD)

    def _model(self) -> Embedder | None:
        """The model that the index was built with, if it is here."""
        if not self._decided:
            self._decided = True
            if not self._ref.present:
                self._note = "the index has no vectors (no embedding model): BM25 alone"
                return None
            here = find_model()
            known = here.identity == self._ref.identity
            location = here.location if known else self._ref.location
            if here.present and (known or Path(location).is_dir()):
                self._embedder = Embedder(ModelRef(identity=self._ref.identity, location=location))
            else:
                self._note = (
                    f"the model {self._ref.identity} of the index is not installed here: BM25 alone"
                )
        return self._embedder

    def _result(self, hits: Hits, wanted: Filter, limit: int, mode: str) -> SearchResult:
        rows = self._connection.execute(
            "SELECT id, record FROM chunks WHERE list_contains(?, id)",
            [[id_ for id_, _ in hits]],
        ).fetchall()
        chunks = {id_: msgspec.json.decode(record, type=Chunk) for id_, record in rows}
        if not wanted.kinds:
            hits = few_rows(hits, {id_: chunk.kind for id_, chunk in chunks.items()}, limit)
        hits = hits[:limit]
        return SearchResult(
            results=tuple(Hit(chunk=chunks[id_], score=score) for id_, score in hits),
            mode=mode,
            note=self._note,
        )

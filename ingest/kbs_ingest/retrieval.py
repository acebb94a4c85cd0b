"""Search by words and by meaning, each alone or fused, over one kind of page.

`kbs query` fuses both. Evaluations compare them, and partial knowledge asks for symptoms and
methods apart from the rest of the wiki.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from kbs_engine.hints import Published
from kbs_engine.partial_words import family_of, language_of
from kbs_ingest.embedding import Embedder, ModelRef, find_model
from kbs_ingest.store.reader import Store
from kbs_ingest.store.searching import UNLIKE, fuse
from kbs_ingest.store.vectors import Filter, Hits, VectorStore
from kbs_ingest.wiki.model import Case, Chunk

DEPTH: Final = 80
ALIKE: Final = 0.7
"""Cosine of short technical texts that have everything to do with each other."""


class Retrieval:
    """Owners of pieces of text (methods, symptoms, cases), best first."""

    def __init__(self, store: Store) -> None:
        """Keep the index; nothing heavy is loaded yet."""
        self._store = store
        self._vectors = VectorStore(store.folder / "lance")
        self._embed = functools.lru_cache(maxsize=512)(self._encode)
        self._bm25 = functools.lru_cache(maxsize=2048)(self._search_words)
        self._nearest = functools.lru_cache(maxsize=2048)(self._search_meaning)

    @functools.cached_property
    def note(self) -> str:
        """Why there is no search by meaning; empty when there is."""
        return "" if self._embedder else "the index has no vectors, or its model is not here"

    def words(self, text: str, kind: str, language: str | None = None) -> list[str]:
        """By BM25 alone."""
        return self._owners(self._bm25(text, kind, language))

    def meaning(self, text: str, kind: str, language: str | None = None) -> list[str] | None:
        """By vectors alone; None without a model."""
        found = self._nearest(text, kind, language)
        return None if found is None else self._owners(found)

    def both(self, text: str, kind: str, language: str | None = None) -> list[str]:
        """Both, fused by reciprocal rank; words alone without a model."""
        rankings = [self._bm25(text, kind, language)]
        near = self._nearest(text, kind, language)
        if near is not None:
            rankings.append(near)
        return self._owners(fuse(rankings, 2 * DEPTH))

    def near_words(self, text: str, kind: str, language: str | None = None) -> dict[str, float]:
        """Closeness (0-1) of owners by BM25, against the best of them."""
        scores = self._by_owner(self._bm25(text, kind, language))
        best = max(scores.values(), default=0.0)
        return {name: value / best for name, value in scores.items()} if best > 0 else {}

    def near_meaning(self, text: str, kind: str, language: str | None = None) -> dict[str, float]:
        """Closeness (0-1) of owners by vectors; empty without a model."""
        found = self._nearest(text, kind, language) or []
        span = ALIKE - UNLIKE
        return {
            name: min(max((1 + value - UNLIKE) / span, 0.0), 1.0)
            for name, value in self._by_owner(found).items()
        }

    def published(self) -> tuple[Published, ...]:
        """All published cases, as evidence for and against methods."""
        return self._published

    @functools.cached_property
    def _published(self) -> tuple[Published, ...]:
        return tuple(_published(case) for case in self._store.cases())

    @functools.cached_property
    def _owner_of(self) -> dict[str, str]:
        rows = self._store.connection.execute("SELECT id, record FROM chunks").fetchall()
        chunks = ((name, msgspec.json.decode(record, type=Chunk)) for name, record in rows)
        return {name: chunk.owner for name, chunk in chunks}

    @functools.cached_property
    def _embedder(self) -> Embedder | None:
        manifest = self._store.manifest
        ref = ModelRef(identity=manifest.model, location=manifest.model_location)
        if not ref.present:
            return None
        here = find_model()
        if not here.present:
            return None
        if here.identity == ref.identity:
            return Embedder(here)
        return Embedder(ref) if Path(ref.location).is_dir() else None

    def _encode(self, text: str) -> tuple[float, ...] | None:
        return tuple(self._embedder.encode([text])[0]) if self._embedder else None

    def _search_words(self, text: str, kind: str, language: str | None) -> Hits:
        if not text.strip():
            return []
        return self._vectors.bm25(text, Filter(kinds=(kind,), language=language), DEPTH)

    def _search_meaning(self, text: str, kind: str, language: str | None) -> Hits | None:
        if self._embedder is None:
            return None
        if not text.strip():
            return []
        vector = self._embed(text) or ()
        return self._vectors.nearest(vector, Filter(kinds=(kind,), language=language), DEPTH)

    def _by_owner(self, hits: Hits) -> dict[str, float]:
        """The score of the best piece of each owner."""
        found: dict[str, float] = {}
        for name, score in hits:
            owner = self._owner_of.get(name, "")
            if owner:
                found[owner] = max(score, found.get(owner, score))
        return found

    def _owners(self, hits: Sequence[tuple[str, float]]) -> list[str]:
        """Each owner once, at its best piece."""
        owners = (self._owner_of.get(name, "") for name, _ in hits)
        return list(dict.fromkeys(owner for owner in owners if owner))


def _published(case: Case) -> Published:
    raw = case.raw
    methods = raw.get("methods") or ()
    reference = raw.get("reference")
    source = reference.get("url") if isinstance(reference, dict) else None
    return Published(
        id=case.id,
        methods=frozenset(name for name in methods if isinstance(name, str)),
        helped=raw.get("verdict", "helped") == "helped",
        family=family_of(str(raw.get("kernel") or "")),
        language=language_of(str(raw.get("language") or "")),
        source=str(source or case.id),
    )

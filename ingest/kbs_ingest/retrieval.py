"""Search by words and by meaning, each alone or fused, over one kind of page.

`kbs query` fuses both. Evaluations compare them, and partial knowledge asks for symptoms and
methods apart from the rest of the wiki.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from kbs_ingest.embedding import Embedder, ModelRef, find_model
from kbs_ingest.store.reader import Store
from kbs_ingest.store.searching import fuse
from kbs_ingest.store.vectors import Filter, Hits, VectorStore
from kbs_ingest.wiki.model import Chunk

DEPTH: Final = 80
WORDS: Final = 0.65
"""Weight of BM25 beside vectors in ``scored``."""
_ID: Final = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")


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

    def scored(self, text: str, kind: str, language: str | None = None) -> dict[str, float]:
        """Closeness (0-1) of owners to ``text``: mostly by words, the rest by meaning.

        Words weigh more: a page that shares the rare words of a question is nearly always about
        it, while vectors of short technical texts all lie near each other.
        """
        words = _shares(self._by_owner(self._bm25(text, kind, language)))
        near = self._nearest(text, kind, language)
        if near is None:
            return words
        meaning = _shares(self._by_owner(near))
        names = words.keys() | meaning.keys()
        return {
            name: WORDS * words.get(name, 0.0) + (1 - WORDS) * meaning.get(name, 0.0)
            for name in names
        }

    def case_ids(self, case: str) -> frozenset[str]:
        """Every id that a published case names: symptoms and methods."""
        return self._case_ids.get(case, frozenset())

    @functools.cached_property
    def _case_ids(self) -> dict[str, frozenset[str]]:
        return {
            case.id: frozenset(_ID.findall(msgspec.json.encode(case.raw).decode()))
            for case in self._store.cases()
            if case.raw.get("verdict", "helped") == "helped"
        }

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


def _shares(scores: dict[str, float]) -> dict[str, float]:
    """Scores between the worst that was found (0) and the best (1)."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    span = high - low
    return {name: (value - low) / span if span else 1.0 for name, value in scores.items()}

"""Likeness of symptoms to methods and pages, worked out once at ingest.

With a model: the largest cosine between the symptom's text and any piece of the method or
page, negative ones as 0. Without: the largest BM25 score, divided by the symptom's best.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from kbs_ingest.store.vectors import Filter, VectorStore
from kbs_ingest.wiki.model import Chunk

PAGES_KEPT = 10
_ALL = 2000
_PAGE_KINDS = ("isa", "profiling", "case", "hardware", "limits", "measured", "example", "page")


class Similarities(msgspec.Struct, frozen=True):
    """Scores 0–1: (symptom, method) and the best pages (symptom, chunk id)."""

    methods: dict[tuple[str, str], float]
    pages: dict[tuple[str, str], float]


def by_vectors(chunks: Sequence[Chunk], vectors: Sequence[Sequence[float] | None]) -> Similarities:
    """Cosines of unit vectors, one for each chunk; a chunk without a vector scores 0."""
    import numpy as np

    size = len(next((vector for vector in vectors if vector), ()))
    none = [0.0] * size
    matrix = np.asarray([vector or none for vector in vectors], dtype=np.float32)
    symptoms = [n for n, chunk in enumerate(chunks) if chunk.kind == "symptom"]
    if not symptoms:
        return Similarities({}, {})
    scores = np.clip(matrix[symptoms] @ matrix.T, 0.0, 1.0).tolist()
    return _collect(chunks, {chunks[n].owner: row for n, row in zip(symptoms, scores, strict=True)})


def by_bm25(chunks: Sequence[Chunk], store: VectorStore) -> Similarities:
    """BM25 scores of each symptom's text against everything else."""
    position = {chunk.id: n for n, chunk in enumerate(chunks)}
    found: dict[str, list[float]] = {}
    for chunk in chunks:
        if chunk.kind != "symptom":
            continue
        row = [0.0] * len(chunks)
        kinds = ("method", *_PAGE_KINDS)
        for id_, score in store.bm25(chunk.text, Filter(kinds=kinds), _ALL):
            row[position[id_]] = score
        best = max(row, default=0.0)
        found[chunk.owner] = [score / best for score in row] if best > 0 else row
    return _collect(chunks, found)


def _collect(chunks: Sequence[Chunk], scores: Mapping[str, Sequence[float]]) -> Similarities:
    methods: dict[tuple[str, str], float] = {}
    pages: dict[tuple[str, str], float] = {}
    for symptom, row in sorted(scores.items()):
        near: list[tuple[float, str]] = []
        for chunk, score in zip(chunks, row, strict=True):
            if chunk.kind == "method":
                key = (symptom, chunk.owner)
                methods[key] = max(methods.get(key, 0.0), round(score, 6))
            elif chunk.kind in _PAGE_KINDS and score > 0:
                near.append((-round(score, 6), chunk.id))
        pages.update({(symptom, id_): -score for score, id_ in sorted(near)[:PAGES_KEPT]})
    return Similarities(methods, pages)

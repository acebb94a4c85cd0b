"""LanceDB tables of one generation. The only module that loads lancedb and pyarrow.

``chunks``: text with a BM25 index and, where a model is present, a vector searched exactly.
``outcomes``: text and the fingerprint vector. Equal scores are ordered by id.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from kbs_engine.errors import StoreError, UsageError
from kbs_ingest.store.layout import ingest_command
from kbs_ingest.wiki.model import Chunk

_SAFE = re.compile(r"[A-Za-z0-9_.+-]+")
_EXTRA = 64
"""How many more hits are asked for, so that ties at the cut are settled by id."""
Vector = Sequence[float]
Hits = list[tuple[str, float]]


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """Which pieces of text may answer."""

    kinds: tuple[str, ...] = ()
    arch: str | None = None
    language: str | None = None
    axis: str | None = None

    def sql(self) -> str | None:
        """The condition; a piece that names no language or architecture speaks for all."""
        parts = []
        if self.kinds:
            parts.append(f"kind IN ({', '.join(_quoted(kind) for kind in self.kinds)})")
        if self.axis:
            parts.append(f"axis = {_quoted(self.axis)}")
        for column, value in (("arch", self.arch), ("language", self.language)):
            if value:
                parts.append(f"({column} = '' OR {column} LIKE '%|{_quoted(value)[1:-1]}|%')")
        return " AND ".join(parts) or None


def _quoted(value: str) -> str:
    if not _SAFE.fullmatch(value):
        raise UsageError(
            f"{value!r} is no filter value", remedy="use letters, digits, '_', '.', '+' or '-'"
        )
    return f"'{value}'"


def search_text(chunk: Chunk) -> str:
    """What BM25 reads: the path of headings and the text."""
    return "\n".join((" > ".join(chunk.heading) or chunk.title, chunk.text))


def write_chunks(
    folder: Path, chunks: Sequence[Chunk], hashes: Sequence[str], vectors: Mapping[str, Vector]
) -> None:
    """Create the table with its BM25 index; ``vectors`` by text hash, empty without a model."""
    pa = importlib.import_module("pyarrow")
    data: dict[str, Any] = {
        "id": pa.array([chunk.id for chunk in chunks], pa.string()),
        "kind": pa.array([chunk.kind for chunk in chunks], pa.string()),
        "owner": pa.array([chunk.owner for chunk in chunks], pa.string()),
        "path": pa.array([chunk.path for chunk in chunks], pa.string()),
        "line": pa.array([chunk.line for chunk in chunks], pa.int64()),
        "title": pa.array([chunk.title for chunk in chunks], pa.string()),
        "axis": pa.array([chunk.axis for chunk in chunks], pa.string()),
        "language": pa.array([_joined(chunk.languages) for chunk in chunks], pa.string()),
        "arch": pa.array([_joined(chunk.archs) for chunk in chunks], pa.string()),
        "text": pa.array([search_text(chunk) for chunk in chunks], pa.string()),
        "text_hash": pa.array(list(hashes), pa.string()),
    }
    if vectors:
        size = len(next(iter(vectors.values())))
        rows = [vectors.get(key) for key in hashes]
        data["vector"] = pa.array(rows, pa.list_(pa.float32(), size))
    table = _connect(folder).create_table("chunks", data=pa.table(data), on_bad_vectors="null")
    if chunks:
        table.create_fts_index("text")


def write_outcomes(folder: Path, outcomes: Any) -> None:
    """Create the table of outcomes from an Arrow table of id, method, text and vector.

    It has no index of words: searches of the log read its segments, and building one takes
    longer than everything else that ingest does with a large log.
    """
    if outcomes.num_rows:
        _connect(folder).create_table("outcomes", data=outcomes)


def stored_vectors(folder: Path) -> dict[str, list[float]]:
    """Vectors of an earlier generation by text hash; empty where it has none."""
    if not (folder / "chunks.lance").is_dir():
        return {}
    table = _connect(folder).open_table("chunks")
    if "vector" not in table.schema.names:
        return {}
    data = table.to_arrow()
    rows = zip(data["text_hash"].to_pylist(), data["vector"].to_pylist(), strict=True)
    return {key: vector for key, vector in rows if vector is not None}


class VectorStore:
    """The tables of one generation, for reading."""

    def __init__(self, folder: Path) -> None:
        """Keep the folder; it is opened by the first search."""
        self._folder = folder
        self._table: Any = None
        home = folder.parents[2]  # home/index/gen-000012/lance
        self._remedy = f"run {ingest_command(home, rebuild=True)}"

    def bm25(self, text: str, wanted: Filter, limit: int) -> Hits:
        """Best pieces by BM25, score first."""
        query = _words(text)
        if not query:
            return []
        search = self._chunks().search(query, query_type="fts")
        return self._run(search, wanted, limit, "_score", sign=1.0)

    def nearest(self, vector: Vector, wanted: Filter, limit: int) -> Hits:
        """Best pieces by cosine similarity, exactly."""
        search = self._chunks().search(list(vector), query_type="vector")
        return self._run(search.distance_type("cosine"), wanted, limit, "_distance", sign=-1.0)

    def _run(
        self,
        search: Any,
        wanted: Filter,
        limit: int,
        column: str,
        *,
        sign: float,
    ) -> Hits:
        condition = wanted.sql()
        if condition:
            search = search.where(condition, prefilter=True)
        try:
            rows = search.select(["id", column]).limit(limit + _EXTRA).to_list()
        except (OSError, RuntimeError, ValueError) as error:
            raise StoreError(
                f"the search index cannot be read: {str(error).splitlines()[0]}",
                where=str(self._folder),
                remedy=self._remedy,
            ) from error
        hits = [(str(row["id"]), round(sign * float(row[column]), 6)) for row in rows]
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:limit]

    def _chunks(self) -> Any:
        if self._table is None:
            try:
                self._table = _connect(self._folder).open_table("chunks")
            except (OSError, RuntimeError, ValueError) as error:
                raise StoreError(
                    f"the search index is missing: {str(error).splitlines()[0]}",
                    where=str(self._folder),
                    remedy=self._remedy,
                ) from error
        return self._table


def _words(text: str) -> str:
    """Plain words: the query language of the index is not offered."""
    return " ".join(re.findall(r"\w+", text))


def _joined(values: Sequence[str]) -> str:
    return f"|{'|'.join(values)}|" if values else ""


def _connect(folder: Path) -> Any:
    lancedb = importlib.import_module("lancedb")
    return lancedb.connect(str(folder))

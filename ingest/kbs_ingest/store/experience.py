"""The experience log in the index: loaded in batches, and what is newer read beside it."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable, Iterator
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, Final

import duckdb
import msgspec

from kbs_engine.chance import machine_of
from kbs_engine.days import read_day
from kbs_engine.experience.libraries import reached_ns
from kbs_engine.experience.records import Record
from kbs_engine.outcomes import Outcome
from kbs_ingest.experience.lines import BadLine
from kbs_ingest.experience.lore import Lore
from kbs_ingest.experience.places import list_segments
from kbs_ingest.experience.view import Mark, Scan, Seen
from kbs_ingest.store.fingerprint import SIZE, fingerprints
from kbs_ingest.store.judging import counting_rows, judge, task_text

__all__ = [
    "BadLine",
    "Loaded",
    "Stamp",
    "StoredOutcome",
    "load",
    "read_marks",
    "stamp",
    "texts",
]

BATCH: Final = 20_000
Progress = Callable[[str, int, int], None]

TABLES: Final[dict[str, str]] = {
    "outcomes": "id VARCHAR, segment VARCHAR, line BIGINT, start BIGINT, length BIGINT, "
    "method VARCHAR, verdict VARCHAR, kernel VARCHAR, language VARCHAR, chip VARCHAR, "
    "arch VARCHAR, limiter VARCHAR, machine VARCHAR, day DATE, verified BOOLEAN, gain DOUBLE, "
    "after_ns DOUBLE, library_ns DOUBLE, reached_ns DOUBLE, task VARCHAR, "
    "source_hash VARCHAR, doubt VARCHAR, "
    "tunables VARCHAR, dims_class VARCHAR, dtype VARCHAR, "
    f"print FLOAT[{SIZE}], mask FLOAT[{SIZE}]",
    "marks": "id VARCHAR, origin VARCHAR, segment VARCHAR, line BIGINT, record VARCHAR",
    "bad_lines": "file VARCHAR, line BIGINT, reason VARCHAR",
}
_NAMES: Final = tuple(part.split()[0] for part in TABLES["outcomes"].split(", "))


class StoredOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """An outcome with its id and where it stands."""

    id: str
    segment: str
    line: int
    outcome: Outcome


class Stamp(msgspec.Struct, frozen=True, kw_only=True):
    """The segments as they are now: bytes and hash of each."""

    sizes: dict[str, int]
    hashes: dict[str, str]


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """What a load put into the index."""

    outcomes: int
    doubted: int
    marks: int
    bad: tuple[BadLine, ...]

    @property
    def counts(self) -> dict[str, int]:
        """As the manifest counts them."""
        return {
            "outcomes": self.outcomes,
            "quarantined": self.doubted,
            "masks_and_replications": self.marks,
            "bad_lines": len(self.bad),
        }


def stamp(folder: Path) -> Stamp:
    """Size and hash of every segment; a segment that grows meanwhile is taken to here."""
    sizes: dict[str, int] = {}
    hashes: dict[str, str] = {}
    for name, path in list_segments(folder).items():
        found = hashlib.sha256()
        size = 0
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                found.update(block)
                size += len(block)
        sizes[name], hashes[name] = size, found.hexdigest()
    return Stamp(sizes=sizes, hashes=hashes)


def load(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    now: Stamp,
    lore: Lore,
    progress: Progress | None = None,
) -> Loaded:
    """Create and fill the tables of experience from the segments as they were stamped."""
    for name, columns in TABLES.items():
        connection.execute(f"CREATE TABLE {name} ({columns})")
    scan = Scan(folder, lore, sizes=now.sizes)
    count = 0
    for batch in _batches(scan.outcomes()):
        _insert(connection, batch)
        count += len(batch)
        if progress:
            progress("experience", count, count)
    _insert_rows(connection, "bad_lines", [(b.file, b.line, b.reason) for b in scan.bad])
    _insert_rows(connection, "marks", [_mark_row(mark) for mark in scan.marks.values()])
    doubted = connection.sql("SELECT count(*) FROM outcomes WHERE doubt <> ''").fetchall()
    judged = judge(partial(counting_rows, connection, gone=scan.hidden()))
    return Loaded(
        outcomes=count,
        doubted=int(doubted[0][0]) + len(judged.ids),
        marks=len(scan.marks),
        bad=tuple(scan.bad),
    )


def _batches(outcomes: Iterator[Seen]) -> Iterator[list[Seen]]:
    batch: list[Seen] = []
    for seen in outcomes:
        batch.append(seen)
        if len(batch) >= BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _insert(connection: duckdb.DuckDBPyConnection, batch: list[Seen]) -> None:
    """One Arrow table; DuckDB copies its columns without a Python object per cell."""
    pa = importlib.import_module("pyarrow")
    rows = zip(*(_row(seen) for seen in batch), strict=True)
    data = [list(column) for column in rows]
    values, masks = fingerprints([seen.outcome.metrics_before for seen in batch])
    table = pa.table(
        {
            **dict(zip(_NAMES, data, strict=False)),
            "print": _vectors(pa, values, masks),
            "mask": _vectors(pa, masks, masks),
        }
    )
    connection.register("incoming", table)
    connection.execute("INSERT INTO outcomes SELECT * FROM incoming")
    connection.unregister("incoming")


def _row(seen: Seen) -> tuple[Any, ...]:
    outcome, found = seen.outcome, seen.found
    return (
        seen.id, seen.segment, found.number, found.start, found.length, outcome.method,
        outcome.verdict, outcome.kernel, outcome.language, outcome.chip, outcome.arch,
        outcome.limiter, machine_of(outcome), day_of(outcome), outcome.verified, outcome.gain,
        outcome.after_ns, outcome.baseline_ns, reached_ns(outcome), task_text(outcome),
        outcome.source_hash, seen.doubt,
        _tunables(outcome), outcome.dims_class, outcome.dtype,
    )  # fmt: skip


def _tunables(outcome: Outcome) -> str:
    """The assignment as text, the same for the same one; empty where there is none."""
    if not outcome.tunables:
        return ""
    return msgspec.json.encode(outcome.tunables, order="sorted").decode()


def day_of(outcome: Outcome) -> date | None:
    """The day of an outcome, or None where it states none."""
    return read_day(outcome.date)


def _vectors(pa: Any, values: Any, masks: Any) -> Any:
    """Rows of a matrix as vectors; null where too little was measured to compare."""
    flat = pa.array(values.reshape(-1), pa.float32())
    empty = pa.array(masks.sum(axis=1) == 0)
    return pa.FixedSizeListArray.from_arrays(flat, SIZE, mask=empty)


def _insert_rows(
    connection: duckdb.DuckDBPyConnection, name: str, rows: list[tuple[Any, ...]]
) -> None:
    if not rows:
        return
    pa = importlib.import_module("pyarrow")
    names = [part.split()[0] for part in TABLES[name].split(", ")]
    columns = zip(*rows, strict=True)
    table = pa.table({key: list(part) for key, part in zip(names, columns, strict=True)})
    connection.register("incoming", table)
    connection.execute(f"INSERT INTO {name} SELECT * FROM incoming")  # noqa: S608 - own names
    connection.unregister("incoming")


def _mark_row(mark: Mark) -> tuple[Any, ...]:
    record = msgspec.json.encode(mark.record).decode()
    return mark.id, mark.origin, mark.segment, mark.line, record


def read_marks(connection: duckdb.DuckDBPyConnection) -> dict[str, Mark]:
    """Masks, unmasks and replications of the index, by id."""
    rows = connection.execute("SELECT id, origin, segment, line, record FROM marks").fetchall()
    decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(Record)
    return {
        id_: Mark(id_, origin, segment, line, decoder.decode(record))
        for id_, origin, segment, line, record in rows
    }


def texts(connection: duckdb.DuckDBPyConnection) -> Any:
    """Arrow table of id, method, text and vector of every outcome, for the search index."""
    nothing = f"[{', '.join(['0'] * SIZE)}]::FLOAT[{SIZE}]"
    return connection.sql(
        "SELECT id, method, concat_ws(' ', method, verdict, kernel, language, chip, arch, "  # noqa: S608
        f"limiter) AS text, coalesce(print, {nothing}) AS vector FROM outcomes ORDER BY id"
    ).to_arrow_table()

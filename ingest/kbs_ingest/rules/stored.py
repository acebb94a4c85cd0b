"""Rules over many stored profiles: one Parquet file, one query.

A file holds one row a profile with the columns that rules read (``p.dram_pct`` and the like), so
that a changed threshold is asked of all profiles at once and nothing is parsed again.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from kbs_engine.errors import StoreError
from kbs_engine.ports import Rows
from kbs_ingest.rules import query
from kbs_ingest.rules.columns import TEXT
from kbs_ingest.rules.query import ABSENT, FIRED, Condition
from kbs_ingest.rules.sql import locked_connection

_REMEDY = "store the profiles again"


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """What one rule says of all stored profiles."""

    id: str
    fired: int
    quiet: int
    not_measurable: int


def columns_of(conditions: Iterable[Condition]) -> tuple[str, ...]:
    """The columns that the conditions read, sorted."""
    return tuple(sorted({name for rule in conditions for name in (*rule.needs, *rule.optional)}))


def store_profiles(path: Path, rows: Sequence[Rows], columns: Sequence[str]) -> None:
    """Write the rows as Parquet."""
    parquet = importlib.import_module("pyarrow.parquet")
    parquet.write_table(query.arrow_rows(rows, columns), path)


def tally(path: Path, conditions: Sequence[Condition]) -> tuple[Tally, ...]:
    """Evaluate all conditions on all stored profiles in one query, and count.

    A column that the file lacks is absent for every profile.

    Raises:
        StoreError: the file is no Parquet file of profiles.
    """
    columns = columns_of(conditions)
    table = _read(path, columns)
    connection = locked_connection()
    connection.register("kbs_stored", table)
    source = query.registered_rows("kbs_stored", columns)
    counts = ", ".join(
        f"count(*) FILTER (marks[{n}] = '{mark}')"
        for n in range(1, len(conditions) + 1)
        for mark in (FIRED, ABSENT)
    )
    marks = query.marks_query(conditions).replace(" FROM p JOIN", " AS marks FROM p JOIN", 1)
    answer = connection.execute(
        f"WITH r AS ({source}), {query.relations(columns)} "  # noqa: S608 - own names
        f"SELECT count(*), {counts} FROM ({marks})"
    ).fetchone()
    total, *pairs = answer or (0, *[0] * (2 * len(conditions)))
    return tuple(
        Tally(id=rule.id, fired=fired, not_measurable=absent, quiet=total - fired - absent)
        for rule, fired, absent in zip(conditions, pairs[::2], pairs[1::2], strict=True)
    )


def _read(path: Path, columns: Sequence[str]) -> Any:
    pa = importlib.import_module("pyarrow")
    parquet = importlib.import_module("pyarrow.parquet")
    try:
        there = set(parquet.read_schema(path).names)
        wanted = [name for name in ("id", *columns) if name in there]
        table = parquet.read_table(path, columns=wanted)
    except (OSError, pa.ArrowException) as fault:
        raise StoreError(
            f"the stored profiles cannot be read: {fault}", where=str(path), remedy=_REMEDY
        ) from fault
    if "id" not in there:
        raise StoreError("no column id: not stored profiles", where=str(path), remedy=_REMEDY)
    for name in columns:
        if name not in there:
            kind = pa.string() if name in TEXT else pa.float64()
            table = table.append_column(name, pa.nulls(table.num_rows, kind))
    return table

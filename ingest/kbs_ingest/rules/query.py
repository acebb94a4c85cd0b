"""The SQL text of an evaluation, and the rows that it reads.

Relation ``r`` holds the rows with columns named ``p.dram_pct`` and the like; p, c, w and h are
cut out of it, so that expressions read as the wiki writes them.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from kbs_engine.methods import AvoidWhen
from kbs_engine.ports import Rows
from kbs_engine.symptoms import SymptomRule
from kbs_ingest.rules.columns import TEXT

FIRED, QUIET, ABSENT = "1", "0", "-"
Cells = list[float | str | None]
_JOINED = "FROM p JOIN c USING (id) JOIN w USING (id) JOIN h USING (id)"


class Condition(msgspec.Struct, frozen=True, kw_only=True):
    """One expression set with the columns that it uses."""

    id: str
    needs: tuple[str, ...]
    optional: tuple[str, ...] = ()
    when: str
    severity: str = "1"
    recoverable: str = "0"

    @classmethod
    def of_rule(cls, rule: SymptomRule) -> Condition:
        """The condition of a symptom rule."""
        return cls(
            id=rule.id,
            needs=rule.needs,
            optional=rule.optional,
            when=rule.when,
            severity=rule.severity,
            recoverable=rule.recoverable,
        )

    @classmethod
    def of_avoid(cls, avoid: AvoidWhen) -> Condition:
        """The condition of an anti-strategy."""
        return cls(id=avoid.id, needs=avoid.needs, when=avoid.when)


def relations(columns: Sequence[str]) -> str:
    """The relations p, c, w and h over ``r``."""
    parts = []
    for row in "pcwh":
        names = [f'r."{name}" AS "{name[2:]}"' for name in columns if name[0] == row]
        parts.append(f"{row} AS (SELECT {', '.join(['r.id', *names])} FROM r)")  # noqa: S608 - own names
    return ", ".join(parts)


def marks_query(conditions: Sequence[Condition]) -> str:
    """For each row one character per condition: fired, quiet, or what it needs is absent."""
    marks = ", ".join(_mark(rule) for rule in conditions)
    return f"SELECT concat({marks}) {_JOINED} ORDER BY p.id"


def numbers_query(conditions: Sequence[Condition]) -> str:
    """For each row severity and recoverable of all ``conditions``."""
    numbers = ", ".join(
        f"{_share(rule.severity)}, {_share(rule.recoverable)}" for rule in conditions
    )
    return f"SELECT [{numbers}] {_JOINED} ORDER BY p.id"


def full_query(conditions: Sequence[Condition], columns: Sequence[str]) -> str:
    """For each row which columns are present, the marks, and the numbers of the fired."""
    marks = ", ".join(_mark(rule) for rule in conditions)
    numbers = ", ".join(
        f"CASE WHEN f[{n}] = '{FIRED}' "
        f"THEN [{_share(rule.severity)}, {_share(rule.recoverable)}] END"
        for n, rule in enumerate(conditions, start=1)
    )
    present = " || ".join(f"CASE WHEN {name} IS NULL THEN '0' ELSE '1' END" for name in columns)
    return (
        f"SELECT present, f, flatten(list_filter(numbers, lambda x: x IS NOT NULL)) "  # noqa: S608
        f"FROM (SELECT *, [{numbers}] AS numbers FROM "
        f"(SELECT p.id AS id, p, c, w, h, {present or repr('')} AS present, "
        f"concat({marks}) AS f {_JOINED})) ORDER BY id"
    )


def _mark(rule: Condition) -> str:
    needs = " AND ".join(f"{name} IS NOT NULL" for name in rule.needs) or "true"
    return (
        f"CASE WHEN NOT ({needs}) THEN '{ABSENT}' "
        f"WHEN coalesce(TRY({rule.when}), false) THEN '{FIRED}' ELSE '{QUIET}' END"
    )


def _share(expression: str) -> str:
    # Inside, because greatest and least pass over NULL and would make 1 of it.
    return f"greatest(0, least(1, coalesce(TRY(({expression})::DOUBLE), 0)))"


def literal_rows(rows: Sequence[Cells], columns: Sequence[str]) -> tuple[str, list[Any]]:
    """Relation ``r`` as parameters; at least one row."""
    types = ["?::BIGINT", *("?::VARCHAR" if name in TEXT else "?::DOUBLE" for name in columns)]
    names = ", ".join(["id", *(f'"{name}"' for name in columns)])
    values = ", ".join([f"({', '.join(types)})"] * len(rows))
    parameters = [cell for number, cells in enumerate(rows) for cell in (number, *cells)]
    return f"SELECT * FROM (VALUES {values}) AS v({names})", parameters  # noqa: S608


def registered_rows(name: str, columns: Sequence[str]) -> str:
    """Relation ``r`` over a registered table; values that are not finite are absent."""
    cells = ", ".join(
        f'"{column}"'
        if column in TEXT
        else f'CASE WHEN isfinite("{column}") THEN "{column}" END AS "{column}"'
        for column in columns
    )
    return f"SELECT {', '.join(part for part in ('id', cells) if part)} FROM {name}"  # noqa: S608


def cells_of(row: Rows, columns: Iterable[str]) -> Cells:
    """The values of ``columns``; None where absent, not finite or of the wrong type."""
    parts: dict[str, Mapping[str, Any]] = {"p": row.p, "c": row.c, "w": row.w, "h": row.h}
    return [_cell(parts[name[0]].get(name[2:]), text=name in TEXT) for name in columns]


def _cell(value: float | str | None, *, text: bool) -> float | str | None:
    if value is None or isinstance(value, str) != text:
        return None
    if isinstance(value, str):
        return value
    return float(value) if value - value == 0 else None


def arrow_rows(rows: Sequence[Rows], columns: Sequence[str]) -> Any:
    """Many rows as an Arrow table."""
    pa = importlib.import_module("pyarrow")
    data = {"id": pa.array(range(len(rows)), pa.int64())}
    for part in "pcwh":
        names = [name for name in columns if name[0] == part]
        keys = [name[2:] for name in names]
        cells: list[Any] = []
        for row in rows:  # row by row: a profile's values lie together in memory
            cells.extend(map(getattr(row, part).get, keys))
        for number, name in enumerate(names):
            kind = pa.string() if name in TEXT else pa.float64()
            data[name] = pa.array(cells[number :: len(names)], kind)
    return pa.table(data)

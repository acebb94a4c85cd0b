"""All rules on all rows in one DuckDB query.

The rows become four relations p, c, w and h with only the columns that rules use. For each
row the query returns which columns are present, which rules fired, and the numbers of those
that did. Values that are not finite count as absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import duckdb
import msgspec

from kbs_engine.methods import AvoidWhen
from kbs_engine.ports import Rows
from kbs_engine.symptoms import RuleResult, SymptomRule
from kbs_ingest.rules.columns import TEXT
from kbs_ingest.rules.sql import locked_connection

LITERAL_ROWS = 64
"""Up to so many rows travel as parameters; more go through Arrow."""
_BATCH = 20_000


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


class RuleSet:
    """Evaluates a fixed list of conditions; the query is written once."""

    def __init__(self, conditions: Sequence[Condition]) -> None:
        """Collect the columns; nothing is opened before the first evaluation."""
        self.conditions = tuple(conditions)
        used = {name for rule in conditions for name in (*rule.needs, *rule.optional)}
        self.columns = tuple(sorted(used))
        self._index = {name: n for n, name in enumerate(self.columns)}
        self._needs = [[self._index[name] for name in rule.needs] for rule in self.conditions]
        self._select = _select(self.conditions, self.columns)
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._templates: dict[tuple[str, str], list[RuleResult]] = {}

    def evaluate(self, rows: Sequence[Rows]) -> list[list[RuleResult]]:
        """One list for each row, in the order of the conditions."""
        if not self.conditions:
            return [[] for _ in rows]
        results: list[list[RuleResult]] = []
        for start in range(0, len(rows), _BATCH):
            for present, fired, numbers in self._query(rows[start : start + _BATCH]):
                results.append(self._row(present, fired, numbers))
        return results

    def holds(self, rows: Sequence[Rows]) -> list[frozenset[str]]:
        """Ids of the conditions that fired on each row."""
        found = self.evaluate(rows)
        return [frozenset(result.id for result in row if result.fired) for row in found]

    def _query(self, rows: Sequence[Rows]) -> list[tuple[str, str, list[float]]]:
        if self._connection is None:
            self._connection = locked_connection()
        if len(rows) <= LITERAL_ROWS:
            source, parameters = _literals(rows, self.columns)
            return self._connection.execute(
                f"WITH r AS ({source}) {self._select}",
                parameters,
            ).fetchall()
        self._connection.register("kbs_rows", _arrow(rows, self.columns))
        source = ", ".join(
            f'CASE WHEN isfinite("{name}") THEN "{name}" END AS "{name}"'
            if name not in TEXT
            else f'"{name}"'
            for name in self.columns
        )
        answer = self._connection.execute(
            f"WITH r AS (SELECT id, {source} FROM kbs_rows) {self._select}"  # noqa: S608
        ).fetchall()
        self._connection.unregister("kbs_rows")
        return answer

    def _row(self, present: str, fired: str, numbers: list[float]) -> list[RuleResult]:
        key = (present, fired)
        template = self._templates.get(key)
        if template is None:
            template = self._template(present, fired)
            if len(self._templates) < _BATCH:
                self._templates[key] = template
        results = template.copy()
        position = at = 0
        while (at := fired.find("1", at)) >= 0:
            results[at] = RuleResult(
                id=self.conditions[at].id,
                fired=True,
                severity=numbers[position],
                recoverable=numbers[position + 1],
            )
            position += 2
            at += 1
        return results

    def _template(self, present: str, fired: str) -> list[RuleResult]:
        results = []
        for rule, needs, mark in zip(self.conditions, self._needs, fired, strict=True):
            missing = tuple(self.columns[n] for n in needs if present[n] == "0")
            measured = None if missing else mark == "1"
            results.append(RuleResult(id=rule.id, fired=measured, missing=missing))
        return results


def _select(conditions: Sequence[Condition], columns: Sequence[str]) -> str:
    """The query over relation ``r``: presence mask, fired mask, numbers of the fired."""
    rows = {row: [name for name in columns if name.startswith(f"{row}.")] for row in "pcwh"}
    relations = "".join(
        f", {row} AS (SELECT {', '.join([f'{row}0.id', *(_alias(row, name) for name in names)])} "  # noqa: S608
        f"FROM r AS {row}0)"
        for row, names in rows.items()
    )
    marks = ", ".join(_mark(rule) for rule in conditions)
    numbers = ", ".join(
        f"CASE WHEN f[{n}] = '1' THEN [{_share(rule.severity)}, {_share(rule.recoverable)}] END"
        for n, rule in enumerate(conditions, start=1)
    )
    present = (
        " || ".join(f"CASE WHEN {name} IS NULL THEN '0' ELSE '1' END" for name in columns) or "''"
    )
    return (
        f"{relations} SELECT present, f, flatten(list_filter(numbers, lambda x: x IS NOT NULL)) "  # noqa: S608
        f"FROM (SELECT *, [{numbers}] AS numbers FROM "
        f"(SELECT p.id AS id, p, c, w, h, {present} AS present, concat({marks}) AS f "
        "FROM p JOIN c USING (id) JOIN w USING (id) JOIN h USING (id))) ORDER BY id"
    )


def _alias(row: str, name: str) -> str:
    return f'{row}0."{name}" AS "{name.split(".", 1)[1]}"'


def _mark(rule: Condition) -> str:
    needs = " AND ".join(f"{name} IS NOT NULL" for name in rule.needs) or "true"
    return f"CASE WHEN {needs} AND coalesce(TRY({rule.when}), false) THEN '1' ELSE '0' END"


def _share(expression: str) -> str:
    # Inside, because greatest and least pass over NULL and would make 1 of it.
    return f"greatest(0, least(1, coalesce(TRY(({expression})::DOUBLE), 0)))"


def _literals(rows: Sequence[Rows], columns: Sequence[str]) -> tuple[str, list[Any]]:
    types = ["?::BIGINT", *("?::VARCHAR" if name in TEXT else "?::DOUBLE" for name in columns)]
    line = f"({', '.join(types)})"
    names = ", ".join(["id", *(f'"{name}"' for name in columns)])
    parameters: list[Any] = []
    for number, row in enumerate(rows):
        parameters.append(number)
        parameters.extend(_cells(row, columns))
    values = ", ".join([line] * len(rows)) if rows else line
    limit = "" if rows else " LIMIT 0"
    if not rows:
        parameters = [None] * (len(columns) + 1)
    return f"SELECT * FROM (VALUES {values}) AS v({names}){limit}", parameters  # noqa: S608


def _cells(row: Rows, columns: Iterable[str]) -> list[float | str | None]:
    parts: dict[str, Mapping[str, Any]] = {"p": row.p, "c": row.c, "w": row.w, "h": row.h}
    return [_cell(parts[name[0]].get(name[2:]), text=name in TEXT) for name in columns]


def _cell(value: float | str | None, *, text: bool) -> float | str | None:
    if value is None or isinstance(value, str) != text:
        return None
    if isinstance(value, str):
        return value
    return float(value) if value - value == 0 else None


def _arrow(rows: Sequence[Rows], columns: Sequence[str]) -> Any:  # noqa: ANN401 - a pyarrow.Table
    import pyarrow as pa  # noqa: PLC0415 - only for many rows

    parts: dict[str, list[Mapping[str, Any]]] = {
        name: [getattr(row, name) for row in rows] for name in "pcwh"
    }
    data = {"id": pa.array(range(len(rows)), pa.int64())}
    for name in columns:
        kind = pa.string() if name in TEXT else pa.float64()
        key = name[2:]
        data[name] = pa.array([part.get(key) for part in parts[name[0]]], kind)
    return pa.table(data)

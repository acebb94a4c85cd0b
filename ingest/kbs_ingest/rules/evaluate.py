"""All rules on all rows by DuckDB.

Few rows travel as parameters, in two queries: which rules fired, then the numbers of those
that did (planning all numbers costs more than asking twice). Many rows travel through Arrow
in one query. Values that are not finite count as absent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import duckdb

from kbs_engine.ports import Rows
from kbs_engine.symptoms import RuleResult
from kbs_ingest.rules import query
from kbs_ingest.rules.query import ABSENT, FIRED, Condition
from kbs_ingest.rules.sql import locked_connection

__all__ = ["LITERAL_ROWS", "Condition", "RuleSet"]

LITERAL_ROWS = 64
"""Up to so many rows travel as parameters."""
_BATCH = 8_192


class RuleSet:
    """Evaluates a fixed list of conditions."""

    def __init__(self, conditions: Sequence[Condition]) -> None:
        """Collect the columns; nothing is opened before the first evaluation."""
        self.conditions = tuple(conditions)
        used = {name for rule in conditions for name in (*rule.needs, *rule.optional)}
        self.columns = tuple(sorted(used))
        index = {name: n for n, name in enumerate(self.columns)}
        self._needs = [[index[name] for name in rule.needs] for rule in self.conditions]
        self._quiet = [RuleResult(id=rule.id, fired=False) for rule in self.conditions]
        self._absent: dict[tuple[int | str, ...], RuleResult] = {}

    def evaluate(self, rows: Sequence[Rows]) -> list[list[RuleResult]]:
        """One list for each row, in the order of the conditions."""
        if not self.conditions:
            return [[] for _ in rows]
        if len(rows) <= LITERAL_ROWS:
            return self._few(rows)
        results: list[list[RuleResult]] = []
        select = query.full_query(self.conditions, self.columns)
        for answer in self._batches(rows, select):
            results.extend(self._row(*line) for line in answer)
        return results

    def holds(self, rows: Sequence[Rows]) -> list[frozenset[str]]:
        """Ids of the conditions that fired on each row."""
        if not self.conditions or not rows:
            return [frozenset() for _ in rows]
        select = query.marks_query(self.conditions)
        if len(rows) <= LITERAL_ROWS:
            cells = [query.cells_of(row, self.columns) for row in rows]
            answers = iter([self._literal(cells, select)])
        else:
            answers = self._batches(rows, select)
        return [
            frozenset(self.conditions[n].id for n in _positions(marks, FIRED))
            for answer in answers
            for (marks,) in answer
        ]

    @cached_property
    def _connection(self) -> duckdb.DuckDBPyConnection:
        return locked_connection()

    @cached_property
    def _relations(self) -> str:
        return query.relations(self.columns)

    def _few(self, rows: Sequence[Rows]) -> list[list[RuleResult]]:
        if not rows:
            return []
        cells = [query.cells_of(row, self.columns) for row in rows]
        marks = [line[0] for line in self._literal(cells, query.marks_query(self.conditions))]
        fired = sorted({n for line in marks for n in _positions(line, FIRED)})
        numbers: list[list[float]] = [[] for _ in rows]
        if fired:
            select = query.numbers_query([self.conditions[n] for n in fired])
            numbers = [line[0] for line in self._literal(cells, select)]
        results = []
        for row, line, values in zip(cells, marks, numbers, strict=True):
            present = "".join("0" if cell is None else "1" for cell in row)
            own = [
                value
                for n, pair in zip(fired, zip(values[::2], values[1::2], strict=True), strict=True)
                if line[n] == FIRED
                for value in pair
            ]
            results.append(self._row(present, line, own))
        return results

    def _literal(self, cells: Sequence[query.Cells], select: str) -> list[tuple[Any, ...]]:
        source, parameters = query.literal_rows(cells, self.columns)
        text = f"WITH r AS ({source}), {self._relations} {select}"
        return self._connection.execute(text, parameters).fetchall()

    def _batches(self, rows: Sequence[Rows], select: str) -> Iterator[list[tuple[Any, ...]]]:
        source = query.registered_rows("kbs_rows", self.columns)
        text = f"WITH r AS ({source}), {self._relations} {select}"
        for start in range(0, len(rows), _BATCH):
            table = query.arrow_rows(rows[start : start + _BATCH], self.columns)
            self._connection.register("kbs_rows", table)
            yield self._connection.execute(text).fetchall()
            self._connection.unregister("kbs_rows")

    def _row(self, present: str, marks: str, numbers: Sequence[float]) -> list[RuleResult]:
        results = self._quiet.copy()
        for at in _positions(marks, ABSENT):
            results[at] = self._unmeasured(at, present)
        for number, at in enumerate(_positions(marks, FIRED)):
            results[at] = RuleResult(
                id=self.conditions[at].id,
                fired=True,
                severity=numbers[2 * number],
                recoverable=numbers[2 * number + 1],
            )
        return results

    def _unmeasured(self, at: int, present: str) -> RuleResult:
        needs = self._needs[at]
        key: tuple[int | str, ...] = (at, *(present[n] for n in needs))
        found = self._absent.get(key)
        if found is None:
            missing = tuple(self.columns[n] for n in needs if present[n] == "0")
            found = RuleResult(id=self.conditions[at].id, fired=None, missing=missing)
            self._absent[key] = found
        return found


def _positions(marks: str, wanted: str) -> Iterator[int]:
    at = marks.find(wanted)
    while at >= 0:
        yield at
        at = marks.find(wanted, at + 1)

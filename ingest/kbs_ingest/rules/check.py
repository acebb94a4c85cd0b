"""Whether a condition is fit to be stored: allowed, complete, and of the right type."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Iterable, Mapping, Sequence

import duckdb

from kbs_engine.message import HUMAN_SPECS
from kbs_ingest.rules.columns import TEXT, Columns
from kbs_ingest.rules.evaluate import Condition
from kbs_ingest.rules.sql import Parser, RefusalError

MAX_WIDTH = 40
"""Widest field and longest fraction of a message; a longer one is padding that nobody reads."""
_FIELDS = ("when", "severity", "recoverable")
_DIGITS = re.compile(r"\d+")
_NUMERIC = ("INTEGER", "BIGINT", "HUGEINT", "DOUBLE", "FLOAT", "DECIMAL")


class ConditionChecker:
    """Checks conditions against the columns that exist."""

    def __init__(self, columns: Columns) -> None:
        """Keep the columns; opens one locked connection."""
        self.columns = columns
        self.parser = Parser()

    def faults(self, condition: Condition) -> list[tuple[str, str]]:
        """Pairs of field name and message; empty when the condition is sound."""
        found: list[tuple[str, str]] = []
        listed = {*condition.needs, *condition.optional}
        for field in ("needs", "optional"):
            names = getattr(condition, field)
            found.extend(
                (field, f"no column {name!r}") for name in names if not self.columns.known(name)
            )
        for field in _FIELDS:
            found.extend((field, message) for message in self._field(condition, field, listed))
        return found or self._types(condition, listed)

    def message_faults(self, message: str, listed: Iterable[str]) -> list[str]:
        """What is wrong with a message template."""
        try:
            parts = list(string.Formatter().parse(message))
        except ValueError as problem:
            return [f"the message is no template: {problem}"]
        known = frozenset(listed)
        found = []
        for _, name, spec, conversion in parts:
            if name is None:
                continue
            if name not in known:
                found.append(f"the message uses {name!r}, which needs and optional do not list")
                continue
            if spec in HUMAN_SPECS and name not in TEXT:
                continue
            if wide := _too_wide(spec or ""):
                found.append(
                    f"the message formats {name} with a width or precision of {wide}; "
                    f"at most {MAX_WIDTH}"
                )
                continue
            try:
                format("word" if name in TEXT else 1.0, spec or "")
            except ValueError as problem:
                found.append(f"the message formats {name} as {spec!r}: {problem}")
            if conversion:
                found.append(f"the message converts {name} by !{conversion}; use a format alone")
        return found

    def _field(self, condition: Condition, field: str, listed: set[str]) -> list[str]:
        try:
            used = self.parser.columns(getattr(condition, field))
        except RefusalError as problem:
            return [str(problem)]
        found = []
        for name in sorted(used):
            if not self.columns.known(name):
                found.append(f"no column {name!r}")
            elif name not in listed:
                found.append(f"uses {name}, which needs and optional do not list")
        return found

    def _types(self, condition: Condition, listed: set[str]) -> list[tuple[str, str]]:
        relations = ", ".join(_empty(row, sorted(listed)) for row in "pcwh")
        expressions = {field: getattr(condition, field) for field in _FIELDS}
        try:  # all in one query, since binding the columns is what takes the time
            kinds = self._kinds(expressions, relations)
        except duckdb.Error:
            kinds = {}
        found = []
        for field, expression in expressions.items():
            try:
                kind = (kinds or self._kinds({field: expression}, relations))[field]
            except duckdb.Error as problem:
                found.append((field, str(problem).split("\n")[0]))
                continue
            if field == "when" and kind != "BOOLEAN":
                found.append((field, f"is a {kind.lower()}, not a boolean"))
            if field != "when" and not kind.startswith(_NUMERIC):
                found.append((field, f"is a {kind.lower()}, not a number"))
            elif lost := self._lost_constant(expression):
                found.append((field, lost))
            elif field != "when" and not self.parser.columns(expression):
                found.extend((field, message) for message in self._constant(expression))
        return found

    def _kinds(self, expressions: Mapping[str, str], relations: str) -> dict[str, str]:
        """The type of each checked expression; duckdb.Error where one has none."""
        columns = ", ".join(f"typeof(({expression}))" for expression in expressions.values())
        query = f"SELECT {columns} FROM {relations}"  # noqa: S608 - checked
        answer = self.parser.connection.execute(query).fetchone() or ("",) * len(expressions)
        return dict(zip(expressions, map(str, answer), strict=True))

    def _lost_constant(self, expression: str) -> str:
        """Why a part without columns has no finite value, the same for every profile."""
        for part in self.parser.constants(expression):
            query = f"SELECT TRY(({part})::DOUBLE)"
            answer = self.parser.connection.execute(query).fetchone()
            value = answer[0] if answer else None
            if value is None or not math.isfinite(value):
                shown = "has no value" if value is None else "is infinite"
                return f"{part} {shown} for every profile"
        return ""

    def _constant(self, expression: str) -> list[str]:
        """What is wrong with a share that is the same for every profile."""
        query = f"SELECT TRY(({expression})::DOUBLE)"
        answer = self.parser.connection.execute(query).fetchone()
        value = answer[0] if answer else None
        if value is None:
            return ["has no value"]
        return [] if 0 <= value <= 1 else [f"is {value:g}, outside 0–1"]


def _too_wide(spec: str) -> str:
    """The first number of a format spec that is over the bound, or an empty string."""
    for found in _DIGITS.findall(spec):
        digits = found.lstrip("0")
        if len(digits) > len(str(MAX_WIDTH)) or int(digits or 0) > MAX_WIDTH:
            return digits if len(digits) < len("1000000") else f"{len(digits)} digits"
    return ""


def _empty(row: str, columns: Sequence[str]) -> str:
    cells = [
        f'NULL::{"VARCHAR" if name in TEXT else "DOUBLE"} AS "{name[2:]}"'
        for name in columns
        if name.startswith(f"{row}.")
    ]
    cells.insert(0, "0 AS id")
    return f"(SELECT {', '.join(cells)}) AS {row}"

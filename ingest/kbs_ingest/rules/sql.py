"""The allow-list of rule expressions, checked on the tree of DuckDB's own parser."""

from __future__ import annotations

import json
import re
from typing import Any

import duckdb

ROWS = frozenset({"p", "c", "w", "h"})
FUNCTIONS = frozenset(
    {
        "abs", "greatest", "least", "coalesce", "nullif", "round", "floor", "ceil", "sqrt", "ln",
        "log2", "exp", "power",
    }
)  # fmt: skip
ARITHMETIC = frozenset({"+", "-", "*", "/", "%"})
OPERATORS = frozenset(
    {
        "OPERATOR_NOT", "OPERATOR_IS_NULL", "OPERATOR_IS_NOT_NULL", "COMPARE_IN",
        "COMPARE_NOT_IN", "OPERATOR_COALESCE", "OPERATOR_NULLIF",
    }
)  # fmt: skip
COMPARISONS = frozenset(
    {
        "COMPARE_EQUAL", "COMPARE_NOTEQUAL", "COMPARE_LESSTHAN", "COMPARE_GREATERTHAN",
        "COMPARE_LESSTHANOREQUALTO", "COMPARE_GREATERTHANOREQUALTO",
        "COMPARE_BETWEEN", "COMPARE_NOT_BETWEEN",
    }
)  # fmt: skip
CONJUNCTIONS = frozenset({"CONJUNCTION_AND", "CONJUNCTION_OR"})
LITERALS = frozenset({"INTEGER", "NUMERIC", "STRING", "BOOLEAN", "NULL_LITERAL"})
_MAX_LENGTH = 4000
_COMMENT = re.compile(r"--|/\*|;")


class RefusalError(ValueError):
    """What an expression holds that is not allowed."""


class Parser:
    """Reads expressions on one locked connection."""

    def __init__(self) -> None:
        """Open the connection."""
        self.connection = locked_connection()
        self._serialized: dict[str, str] = {}

    def columns(self, expression: str) -> frozenset[str]:
        """The columns of an allowed expression; RefusalError says what is not allowed."""
        if len(expression) > _MAX_LENGTH:
            msg = f"the expression is longer than {_MAX_LENGTH} characters"
            raise RefusalError(msg)
        if _COMMENT.search(re.sub(r"'[^']*'", "''", expression)):
            msg = "comments and ';' are not allowed in an expression"
            raise RefusalError(msg)
        found: set[str] = set()
        try:
            _walk(self._tree(expression), found)
        except RecursionError as error:
            msg = "the expression is nested too deeply"
            raise RefusalError(msg) from error
        return frozenset(found)

    def constants(self, expression: str) -> list[str]:
        """The SQL of every function call and operation in which no column stands, inner first."""
        statement = self._statement(expression)
        select = statement["statements"][0]["node"]
        found: list[dict[str, Any]] = []
        _fixed(select["select_list"][0], found)
        texts = []
        for node in found:
            select["select_list"] = [node]
            row = self.connection.execute(
                "SELECT json_deserialize_sql(?::JSON)", [json.dumps(statement)]
            ).fetchone()
            texts.append(str(row[0]).removeprefix("SELECT ") if row else "")
        return [text for text in texts if text]

    def _statement(self, expression: str) -> dict[str, Any]:
        """DuckDB's tree of an expression; the caller may change it, so it is decoded every time."""
        if expression not in self._serialized:
            row = self.connection.execute(
                "SELECT json_serialize_sql(?)", [f"SELECT ({expression}\n)"]
            ).fetchone()
            self._serialized[expression] = str(row[0]) if row else '{"error": true}'
        answer: dict[str, Any] = json.loads(self._serialized[expression])
        return answer

    def _tree(self, expression: str) -> dict[str, Any]:
        answer = self._statement(expression)
        if answer.get("error"):
            said = str(answer.get("error_message", "not an expression")).split("\n")[0]
            msg = f"not one SQL expression: {said}"
            raise RefusalError(msg)
        node = answer["statements"][0]["node"]
        plain = node.get("from_table", {}).get("type") == "EMPTY" and not any(
            node.get(part)
            for part in ("modifiers", "where_clause", "group_expressions", "having", "qualify")
        )
        if len(answer["statements"]) != 1 or len(node.get("select_list", ())) != 1 or not plain:
            msg = "not one SQL expression"
            raise RefusalError(msg)
        tree: dict[str, Any] = node["select_list"][0]
        return tree


def locked_connection() -> duckdb.DuckDBPyConnection:
    """An in-memory database without files, network, extensions or settings."""
    return lock(
        duckdb.connect(
            ":memory:",
            config={
                "enable_external_access": "false",
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "memory_limit": "2GB",
                "threads": "1",
            },
        )
    )


def lock(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Set how rules compute, then let nothing change it.

    Division by zero is NULL, not infinity: NaN would compare as larger than every threshold.
    """
    connection.execute("SET ieee_floating_point_ops = false")
    setting = "error_on_division_by_zero"
    if connection.execute("FROM duckdb_settings() WHERE name = ?", [setting]).fetchone():
        connection.execute(f"SET {setting} = false")
    connection.execute("SET lock_configuration = true")
    return connection


def _walk(node: dict[str, Any], found: set[str]) -> None:
    check = _CHECKS.get(str(node.get("class")))
    if check is None:
        what = str(node.get("class", "this")).replace("_", " ").lower()
        msg = f"{what} is not allowed in a rule"
        raise RefusalError(msg)
    if node.get("alias"):
        msg = "AS is not allowed in a rule"
        raise RefusalError(msg)
    for child in check(node, found):
        _walk(child, found)


def _fixed(node: dict[str, Any], found: list[dict[str, Any]]) -> bool:
    """Whether no column stands below ``node``; gathers functions of which that is true."""
    children = _CHECKS[str(node["class"])](node, set())
    verdicts = [_fixed(child, found) for child in children]  # all are visited
    fixed = all(verdicts)
    if fixed and node["class"] == "FUNCTION":
        found.append(node)
    return fixed and node["class"] != "COLUMN_REF"


def _constant(node: dict[str, Any], _: set[str]) -> list[dict[str, Any]]:
    literal = node.get("literal") or {}
    if literal.get("kind") not in LITERALS:
        msg = f"the literal {literal.get('text', '')!r} is not a number, a word, a truth or NULL"
        raise RefusalError(msg)
    return []


def _column(node: dict[str, Any], found: set[str]) -> list[dict[str, Any]]:
    names = node["column_names"]
    shown = ".".join(names)
    if len(names) != 2 or names[0] not in ROWS:  # noqa: PLR2004 - row and column
        msg = f"the column {shown!r} does not say its row: p, c, w or h"
        raise RefusalError(msg)
    found.add(shown)
    return []


def _function(node: dict[str, Any], _: set[str]) -> list[dict[str, Any]]:
    name = str(node["function_name"])
    allowed = ARITHMETIC if node.get("is_operator") else FUNCTIONS
    if name.lower() not in allowed or node.get("schema") or node.get("catalog"):
        msg = f"the function {name!r} is not allowed; use {', '.join(sorted(FUNCTIONS))}"
        raise RefusalError(msg)
    if node.get("filter") or node.get("distinct") or (node.get("order_bys") or {}).get("orders"):
        msg = f"{name} takes values alone: no FILTER, DISTINCT or ORDER BY"
        raise RefusalError(msg)
    arguments = node.get("arguments")
    if arguments is None:
        return list(node.get("children", ()))
    if any(argument.get("name") for argument in arguments):
        msg = f"{name} takes no named arguments"
        raise RefusalError(msg)
    return [argument["expression"] for argument in arguments]


def _operator(node: dict[str, Any], _: set[str]) -> list[dict[str, Any]]:
    if node["type"] not in OPERATORS:
        msg = f"{node['type'].replace('_', ' ').lower()} is not allowed in a rule"
        raise RefusalError(msg)
    return list(node["children"])


def _comparison(node: dict[str, Any], _: set[str]) -> list[dict[str, Any]]:
    if node["type"] not in COMPARISONS:
        msg = f"{node['type'].replace('_', ' ').lower()} is not allowed in a rule"
        raise RefusalError(msg)
    return [node[part] for part in ("left", "right", "input", "lower", "upper") if part in node]


def _conjunction(node: dict[str, Any], _: set[str]) -> list[dict[str, Any]]:
    if node["type"] not in CONJUNCTIONS:
        msg = f"{node['type']} is not allowed in a rule"
        raise RefusalError(msg)
    return list(node["children"])


def _case(node: dict[str, Any], _: set[str]) -> list[dict[str, Any]]:
    parts = [check[part] for check in node["case_checks"] for part in ("when_expr", "then_expr")]
    return [*parts, node["else_expr"]] if node.get("else_expr") else parts


_CHECKS = {
    "CONSTANT": _constant,
    "COLUMN_REF": _column,
    "FUNCTION": _function,
    "OPERATOR": _operator,
    "COMPARISON": _comparison,
    "BETWEEN": _comparison,
    "CONJUNCTION": _conjunction,
    "CASE": _case,
}

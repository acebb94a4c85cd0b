"""Integers that a source fixes: literals, and names that macros, constants and enums give."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from tree_sitter import Node

from kbs_backends.rewrites.cuda.view import View
from kbs_backends.variants.literals import read_c

_TOKEN = re.compile(r"\s*(?:(?P<number>\d[\w']*)|(?P<name>[A-Za-z_]\w*)|(?P<sign><<|>>|[-+*/%()]))")
_DEEPEST = 8
_EXPRESSIONS = ("number_literal", "identifier", "binary_expression", "preproc_arg")
_BITS = 64
_FREE: Mapping[str, int | None] = {}


def value_of(
    view: View, node: Node, scope: Node | None, known: Mapping[str, int | None] = _FREE
) -> int | None:
    """Return the integer that an expression always is, None where it is none.

    ``known`` gives names their values; a name that it gives None is no constant.
    """
    return _value(view, view.code(node), scope, known, 0)


def numbers_in(
    view: View, node: Node, scope: Node | None, known: Mapping[str, int | None] = _FREE
) -> Iterator[tuple[Node, int]]:
    """Yield every expression under ``node`` that is always one integer, with its value."""
    for part in view.tree.walk(node, *_EXPRESSIONS):
        value = value_of(view, part, scope, known)
        if value is not None:
            yield part, value


def _value(
    view: View, text: str, scope: Node | None, known: Mapping[str, int | None], depth: int
) -> int | None:
    text = text.split("//", 1)[0].split("/*", 1)[0].strip()
    parts, at = [], 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None or depth > _DEEPEST:
            return None
        at = token.end()
        if token["sign"]:
            parts.append(token["sign"])
            continue
        number = read_c(token["number"]) if token["number"] else None
        value = _named(view, token["name"], scope, known, depth) if token["name"] else number
        if not isinstance(value, int):
            return None
        parts.append(f"({value})")
    return _folded(" ".join(parts))


def _named(
    view: View, name: str, scope: Node | None, known: Mapping[str, int | None], depth: int
) -> int | None:
    if name in known:
        return known[name]
    node = view.constant(name, scope)
    return _value(view, view.code(node), scope, known, depth + 1) if node is not None else None


def _folded(text: str) -> int | None:
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return None
    return _fold(tree.body)


def _fold(node: ast.expr) -> int | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _fold(node.operand)
        return None if inner is None else -inner
    if not isinstance(node, ast.BinOp):
        return None
    left, right = _fold(node.left), _fold(node.right)
    return None if left is None or right is None else _computed(node.op, left, right)


def _computed(sign: ast.operator, left: int, right: int) -> int | None:
    """As in C++; what the two languages round or shift in their own ways is no constant here."""
    if isinstance(sign, ast.Add | ast.Sub):
        return left + right if isinstance(sign, ast.Add) else left - right
    if isinstance(sign, ast.LShift | ast.RShift) and left >= 0 and 0 <= right < _BITS:
        return left << right if isinstance(sign, ast.LShift) else left >> right
    if isinstance(sign, ast.Div | ast.Mod) and left >= 0 and right > 0:
        return left // right if isinstance(sign, ast.Div) else left % right
    return left * right if isinstance(sign, ast.Mult) else None

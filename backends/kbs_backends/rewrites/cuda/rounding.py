"""Values of a function that single precision would round another way than double does."""

from __future__ import annotations

import struct

from tree_sitter import Node

from kbs_backends.rewrites.cuda.doubles import beyond_single
from kbs_backends.rewrites.cuda.floating import base_of
from kbs_backends.rewrites.cuda.names import named_children
from kbs_backends.rewrites.cuda.reach import called_name
from kbs_backends.rewrites.cuda.view import View

SETS = ("init_declarator", "assignment_expression")
COMPARES = frozenset({"<", ">", "<=", ">=", "==", "!=", "not_eq"})
TRUTHS = frozenset({"&&", "||", "!", "and", "or", "not"})
_SELECTS = frozenset({"fmin", "fmax", "fminf", "fmaxf", "min", "max"})
"""Functions that hand one of their arguments on as it is."""
_NEVER = frozenset({"sizeof_expression", "lambda_expression"})


class Rounding:
    """The names of a function that hold such values, and which expressions do."""

    def __init__(self, view: View, body: Node, wide: frozenset[int], names: frozenset[str]) -> None:
        """Follow values from the literals and types at ``wide``, and from ``names``."""
        self.view = view
        self.body = body
        self._wide = wide
        self.names = set(names)
        while any([self._spread(node) for node in view.tree.walk(body, *SETS)]):  # noqa: C419
            pass

    def _spread(self, node: Node) -> bool:
        """Note a name that is set to such a value; return whether it is new."""
        target, value = set_and_value(node)
        if target is None or value is None:
            return False
        if _literal(value) is not None and sign_of(self.view, node) in {"", "="}:
            return False  # rounded to its name's type either way
        new = {base_of(self.view, target)} - self.names if self.differs(value) else set()
        self.names |= new
        return bool(new)

    def differs(self, node: Node | None) -> bool:
        """Return whether a value may be another one in single precision."""
        if node is None or node.type in _NEVER:
            return False
        if node.type in {"identifier", "subscript_expression"}:
            return base_of(self.view, node) in self.names
        if node.type in {"number_literal", "primitive_type"}:
            wide = node.start_byte in self._wide
            return wide and not (node.type == "number_literal" and _is_exact(self.view.code(node)))
        return any(self.differs(part) for part in self._parts(node)) or self._computes(node)

    def _parts(self, node: Node) -> list[Node]:
        """Parts that a value is made of: neither of a truth nor of what chooses it."""
        parts = list(named_children(node))
        if node.type == "binary_expression" and sign_of(self.view, node) in COMPARES | TRUTHS:
            return []
        return parts[1:] if node.type == "conditional_expression" else parts

    def _computes(self, node: Node) -> bool:
        """Return whether an expression computes with a literal that makes it a double."""
        if node.type == "call_expression" and called_name(self.view, node) not in _SELECTS:
            listed = node.child_by_field_name("arguments")
            operands = named_children(listed) if listed is not None else []
        else:
            operands = self._parts(node) if node.type == "binary_expression" else []
        literals = [_literal(operand) for operand in operands]
        return any(one is not None and one.start_byte in self._wide for one in literals)


def set_and_value(node: Node) -> tuple[Node | None, Node | None]:
    """What is declared or assigned, and the value that it is set to."""
    if node.type == "init_declarator":
        return node.child_by_field_name("declarator"), node.child_by_field_name("value")
    return node.child_by_field_name("left"), node.child_by_field_name("right")


def sign_of(view: View, node: Node) -> str:
    """Operator of an expression; empty where it has none."""
    sign = node.child_by_field_name("operator")
    return view.code(sign) if sign is not None else ""


def _literal(node: Node) -> Node | None:
    """A literal with its sign and brackets."""
    here = node
    while here.type in {"parenthesized_expression", "unary_expression"}:
        inner = named_children(here)
        if len(inner) != 1:
            return None
        here = inner[0]
    return here if here.type == "number_literal" else None


def _is_exact(text: str) -> bool:
    value = float(text)
    return not beyond_single(text) and bool(struct.unpack("f", struct.pack("f", value))[0] == value)

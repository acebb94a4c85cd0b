"""Counts of the host that go with a launch's threads, beside its grid: ``blocks * 256``."""

from __future__ import annotations

from tree_sitter import Node

from kbs_backends.rewrites.cuda.following import Following
from kbs_backends.rewrites.cuda.view import Launch, View
from kbs_backends.variants.literals import read_c

_BITS = 32
_AROUND = frozenset({"binary_expression", "parenthesized_expression", "cast_expression"})


def counted_again(view: View, launch: Launch, found: Following) -> str:
    """Say where the host counts with the number of threads again; empty where nowhere.

    There the number would stay while the grid follows: beside a number of blocks, or as what a
    division that rounds down leaves over.
    """
    blocks = _block_counts(view, launch, found)
    for literal in view.tree.walk(launch.host, "number_literal") if launch.host else ():
        if literal.start_byte in {*found.literals, *found.less_one}:
            continue
        whole = literal
        while whole.parent is not None and whole.parent.type in _AROUND:
            whole = whole.parent
        if not _is_number(view, literal, found.number):
            continue
        names = {view.code(one) for one in view.tree.walk(whole, "identifier")}
        if names & blocks or (found.floors and _sign(view, literal) == "%"):
            text = " ".join(view.code(whole).split())
            return f"the host of {launch.kernel} counts in {found.number} threads again: {text}"
    return ""


def _block_counts(view: View, launch: Launch, found: Following) -> set[str]:
    """Names of the host whose values have the number of threads in them, or such a name."""
    counts: set[str] = set()
    sets = list(view.tree.walk(launch.host, "init_declarator", "assignment_expression"))
    before = -1
    while len(counts) > before:
        before = len(counts)
        for node in sets:
            target = node.child_by_field_name("declarator") or node.child_by_field_name("left")
            value = node.child_by_field_name("value") or node.child_by_field_name("right")
            if target is None or value is None or target.type != "identifier":
                continue
            words = {view.code(one) for one in view.tree.walk(value, "identifier")}
            inside = any(value.start_byte <= at < value.end_byte for at in found.literals)
            divides = value.type != "number_literal" and (inside or words & found.names)
            if divides or words & counts:
                counts.add(view.code(target))
    return counts - found.names


def _is_number(view: View, literal: Node, number: int) -> bool:
    """``128``, or ``7`` of ``blocks << 7``."""
    value = read_c(view.code(literal))
    shifted = isinstance(value, int) and value < _BITS and _sign(view, literal) in {"<<", ">>"}
    return value == number or (shifted and isinstance(value, int) and 1 << value == number)


def _sign(view: View, node: Node) -> str:
    sign = node.parent.child_by_field_name("operator") if node.parent is not None else None
    return view.code(sign) if sign is not None else ""

"""Locals of a CUDA function: what they begin with, how a loop moves them, what guards them."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from tree_sitter import Node

from kbs_backends.rewrites.cuda.names import declares, named_children
from kbs_backends.rewrites.cuda.reach import takes_by_value
from kbs_backends.rewrites.cuda.view import View

_INSIDE = {"<": 1, "<=": 0}
_OUTSIDE = {">=": 1, ">": 0}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_LENDS = frozenset({"reference_declarator", "pointer_expression", "lambda_capture_specifier"})


class Local(msgspec.Struct, frozen=True, kw_only=True):
    """A name that a function declares."""

    scope: Node
    """The block or loop that it lives in."""
    kind: str = ""
    """Its type as written."""
    value: Node | None
    """What it begins with."""
    limit: Node | None = None
    """What the condition of its loop keeps it below."""
    less: int = 1
    """By how much it is below at least."""
    step: Node | None = None
    """What its loop adds; one where nothing stands."""
    changed: bool = False
    """Whether it is set otherwise than that."""


def local_of(view: View, use: Node) -> Local | None:
    """The local that a name means where it stands; None for parameters and names of the file."""
    name = view.code(use)
    here = use.parent
    while here is not None and here.type != "function_definition":
        if here.type in {"lambda_expression", "for_range_loop"} and _declares(view, here, name):
            return Local(scope=here, value=None, changed=True)
        if here.type in {"compound_statement", "for_statement", "case_statement"}:
            declared = _declared_in(view, here, name, use.start_byte)
            if declared is not None:
                return _read(view, here, name, declared)
        here = here.parent
    return None


def _declares(view: View, node: Node, name: str) -> bool:
    parts = [node.child_by_field_name("declarator"), node.child_by_field_name("parameters")]
    names = (n for part in parts if part is not None for n in view.tree.walk(part, "identifier"))
    return any(view.code(one) == name for one in names)


def _declared_in(view: View, scope: Node, name: str, before: int) -> Node | None:
    """The name in the declaration, among the block's own, that stands before a place."""
    found = None
    for child in scope.children:
        if child.type == "declaration" and child.start_byte <= before:
            for one in view.tree.walk(child, "identifier"):
                found = one if view.code(one) == name and declares(one) else found
    return found


def _read(view: View, scope: Node, name: str, declared: Node) -> Local:
    above = declared.parent
    plain = above is not None and above.type == "init_declarator"
    value = above.child_by_field_name("value") if above is not None and plain else None
    update = scope.child_by_field_name("update") if scope.type == "for_statement" else None
    counts = update is not None and _counts_up(view, update, name)
    own = update if counts else None
    kind = _kind(view, declared)
    if changes(view, scope, name, own):
        return Local(scope=scope, value=None, changed=True)
    if own is None:
        return Local(scope=scope, kind=kind, value=value)
    condition = scope.child_by_field_name("condition")
    limits = list(_limits(view, condition, name, "&&", _INSIDE)) if condition is not None else []
    if not limits:
        return Local(scope=scope, value=None, changed=True)
    (limit, less), step = limits[0], own.child_by_field_name("right")
    return Local(scope=scope, kind=kind, value=value, limit=limit, less=less, step=step)


def _kind(view: View, declared: Node) -> str:
    here = declared.parent
    while here is not None and here.type != "declaration":
        here = here.parent
    kind = here.child_by_field_name("type") if here is not None else None
    return view.code(kind) if kind is not None else ""


def _counts_up(view: View, update: Node, name: str) -> bool:
    sign = update.child_by_field_name("operator")
    target = update.child_by_field_name("left") or update.child_by_field_name("argument")
    named = target is not None and view.code(target) == name
    return named and sign is not None and view.code(sign) in {"++", "+="}


def changes(view: View, scope: Node, name: str, own: Node | None = None) -> bool:
    """Return whether a name is set, or may be, in ``scope``, otherwise than by ``own``."""
    for node in view.tree.walk(scope, "identifier"):
        above = node.parent
        if above is None or view.code(node) != name or above == own:
            continue
        if above.type == "update_expression" or above.type in _LENDS:
            return True
        if above.type == "assignment_expression" and above.child_by_field_name("left") == node:
            return True
        bound = above.type == "init_declarator" and above.child_by_field_name("value") == node
        declared = above.child_by_field_name("declarator") if bound else None
        if declared is not None and declared.type == "reference_declarator":
            return True
        call = above.parent if above.type == "argument_list" else None
        if call is not None and call.type == "call_expression":
            launched = any(child.type == "kernel_call_syntax" for child in call.children)
            if not launched and not takes_by_value(view, call, named_children(above).index(node)):
                return True
    return False


def below(view: View, use: Node) -> Iterator[tuple[Node, int]]:
    """What a name is less than where it stands, by how much: loops, guards, early returns."""
    name, local = view.code(use), local_of(view, use)
    child, here = use, use.parent
    while here is not None and here.type != "function_definition":
        condition = here.child_by_field_name("condition")
        inside = {"if_statement": "consequence", "for_statement": "body"}.get(here.type, "")
        if condition is not None and inside and here.child_by_field_name(inside) == child:
            yield from _limits(view, condition, name, "&&", _INSIDE)
        if here.type == "compound_statement":
            yield from _behind_returns(view, here, child, name)
        if local is not None and here == local.scope:
            return
        child, here = here, here.parent


def _behind_returns(view: View, block: Node, child: Node, name: str) -> Iterator[tuple[Node, int]]:
    for one in block.children:
        if one.start_byte >= child.start_byte:
            return
        condition = one.child_by_field_name("condition")
        branch = one.child_by_field_name("consequence")
        if one.type != "if_statement" or condition is None or branch is None:
            continue
        inner = named_children(branch) if branch.type == "compound_statement" else [branch]
        if inner and inner[-1].type in {"return_statement", "continue_statement"}:
            yield from _limits(view, condition, name, "||", _OUTSIDE)


def _limits(
    view: View, condition: Node, name: str, joined: str, signs: dict[str, int]
) -> Iterator[tuple[Node, int]]:
    """``n, 1`` of ``i < n`` in a condition, or of ``i >= n`` in one that leaves."""
    left, right = (condition.child_by_field_name(f) for f in ("left", "right"))
    operator = condition.child_by_field_name("operator")
    if left is None or right is None or operator is None:
        inner = named_children(condition)
        if condition.type in {"condition_clause", "parenthesized_expression"} and len(inner) == 1:
            yield from _limits(view, inner[0], name, joined, signs)
        return
    sign = view.code(operator)
    if sign == joined:
        yield from _limits(view, left, name, joined, signs)
        yield from _limits(view, right, name, joined, signs)
    elif view.code(left) == name and sign in signs:
        yield right, signs[sign]
    elif view.code(right) == name and _TURNED.get(sign) in signs:
        yield left, signs[_TURNED[sign]]

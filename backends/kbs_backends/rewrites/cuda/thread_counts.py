"""Whether a kernel is right for another number of threads than the one it is launched with."""

from __future__ import annotations

from tree_sitter import Node

from kbs_backends.rewrites.cuda.constants import numbers_in
from kbs_backends.rewrites.cuda.following import Following
from kbs_backends.rewrites.cuda.reach import reached, words_of
from kbs_backends.rewrites.cuda.view import Kernel, View

_WARP = 32
_IN_EXPRESSIONS = frozenset(
    {"binary_expression", "parenthesized_expression", "cast_expression", "call_expression"}
    | {"argument_list"}
)


def tied_to_threads(view: View, kernel: Kernel, found: Following) -> str:
    """Say what ties a kernel to its number of threads; empty where nothing is found."""
    whole = reached(view, kernel.node)
    for function in whole:
        own = found.known if function == kernel.node else {}
        known = own | dict.fromkeys(found.names)
        for node, value in numbers_in(view, function, function, known):
            reason = _told(view, node, value, found.number)
            if reason:
                return f"{kernel.name} {reason}"
    words = words_of(view, [kernel.node])
    follows = {name for name, value in found.known.items() if value is None} | found.names
    if "blockDim" not in words and not follows & words:
        return f"{kernel.name} does not read how many threads it has"
    return _of_grid(view, kernel, found, whole, words)


def _told(view: View, node: Node, value: int, number: int) -> str:
    text = view.code(node)
    if value == number:
        plain = node.type == "number_literal"
        return f"has {'the number' if plain else f'{text}, which is'} {number} in its code"
    if value == number // 2 > _WARP:
        return f"has {text}, which is half its {number} threads, in its code"
    above = node.parent
    if above is None or value <= 1:
        return ""
    related = value * _WARP == number or value % number == 0
    if related and above.type == "array_declarator" and "__shared__" in _declaration(view, above):
        return f"has a shared array of {text}, a share or multiple of its {number} threads"
    sign = above.child_by_field_name("operator")
    operator = view.code(sign) if sign is not None and above.type == "binary_expression" else ""
    shifts = operator in {"<<", ">>"} and above.child_by_field_name("right") == node
    if (operator == "&" and value == number - 1) or (shifts and 1 << min(value, _WARP) == number):
        return f"has {view.code(above)} in its code, which takes {number} threads for granted"
    return ""


def _declaration(view: View, node: Node) -> str:
    while node.parent is not None and node.type != "declaration":
        node = node.parent
    return view.code(node)


def _of_grid(
    view: View, kernel: Kernel, found: Following, whole: list[Node], words: set[str]
) -> str:
    """A grid that follows must number threads only; one that does not must not number them."""
    sizes = {"blockDim"} | found.names | {n for n, v in found.known.items() if v is None}
    for function in whole:
        for node in view.tree.walk(function, "field_expression"):
            block, _, axis = view.code(node).partition(".")
            if block != "blockIdx":
                continue
            scaled = _scaled(view, node, sizes)
            if axis in found.axes and not scaled and not _compared(view, node):
                return f"{kernel.name} reads {view.code(node)} by itself: blocks keep their number"
            if axis not in found.axes and scaled and "gridDim" not in words:
                return f"the grid of {kernel.name} does not follow its {found.number} threads"
    return ""


def _scaled(view: View, node: Node, sizes: set[str]) -> bool:
    """Return whether a block's number is multiplied by its number of threads."""
    here = node.parent
    while here is not None and here.type in _IN_EXPRESSIONS:
        sign = here.child_by_field_name("operator")
        if sign is not None and view.code(sign) == "*":
            names = {view.code(one) for one in view.tree.walk(here, "identifier")}
            if names & sizes:
                return True
        here = here.parent
    return False


def _compared(view: View, node: Node) -> bool:
    """``blockIdx.x == 0``."""
    above = node.parent
    if above is None or above.type != "binary_expression":
        return False
    parts = [above.child_by_field_name(field) for field in ("left", "operator", "right")]
    return [view.code(part) for part in parts[1:] if part is not None] == ["==", "0"]

"""Rows of a shared tile one word longer, so that a column lies in different banks."""

from __future__ import annotations

from tree_sitter import Node

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.cuda.constants import value_of
from kbs_backends.rewrites.cuda.draft import CudaDraft
from kbs_backends.rewrites.cuda.reach import called_name
from kbs_backends.rewrites.cuda.view import Kernel, View, view_of
from kbs_backends.variants.literals import read_c

METHOD = "smem_padding"
_BANKS = 8
"""A row whose length is a multiple of this many words makes columns collide at least four-fold."""
_PADS = (1, 2, 4)
_MOST_BYTES = 48 * 1024
"""Shared memory that a block has by declaration alone."""
_WORDS = frozenset({"float", "int", "unsigned", "unsigned int"})


def rewrite(source: RewriteSource) -> Rewritten:
    """Pad shared tiles that are read or written by columns; see ``ModuleRewrite``."""
    view = view_of(source.text)
    draft = CudaDraft(view, METHOD)
    reasons: list[str] = []
    for kernel in view.kernels:
        tiles = _tiles(view, kernel)
        if _grows_too_large(view, kernel, tiles):
            reasons.append(f"the tiles of {kernel.name} leave no room for padding in 48 KiB")
            continue
        for name, width, element in tiles:
            reason = _refusal(view, kernel, name, width, element)
            if reason:
                reasons.append(reason)
            else:
                draft.insert(width.end_byte, " + KBS_PAD")
    if not draft:
        raise NotApplicableError("; ".join(reasons) or "no kernel has a shared tile of two axes")
    changed = len(draft.edits)
    draft.tunable("KBS_PAD_WORDS", 1, _PADS)
    draft.line(f"constexpr int KBS_PAD = {draft.switch} ? KBS_PAD_WORDS : 0;")
    return draft.finish(f"{changed} shared tiles padded")


def _tiles(view: View, kernel: Kernel) -> list[tuple[str, Node, str]]:
    """Name, number of columns and type of ``__shared__ T name[rows][columns]``."""
    found = []
    for node in kernel.walk("declaration"):
        text = view.code(node)
        kind = node.child_by_field_name("type")
        outer = node.child_by_field_name("declarator")
        if "__shared__" not in text or "extern" in text or kind is None or outer is None:
            continue
        inner = outer.child_by_field_name("declarator")
        width = outer.child_by_field_name("size")
        if outer.type != "array_declarator" or inner is None or width is None:
            continue
        name = inner.child_by_field_name("declarator")
        if inner.type == "array_declarator" and name is not None and name.type == "identifier":
            found.append((view.code(name), width, view.code(kind)))
    return found


def _refusal(view: View, kernel: Kernel, name: str, width: Node, element: str) -> str:
    number = width
    if width.type == "identifier":
        number = view.constant(view.code(width), None) or width
    columns = read_c(view.code(number).split("//", 1)[0])
    if element not in _WORDS:
        return f"{name} holds {element}, not words of four bytes"
    if not isinstance(columns, int) or columns % _BANKS:
        return f"the rows of {name} are no multiple of {_BANKS} words"
    lanes = {"threadIdx.x"} | _lane_names(view, kernel)
    by_column = False
    for use in kernel.uses(name):
        first = use.parent
        if first is not None and first.type == "array_declarator":
            continue
        second = first.parent if first is not None else None
        if first is None or second is None or second.type != "subscript_expression":
            return f"{name} is used other than by row and column"
        if second.parent is not None and second.parent.type == "pointer_expression":
            return f"the address of an element of {name} is taken"
        if _is_reinterpreted(view, second):
            return f"an element of {name} is read as another type"
        row, column = first.child_by_field_name("indices"), second.child_by_field_name("indices")
        if row is not None and column is not None:
            varies = _mentions(view, row, lanes)
            by_column |= varies and not _mentions(view, column, lanes)
    return "" if by_column else f"no warp reads or writes {name} by columns"


def _is_reinterpreted(view: View, element: Node) -> bool:
    """``reinterpret_cast<float4&>(tile[r][c])`` wants rows of whole vectors."""
    call = element.parent.parent if element.parent is not None else None
    return call is not None and called_name(view, call) == "reinterpret_cast"


def _grows_too_large(view: View, kernel: Kernel, tiles: list[tuple[str, Node, str]]) -> bool:
    """Return whether tiles with their padding pass what a block has without asking for more."""
    total = 0
    for _, width, _ in tiles:
        outer = width.parent
        inner = outer.child_by_field_name("declarator") if outer is not None else None
        height = inner.child_by_field_name("size") if inner is not None else None
        rows = value_of(view, height, kernel.node) if height is not None else None
        columns = value_of(view, width, kernel.node)
        total += (rows or 0) * ((columns or 0) + max(_PADS)) * 4
    return total > _MOST_BYTES


def _lane_names(view: View, kernel: Kernel) -> set[str]:
    """Names that are ``threadIdx.x`` under another name."""
    return {
        view.code(target)
        for node in kernel.walk("init_declarator")
        if (target := node.child_by_field_name("declarator")) is not None
        and (value := node.child_by_field_name("value")) is not None
        and view.code(value) == "threadIdx.x"
    }


def _mentions(view: View, index: Node, names: set[str]) -> bool:
    return any(
        view.code(node) in names for node in view.tree.walk(index, "identifier", "field_expression")
    )

"""Options of ``tl.range`` put on the loops of a kernel."""

from __future__ import annotations

import libcst as cst

from kbs_backends.rewrites.triton.draft import TritonDraft
from kbs_backends.rewrites.triton.view import Kernel, argument, walk


def is_innermost(loop: cst.For) -> bool:
    """Return whether a loop holds no other loop."""
    return not any(isinstance(node, cst.For | cst.While) for node in walk(loop.body))


def loads_in(kernel: Kernel, loop: cst.For) -> bool:
    """Return whether a loop loads from memory."""
    return any(
        kernel.is_tl(node, "load") or (isinstance(node, cst.Call) and _is_descriptor_load(node))
        for node in walk(loop.body)
    )


def has_dot(kernel: Kernel, loop: cst.For) -> bool:
    """Return whether a loop multiplies tiles."""
    return any(kernel.is_tl(node, "dot", "dot_scaled") for node in walk(loop.body))


def set_option(draft: TritonDraft, kernel: Kernel, loop: cst.For, option: str, value: str) -> bool:
    """Give a loop an option of ``tl.range``; False where it has one or is no such loop."""
    call = loop.iter
    if not isinstance(call, cst.Call) or not call.args:
        return False
    plain = isinstance(call.func, cst.Name) and call.func.value == "range"
    if not plain and not kernel.is_tl(call, "range"):
        return False
    if argument(call, option) is not None:
        return False
    tree = draft.view.tree
    if plain:
        draft.replace(tree.span(call.func), f"{draft.view.tl}.range")
    draft.insert(tree.span(call.args[-1].value)[1], f", {option}={value}")
    return True


def _is_descriptor_load(call: cst.Call) -> bool:
    return isinstance(call.func, cst.Attribute) and call.func.attr.value == "load"

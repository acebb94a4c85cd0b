"""Number of threads of a launch's blocks as a constant expression."""

from __future__ import annotations

import re

from tree_sitter import Node

from kbs_backends.rewrites.cuda.view import LISTS, Launch, View
from kbs_backends.variants.cuda_tree import enclosing_function

_CONSTANT = re.compile(r"[\sA-Z0-9_()?:+*/-]+\Z")
"""Numbers and names of macros and constants."""


def threads_of(view: View, launch: Launch, place: int) -> str | None:
    """Return an expression that is constant at ``place`` of the file, None where there is none."""
    block, host = launch.block, launch.host
    if block is not None and block.type == "identifier":
        name = view.code(block)
        block = view.constant(name, host)
        if block is not None and enclosing_function(block) is None:
            return _named(view, name, block, place)
    if block is None:
        return None
    if block.type in LISTS or view.code(block).startswith("dim3"):
        return _product(view, block, host, place)
    return view.code(block).strip() if _is_constant(view, block) else None


def _is_constant(view: View, node: Node) -> bool:
    text = view.code(node).split("//", 1)[0].split("/*", 1)[0].strip()
    plain = node.type in {"number_literal", "preproc_arg"} or "?" in text
    return plain and _CONSTANT.match(text) is not None


def _named(view: View, name: str, value: Node, place: int) -> str | None:
    """A name of the file where it is known at ``place``, its value where it comes later."""
    if not _is_constant(view, value):
        return None
    return name if value.start_byte < place else view.code(value).split("//", 1)[0].strip()


def _product(view: View, node: Node, host: Node | None, place: int) -> str | None:
    """``dim3(x, y)``: the product of its sizes."""
    listed = node if node.type in LISTS else node.child_by_field_name("arguments")
    sizes: list[str] = []
    for child in (one for one in listed.children if one.is_named) if listed is not None else ():
        text = view.code(child)
        if text.isidentifier():
            value = view.constant(text, host)
            if value is None or not _is_constant(view, value):
                return None
            local = enclosing_function(value) is not None
            sizes.append(view.code(value) if local else _named(view, text, value, place) or text)
        elif _is_constant(view, child):
            sizes.append(text)
        else:
            return None
    return " * ".join(size for size in sizes if size != "1") or "1" if sizes else None

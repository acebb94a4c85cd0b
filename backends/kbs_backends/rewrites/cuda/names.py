"""Names in the tree of a CUDA source: without their scopes, and what stands around them."""

from __future__ import annotations

import re

from tree_sitter import Node

from kbs_backends.variants.cuda_tree import CTree

_AROUND_NAMES = frozenset(
    {"template_function", "qualified_identifier", "field_expression", "template_method"}
)
_NAMES = frozenset({"identifier", "field_identifier", "primitive_type", "type_identifier"})
_ASKS = re.compile(r"cuda(?:Func|Occupancy)\w*\Z")
"""Functions of the runtime that are given a kernel and do not launch it."""


def named_children(node: Node) -> list[Node]:
    """Parts of a node without its signs and comments."""
    return [child for child in node.children if child.is_named and child.type != "comment"]


def plain_name(tree: CTree, node: Node) -> str:
    """Name without scope and template arguments; empty where none stands."""
    here: Node | None = node
    while here is not None and here.type in _AROUND_NAMES:
        field = "field" if here.type == "field_expression" else "name"
        here = here.child_by_field_name(field)
    return tree.code(here) if here is not None and here.type in _NAMES else ""


def declared_name(tree: CTree, function: Node) -> str:
    """Plain name of a function definition."""
    here = function.child_by_field_name("declarator")
    while here is not None and here.type.endswith("_declarator"):
        here = here.child_by_field_name("declarator")
    return plain_name(tree, here) if here is not None else ""


def is_special(function: Node) -> bool:
    """Return whether a function is ``template <> __global__ void k<float>(…)`` or of a class."""
    here = function.child_by_field_name("declarator")
    while here is not None and here.type.endswith("_declarator"):
        here = here.child_by_field_name("declarator")
    return here is not None and here.type in _AROUND_NAMES


def is_called(tree: CTree, name: Node) -> bool:
    """Return whether a name is what a call calls, what is declared, or only asked about."""
    here = name
    while here.parent is not None and here.parent.type in _AROUND_NAMES:
        here = here.parent
    above = here.parent
    while above is not None and above.type in {"cast_expression", "argument_list"}:
        here, above = above, above.parent
        called = above.child_by_field_name("function") if above is not None else None
        if called is not None and _ASKS.match(plain_name(tree, called)):
            return True
    if above is None:
        return False
    if above.type == "call_expression":
        return above.child_by_field_name("function") == here
    return above.type in {"function_declarator", "preproc_def", "preproc_function_def"}


def declares(name: Node) -> bool:
    """Return whether a name stands where a parameter or variable is declared."""
    above = name.parent
    if above is None or above.type == "function_declarator":
        return False
    return above.type == "reference_declarator" or above.child_by_field_name("declarator") == name

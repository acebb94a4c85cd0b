"""Elements of arrays: whether they are read alone, and whether they are reached in any case."""

from __future__ import annotations

import re

from tree_sitter import Node

from kbs_backends.rewrites.cuda.names import named_children
from kbs_backends.rewrites.cuda.reach import called_name, takes_by_value
from kbs_backends.rewrites.cuda.view import Kernel, Param, View

_SAME = frozenset({"parenthesized_expression", "conditional_expression", "comma_expression"})
"""Expressions that are the element itself, so that it may be written through them."""
_READS = frozenset(
    {"assignment_expression", "init_declarator", "argument_list", "cast_expression"}
    | {"binary_expression", "unary_expression", "condition_clause", "subscript_argument_list"}
    | {"initializer_list", "expression_statement", "if_statement", "while_statement"}
    | {"for_statement", "do_statement", "switch_statement"}
)
"""What may stand around an element that is read; some of these must be looked at more closely."""
_ALWAYS = frozenset(
    {"expression_statement", "declaration", "init_declarator", "assignment_expression"}
    | {"parenthesized_expression", "unary_expression", "cast_expression", "update_expression"}
    | {"subscript_expression", "subscript_argument_list", "comma_expression", "compound_statement"}
    | {"condition_clause", "init_statement", "initializer_list", "argument_list", "do_statement"}
    | {"field_expression", "compound_literal_expression", "pointer_expression"}
)
"""What evaluates all of its parts."""
_FIRST = {
    "if_statement": ("condition",),
    "conditional_expression": ("condition",),
    "switch_statement": ("condition",),
    "while_statement": ("condition",),
    "for_statement": ("initializer", "condition"),
}
"""What evaluates these parts in any case, and others under a condition or not at all."""
_MAY_SKIP = re.compile(
    r"[?#]|&&|\|\||\b(?:and|or|if|for|while|do|switch|sizeof|alignof|decltype|noexcept|typeof)\b"
)
_SHORT = frozenset({"&&", "||", "and", "or"})


def only_read(kernel: Kernel, param: Param) -> bool:
    """Return whether every use is ``x[...]`` whose value is read."""
    uses = kernel.uses(param.name)
    return bool(uses) and all(is_read(kernel.view, use) for use in uses)


def is_read(view: View, use: Node) -> bool:
    """Return whether ``use`` is the array of an element whose value is read."""
    element = use.parent
    indexed = element is not None and element.type == "subscript_expression"
    if element is None or not indexed or element.child_by_field_name("argument") != use:
        return False
    while element.parent is not None and element.parent.type in _SAME:
        if element.parent.child_by_field_name("condition") == element:
            return True
        element = element.parent
    user = element.parent
    return user is not None and user.type in _READS and _reads(view, user, element)


def _reads(view: View, user: Node, element: Node) -> bool:
    if user.type == "assignment_expression":
        return user.child_by_field_name("right") == element
    if user.type == "init_declarator":
        declared = user.child_by_field_name("declarator")
        return declared is not None and "&" not in view.code(declared)
    if user.type == "argument_list":
        call = user.parent
        if call is None or call.type != "call_expression":
            return call is not None and call.type == "init_declarator"
        return takes_by_value(view, call, named_children(user).index(element))
    return user.type != "cast_expression" or "&" not in view.code(user).split(")", 1)[0]


def reached_always(view: View, node: Node, statement: Node) -> bool:
    """Return whether ``statement`` evaluates ``node`` whenever it runs, if nothing leaves it.

    Not so below conditions, in loops, behind ``&&`` and where only a type is asked for.
    """
    here = node
    while here != statement:
        above = here.parent
        if above is None or not _evaluates(view, above, here):
            return False
        here = above
    return True


def _evaluates(view: View, above: Node, part: Node) -> bool:
    if above.type in _FIRST:
        return any(above.child_by_field_name(field) == part for field in _FIRST[above.type])
    if above.type == "binary_expression":
        sign = above.child_by_field_name("operator")
        short = sign is not None and view.code(sign) in _SHORT
        return not short or above.child_by_field_name("left") == part
    if above.type == "call_expression":
        name = called_name(view, above)
        return name not in view.macros or _is_plain_macro(view, name, ())
    return above.type in _ALWAYS


def _is_plain_macro(view: View, name: str, seen: tuple[str, ...]) -> bool:
    """Return whether a macro evaluates every argument, whatever their values are."""
    if name in seen:
        return False
    for node in view.tree.walk(None, "preproc_function_def"):
        named, listed, value = (
            node.child_by_field_name(f) for f in ("name", "parameters", "value")
        )
        if named is None or view.code(named) != name:
            continue
        text = view.code(value) if value is not None else ""
        words = re.findall(r"[A-Za-z_]\w*", text)
        params = {view.code(one) for one in named_children(listed)} if listed is not None else set()
        behind = [word for word in words if word in view.macros]
        if _MAY_SKIP.search(text) or not params <= set(words):
            return False
        return all(_is_plain_macro(view, word, (*seen, name)) for word in behind)
    return all(not _MAY_SKIP.search(text) for text in view.macros.get(name, ()))

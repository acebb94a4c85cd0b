"""Arrays that a kernel only reads, declared so that loads may take the read-only path."""

from __future__ import annotations

from tree_sitter import Node

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.cuda.aliases import aliased
from kbs_backends.rewrites.cuda.draft import CudaDraft
from kbs_backends.rewrites.cuda.names import named_children
from kbs_backends.rewrites.cuda.reach import takes_by_value
from kbs_backends.rewrites.cuda.view import Kernel, Param, View, view_of

METHOD = "readonly_cache_path"
_SAME = frozenset({"parenthesized_expression", "conditional_expression", "comma_expression"})
"""Expressions that are the element itself, so that it may be written through them."""
_READS = frozenset(
    {"assignment_expression", "init_declarator", "argument_list", "cast_expression"}
    | {"binary_expression", "unary_expression", "condition_clause", "subscript_argument_list"}
    | {"initializer_list", "expression_statement", "if_statement", "while_statement"}
    | {"for_statement", "do_statement", "switch_statement"}
)
"""What may stand around an element that is read; some of these must be looked at more closely."""


def rewrite(source: RewriteSource) -> Rewritten:
    """Declare pointers ``const`` and ``__restrict__``; see ``ModuleRewrite``."""
    view = view_of(source.text)
    draft = CudaDraft(view, METHOD)
    reasons: list[str] = []
    for kernel in view.kernels:
        reason = _refusal(view, kernel)
        if reason:
            reasons.append(reason)
            continue
        for param in kernel.params.values():
            if param.volatile:
                continue
            if param.stars == 1 and not param.restrict:
                draft.insert(param.name_start, "KBS_RESTRICT ")
            if param.stars == 1 and not param.const and _only_read(kernel, param):
                draft.insert(param.start, "KBS_CONST ")
    if not draft:
        raise NotApplicableError("; ".join(dict.fromkeys(reasons)))
    changed = len(draft.edits)
    draft.either(
        "#define KBS_RESTRICT __restrict__\n#define KBS_CONST const",
        "#define KBS_RESTRICT\n#define KBS_CONST",
    )
    return draft.finish(f"{changed} qualifiers on pointers")


def _refusal(view: View, kernel: Kernel) -> str:
    pointers = [one for one in kernel.params.values() if one.stars == 1 and not one.volatile]
    if not any(param.const or _only_read(kernel, param) for param in pointers):
        return f"{kernel.name} reads no array that it does not write"
    missing = [p for p in pointers if not p.restrict or (not p.const and _only_read(kernel, p))]
    if not missing:
        return f"{kernel.name} declares its pointers const and __restrict__ already"
    if view.told_again(kernel.name):
        return f"{kernel.name} is declared a second time"
    return aliased(view, kernel)


def _only_read(kernel: Kernel, param: Param) -> bool:
    """Return whether every use is ``x[...]`` whose value is read."""
    uses = kernel.uses(param.name)
    return bool(uses) and all(_is_read(kernel.view, use) for use in uses)


def _is_read(view: View, use: Node) -> bool:
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

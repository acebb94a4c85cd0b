"""``expf(x)`` as ``exp2f(x · log2 e)``, which the special-function unit computes directly."""

from __future__ import annotations

import re

from tree_sitter import Node

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.cuda.draft import CudaDraft
from kbs_backends.rewrites.cuda.names import declares, named_children
from kbs_backends.rewrites.cuda.reach import fits_a_macro
from kbs_backends.rewrites.cuda.view import Kernel, View, base_name, view_of

METHOD = "exp2_rescaling"
_HALF = re.compile(r"half|bfloat16")


def rewrite(source: RewriteSource) -> Rewritten:
    """Take exponentials to base two; see ``ModuleRewrite``."""
    view = view_of(source.text)
    draft = CudaDraft(view, METHOD)
    for kernel in view.kernels:
        for call in kernel.walk("call_expression"):
            called = call.child_by_field_name("function")
            plain = called is not None and view.code(called) == "expf"
            if called is not None and plain and _can_be_scaled(view, kernel, call):
                draft.replace(view.span(called), "kbs_exp_by_two")
    if not draft:
        if "kbs_expf" in source.text:
            raise NotApplicableError("fast_math_intrinsics has chosen what expf is: one of the two")
        raise NotApplicableError("no kernel calls expf")
    changed = len(draft.edits)
    draft.either(
        "#define kbs_exp_by_two(x) exp2f((x) * 1.4426950408889634f)",
        "#define kbs_exp_by_two(x) expf(x)",
    )
    return draft.finish(f"{changed} exponentials to base two")


def _can_be_scaled(view: View, kernel: Kernel, call: Node) -> bool:
    """A half times a float is ambiguous; a comma in no bracket ends the argument of a macro."""
    halves = {one.name for one in kernel.params.values() if _HALF.search(one.element)}
    for node in kernel.walk("declaration"):
        kind = node.child_by_field_name("type")
        if kind is not None and _HALF.search(view.code(kind)):
            halves |= {view.code(n) for n in view.tree.walk(node, "identifier") if declares(n)}
    listed = call.child_by_field_name("arguments")
    parts = named_children(listed) if listed is not None else []
    bare = [part for part in parts if part.type in {"identifier", "subscript_expression"}]
    plain = all((base_name(view, part) or "") not in halves for part in bare)
    return plain and fits_a_macro(view, call) and "expf" not in {*view.macros, *view.functions}

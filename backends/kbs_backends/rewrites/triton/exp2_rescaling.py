"""``exp(x)`` as ``exp2(x · log2 e)``, with the scale folded into a fused multiply-add."""

from __future__ import annotations

import libcst as cst

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.triton.draft import TritonDraft
from kbs_backends.rewrites.triton.view import View, view_of

METHOD = "exp2_rescaling"
LOG2_E = "1.4426950408889634"


def rewrite(source: RewriteSource) -> Rewritten:
    """Take the exponential to base two; see ``ModuleRewrite``.

    ``exp(a − b)`` becomes ``exp2(a·L − b·L)``: with b a row's maximum, b·L is one value a row
    and the rest one fused multiply-add an element in place of a subtraction and a product.
    """
    view = view_of(source.text)
    draft = TritonDraft(view, METHOD)
    end = 0
    for kernel in view.kernels.values():
        for call in kernel.calls("exp"):
            span = view.tree.span(call)
            if span[0] < end or len(call.args) != 1:
                continue  # inside one that is rewritten already
            end = span[1]
            scaled = _scaled(view, call.args[0].value)
            old = view.code(call)
            draft.replace(span, f"({view.tl}.exp2({scaled}) if {draft.switch} else {old})")
    if not draft:
        raise NotApplicableError("no tl.exp in a kernel")
    return draft.finish(f"{len(draft.edits)} exponentials to base two")


def _scaled(view: View, value: cst.BaseExpression) -> str:
    if isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.Subtract):
        return f"{_times(view, value.left)} - {_times(view, value.right)}"
    return _times(view, value)


def _times(view: View, value: cst.BaseExpression) -> str:
    text = view.code(value)
    simple = isinstance(value, cst.Name | cst.Call | cst.Subscript | cst.Attribute)
    if simple or (value.lpar and text.startswith("(")):
        return f"{text} * {LOG2_E}"
    return f"({text}) * {LOG2_E}"

"""``exp(x)`` as ``exp2(x · log2 e)``; one multiply-add for a difference of bounded values."""

from __future__ import annotations

import libcst as cst

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.triton.dataflow import Flow
from kbs_backends.rewrites.triton.draft import TritonDraft
from kbs_backends.rewrites.triton.magnitudes import largest
from kbs_backends.rewrites.triton.view import Kernel, View, view_of

METHOD = "exp2_rescaling"
LOG2_E = "1.4426950408889634"
_PRECISE = 1024.0
"""Up to here rounding ``b·L`` changes the exponential by less than one part in 10 000."""


def rewrite(source: RewriteSource) -> Rewritten:
    """Take the exponential to base two; see ``ModuleRewrite``.

    ``exp(a − b)`` becomes ``exp2((a − b)·L)``, which is right for every a and b. Where the source
    bounds both it becomes ``exp2(a·L − b·L)``, a fused multiply-add in place of a subtraction and
    a product. Elsewhere it may not: for the largest finite number, with which rows are masked,
    both products are infinite and their difference is no number.
    """
    view = view_of(source.text)
    draft = TritonDraft(view, METHOD)
    end = 0
    for kernel in view.kernels.values():
        flow = Flow(kernel)
        for call in kernel.calls("exp"):
            span = view.tree.span(call)
            if span[0] < end or len(call.args) != 1:
                continue  # inside one that is rewritten already
            end = span[1]
            scaled = _scaled(kernel, flow, call.args[0].value)
            old = view.code(call)
            draft.replace(span, f"({view.tl}.exp2({scaled}) if {draft.switch} else {old})")
    if not draft:
        raise NotApplicableError("no tl.exp in a kernel")
    return draft.finish(f"{len(draft.edits)} exponentials to base two")


def _scaled(kernel: Kernel, flow: Flow, value: cst.BaseExpression) -> str:
    if isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.Subtract):
        sides = (value.left, value.right)
        bounds = [largest(kernel, flow, one) for one in sides]
        if all(bound is not None and bound <= _PRECISE for bound in bounds):
            return " - ".join(_times(kernel.view, one) for one in sides)
    return _times(kernel.view, value)


def _times(view: View, value: cst.BaseExpression) -> str:
    text = view.code(value)
    simple = isinstance(value, cst.Name | cst.Call | cst.Subscript | cst.Attribute)
    if simple or (value.lpar and text.startswith("(")):
        return f"{text} * {LOG2_E}"
    return f"({text}) * {LOG2_E}"

"""Approximate square roots and divisions in place of exact or repeated ones."""

from __future__ import annotations

import libcst as cst

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.triton.dataflow import Flow
from kbs_backends.rewrites.triton.draft import TritonDraft
from kbs_backends.rewrites.triton.view import Kernel, View, view_of

METHOD = "fast_math_intrinsics"


def rewrite(source: RewriteSource) -> Rewritten:
    """Use the approximate instructions; see ``ModuleRewrite``.

    ``1 / sqrt(x)`` is ``rsqrt(x)``; ``div_rn`` and ``sqrt_rn`` lose their rounding; a block
    divided by one value per row is multiplied by its reciprocal.
    """
    view = view_of(source.text)
    draft = TritonDraft(view, METHOD)
    end = 0
    for kernel in view.kernels.values():
        flow = Flow(kernel)
        for node in kernel.walk():
            if not isinstance(node, cst.BaseExpression):
                continue
            fast = _fast(view, kernel, flow, node)
            span = view.tree.span(node)
            if fast is None or span[0] < end:
                continue
            end = span[1]
            draft.replace(span, f"({fast} if {draft.switch} else {view.code(node)})")
    if not draft:
        raise NotApplicableError("no exact root, rounded division or division by a row's value")
    return draft.finish(f"{len(draft.edits)} operations approximate")


def _fast(view: View, kernel: Kernel, flow: Flow, node: cst.BaseExpression) -> str | None:
    tl = view.tl
    if kernel.is_tl(node, "div_rn") and isinstance(node, cst.Call):
        first, second = (view.code(one.value) for one in node.args[:2])
        return f"({first}) / ({second})"
    if kernel.is_tl(node, "sqrt_rn") and isinstance(node, cst.Call):
        return f"{tl}.sqrt({view.code(node.args[0].value)})"
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Divide):
        return None
    below = node.right
    if kernel.is_tl(below, "sqrt") and isinstance(below, cst.Call):
        root = f"{tl}.rsqrt({view.code(below.args[0].value)})"
        one = view.code(node.left) in {"1", "1.0"}
        return root if one else f"({view.code(node.left)}) * {root}"
    if isinstance(below, cst.Name | cst.Subscript) and _per_row(kernel, flow, node):
        return f"{_grouped(view, node.left)} * (1.0 / {view.code(below)})"
    return None


def _per_row(kernel: Kernel, flow: Flow, node: cst.BinaryOperation) -> bool:
    """A block over the result of a reduction, and not a reduction over another."""
    name = node.right.value if isinstance(node.right, cst.Subscript) else node.right
    if not isinstance(name, cst.Name):
        return False
    reduced = any(kernel.is_tl(value, "sum", "max") for value in flow.values.get(name.value, []))
    above = flow.single(node.left.value) if isinstance(node.left, cst.Name) else node.left
    scalar = above is None or kernel.is_tl(above, "sum", "max")
    number = isinstance(node.left, cst.Integer | cst.Float)
    return reduced and not scalar and not number


def _grouped(view: View, node: cst.BaseExpression) -> str:
    text = view.code(node)
    return text if isinstance(node, cst.Name | cst.Call) else f"({text})"

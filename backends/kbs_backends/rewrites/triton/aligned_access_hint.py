"""Row offsets that the compiler may take for multiples of eight elements."""

from __future__ import annotations

import libcst as cst

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.triton.dataflow import Flow
from kbs_backends.rewrites.triton.draft import TritonDraft
from kbs_backends.rewrites.triton.heuristics import add_facts
from kbs_backends.rewrites.triton.uses import Uses
from kbs_backends.rewrites.triton.view import Kernel, view_of

METHOD = "aligned_access_hint"
_ELEMENTS = 8
"""Sixteen bytes of 16-bit values; multiples of 16 Triton finds out itself."""


def rewrite(source: RewriteSource) -> Rewritten:
    """Hint at ``program · stride`` where the launch shows it; see ``ModuleRewrite``."""
    view = view_of(source.text)
    draft = TritonDraft(view, METHOD)
    changed = 0
    for kernel in view.launched():
        facts: dict[str, str] = {}
        end = 0
        flow, uses = Flow(kernel), Uses(kernel)
        for node in kernel.walk():
            stride = _row_offset(kernel, flow, node)
            if (
                isinstance(node, cst.BaseExpression)
                and stride
                and "address" not in uses.ends(node, casts=False)
            ):
                continue  # a number, perhaps of floating point
            span = view.tree.span(node) if stride else (0, 0)
            if not stride or span[0] < end:
                continue
            end = span[1]
            flag = f"KBS_ALIGNED_{stride.upper()}"
            facts[flag] = f'args["{stride}"] % {_ELEMENTS} == 0'
            old = view.code(node)
            hinted = f"{view.tl}.multiple_of({old}, {_ELEMENTS})"
            draft.replace(span, f"({hinted} if {flag} else {old})")
            changed += 1
        if facts:
            add_facts(draft, kernel, facts)
    if not changed:
        raise NotApplicableError("no row offset of the form program · stride")
    return draft.finish(f"{changed} row offsets with an alignment hint")


def _row_offset(kernel: Kernel, flow: Flow, node: cst.CSTNode) -> str:
    """Name of the stride where a node is one row number times a run-time stride."""
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Multiply):
        return ""
    for row, stride in ((node.left, node.right), (node.right, node.left)):
        if not isinstance(stride, cst.Name) or stride.value in flow.assigned:
            continue
        param = kernel.params.get(stride.value)
        if param is None or param.constexpr:
            continue
        if flow.axes(row) and not flow.uses(row, "arange", "load"):
            in_loop = flow.closure(row) & flow.loop_names
            return "" if in_loop else stride.value
    return ""

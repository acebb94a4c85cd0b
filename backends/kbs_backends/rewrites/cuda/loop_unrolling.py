"""Innermost loops unrolled by a factor that can be tuned."""

from __future__ import annotations

from tree_sitter import Node

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.cuda.draft import CudaDraft
from kbs_backends.rewrites.cuda.view import View, view_of

METHOD = "loop_unrolling"


def rewrite(source: RewriteSource) -> Rewritten:
    """Put ``#pragma unroll`` on innermost loops; see ``ModuleRewrite``.

    Switched off, no pragma stands there and the compiler decides as before.
    """
    view = view_of(source.text)
    draft = CudaDraft(view, METHOD)
    for kernel in view.kernels:
        for loop in kernel.walk("for_statement"):
            if _wanted(view, loop):
                lines = [f"#if {draft.switch}", "#pragma unroll KBS_UNROLL", "#endif", ""]
                draft.insert(view.line_start(loop), "\n".join(lines))
    if not draft:
        raise NotApplicableError("no innermost loop without a pragma of its own")
    changed = len(draft.edits)
    draft.tunable("KBS_UNROLL", 4, (2, 4, 8, 16))
    return draft.finish(f"{changed} loops unrolled")


def _wanted(view: View, loop: Node) -> bool:
    body = loop.child_by_field_name("body")
    inner = body is not None and any(view.tree.walk(body, "for_statement", "while_statement"))
    if body is None or inner or not view.first_on_line(loop):
        return False
    if any(view.tree.walk(body, "gnu_asm_expression")):
        return False  # labels of assembly must not stand twice
    before = view.data[: view.line_start(loop)].decode().rstrip().rsplit("\n", 1)[-1].strip()
    return not before.startswith("#pragma") and not before.startswith("#endif")

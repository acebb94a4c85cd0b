"""Innermost loops unrolled by the compiler (``tl.range(loop_unroll_factor=…)``)."""

from __future__ import annotations

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.triton.draft import TritonDraft
from kbs_backends.rewrites.triton.loop_options import has_dot, is_innermost, set_option
from kbs_backends.rewrites.triton.view import view_of

METHOD = "loop_unrolling"


def rewrite(source: RewriteSource) -> Rewritten:
    """Unroll innermost loops that multiply no tiles; see ``ModuleRewrite``.

    A loop around ``tl.dot`` is left to the pipeliner, which unrolling keeps from working.
    """
    view = view_of(source.text)
    draft = TritonDraft(view, METHOD)
    factor = f"KBS_UNROLL if {draft.switch} else None"
    changed = 0
    for kernel in view.kernels.values():
        for loop in kernel.loops():
            if is_innermost(loop) and not has_dot(kernel, loop):
                changed += set_option(draft, kernel, loop, "loop_unroll_factor", factor)
    if not changed:
        raise NotApplicableError("no innermost loop without tl.dot and an unroll factor of its own")
    draft.tunable("KBS_UNROLL", 4, (2, 4, 8))
    return draft.finish(f"{changed} loops unrolled")

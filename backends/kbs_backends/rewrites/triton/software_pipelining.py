"""Loads of a loop issued some iterations ahead (``tl.range(num_stages=…)``)."""

from __future__ import annotations

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.triton.draft import TritonDraft
from kbs_backends.rewrites.triton.loop_options import is_innermost, loads_in, set_option
from kbs_backends.rewrites.triton.view import view_of

METHOD = "software_pipelining"


def rewrite(source: RewriteSource) -> Rewritten:
    """Pipeline every innermost loop that loads; see ``ModuleRewrite``."""
    view = view_of(source.text)
    draft = TritonDraft(view, METHOD)
    stages = f"KBS_LOOP_STAGES if {draft.switch} else None"
    changed = 0
    for kernel in view.kernels.values():
        for loop in kernel.loops():
            if is_innermost(loop) and loads_in(kernel, loop):
                changed += set_option(draft, kernel, loop, "num_stages", stages)
    if not changed:
        raise NotApplicableError("no loop loads from memory without its own num_stages")
    draft.tunable("KBS_LOOP_STAGES", 3, (2, 3, 4, 5))
    return draft.finish(f"{changed} loops with loads issued ahead")

"""Loads, matrix work and the rest of a loop on warps of their own (``warp_specialize``)."""

from __future__ import annotations

import re

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.triton.draft import TritonDraft
from kbs_backends.rewrites.triton.loop_options import has_dot, is_innermost, loads_in, set_option
from kbs_backends.rewrites.triton.view import view_of

METHOD = "warp_specialization"
_SUPPORTED = re.compile(r"sm_10[0-9][af]?\Z")
"""Triton specialises warps on data-centre Blackwell only (documentation of ``tl.range``)."""


def rewrite(source: RewriteSource) -> Rewritten:
    """Specialise the warps of matrix loops; see ``ModuleRewrite``."""
    if not _SUPPORTED.match(source.arch):
        raise NotApplicableError(
            f"Triton specialises warps on sm_100 and sm_103, not {source.arch}"
        )
    view = view_of(source.text)
    draft = TritonDraft(view, METHOD)
    changed = 0
    for kernel in view.kernels.values():
        for loop in kernel.loops():
            if is_innermost(loop) and has_dot(kernel, loop) and loads_in(kernel, loop):
                changed += set_option(draft, kernel, loop, "warp_specialize", draft.switch)
    if not changed:
        raise NotApplicableError("no simple loop of loads and tl.dot")
    return draft.finish(f"{changed} loops with specialised warps")

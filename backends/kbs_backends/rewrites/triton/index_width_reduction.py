"""Indices of 32 bits where no tensor of the task needs more."""

from __future__ import annotations

import libcst as cst

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.triton.dataflow import Flow
from kbs_backends.rewrites.triton.draft import TritonDraft
from kbs_backends.rewrites.triton.uses import Uses, data_in
from kbs_backends.rewrites.triton.view import Kernel, View, view_of

METHOD = "index_width_reduction"
LARGEST_TILE = 2**20
"""Elements that Triton allows in a block: the last tile passes the end by less."""
LIMIT = 2**31 - LARGEST_TILE
_NARROW = ("program_id", "num_programs", "arange", "argmax", "argmin")
"""Calls whose result has 32 bits."""


def rewrite(source: RewriteSource) -> Rewritten:
    """Narrow indices that are cast to 64 bits; see ``ModuleRewrite``."""
    largest = source.largest_index
    if largest is None:
        raise NotApplicableError("the sizes are not known, so that an index may pass 2^31")
    if largest >= LIMIT:
        raise NotApplicableError(f"the sizes multiply to {largest}: an index may pass 2^31")
    view = view_of(source.text)
    draft = TritonDraft(view, METHOD)
    wide = f"{view.tl}.int64"
    reasons: list[str] = []
    for kernel in view.kernels.values():
        flow, uses = Flow(kernel), Uses(kernel)
        for call in kernel.walk():
            if not isinstance(call, cst.Call) or not _casts(view, call, wide):
                continue
            if _is_index(kernel, flow, uses, call):
                narrow = f"{view.tl}.int32 if {draft.switch} else {wide}"
                draft.replace(view.tree.span(call.args[0].value), narrow)
            else:
                reasons.append(f"{kernel.name} uses {view.code(call)} as more than an index")
    if not draft:
        raise NotApplicableError("; ".join(reasons) or "no index is cast to 64 bits")
    return draft.finish(f"{len(draft.edits)} indices of 32 bits")


def _casts(view: View, call: cst.Call, wide: str) -> bool:
    """``x.to(tl.int64)``."""
    if not isinstance(call.func, cst.Attribute) or call.func.attr.value != "to":
        return False
    return len(call.args) == 1 and view.code(call.args[0].value) == wide


def _is_index(kernel: Kernel, flow: Flow, uses: Uses, call: cst.Call) -> bool:
    """A cast of what is not data, which memory is addressed with and nothing else is done with."""
    value = call.func.value if isinstance(call.func, cst.Attribute) else call
    launched = bool(kernel.view.launches_of(kernel))
    narrow = kernel.is_tl(value, *_NARROW)
    unknown = not launched and flow.closure(value) & set(kernel.params)
    if not narrow and (unknown or data_in(flow.sources(value))):
        return False
    fit = {"address", "mask", "compared"} | ({"stored"} if narrow else set())
    ends = uses.ends(call)
    return bool(ends) and ends <= fit

"""Indices of 32 bits where no tensor of the task needs more."""

from __future__ import annotations

import libcst as cst

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.triton.draft import TritonDraft
from kbs_backends.rewrites.triton.view import View, view_of

METHOD = "index_width_reduction"
LIMIT = 2**31


def rewrite(source: RewriteSource) -> Rewritten:
    """Narrow what is cast to 64 bits; see ``ModuleRewrite``."""
    largest = source.largest_index
    if largest is None:
        raise NotApplicableError("the sizes are not known, so that an index may pass 2^31")
    if largest >= LIMIT:
        raise NotApplicableError(f"the sizes multiply to {largest}: an index may pass 2^31")
    view = view_of(source.text)
    draft = TritonDraft(view, METHOD)
    wide = f"{view.tl}.int64"
    for kernel in view.kernels.values():
        for call in kernel.walk():
            if isinstance(call, cst.Call) and _casts(view, call, wide):
                narrow = f"{view.tl}.int32 if {draft.switch} else {wide}"
                draft.replace(view.tree.span(call.args[0].value), narrow)
    if not draft:
        raise NotApplicableError("no index is cast to 64 bits")
    return draft.finish(f"{len(draft.edits)} indices of 32 bits")


def _casts(view: View, call: cst.Call, wide: str) -> bool:
    """``x.to(tl.int64)``, but not of a loaded value: that is data, which may be large."""
    if not isinstance(call.func, cst.Attribute) or call.func.attr.value != "to":
        return False
    loaded = f"{view.tl}.load" in view.code(call.func.value)
    return len(call.args) == 1 and view.code(call.args[0].value) == wide and not loaded

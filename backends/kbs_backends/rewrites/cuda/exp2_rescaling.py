"""``expf(x)`` as ``exp2f(x · log2 e)``, which the special-function unit computes directly."""

from __future__ import annotations

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.cuda.draft import CudaDraft
from kbs_backends.rewrites.cuda.view import view_of

METHOD = "exp2_rescaling"


def rewrite(source: RewriteSource) -> Rewritten:
    """Take exponentials to base two; see ``ModuleRewrite``."""
    view = view_of(source.text)
    draft = CudaDraft(view, METHOD)
    for kernel in view.kernels:
        for call in kernel.walk("call_expression"):
            called = call.child_by_field_name("function")
            if called is not None and view.code(called) == "expf":
                draft.replace(view.span(called), "kbs_exp_by_two")
    if not draft:
        if "kbs_expf" in source.text:
            raise NotApplicableError("fast_math_intrinsics has chosen what expf is: one of the two")
        raise NotApplicableError("no kernel calls expf")
    changed = len(draft.edits)
    draft.either(
        "#define kbs_exp_by_two(x) exp2f((x) * 1.4426950408889634f)",
        "#define kbs_exp_by_two(x) expf(x)",
    )
    return draft.finish(f"{changed} exponentials to base two")

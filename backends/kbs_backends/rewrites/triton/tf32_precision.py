"""Matrix products of fp32 on the tensor cores in TF32, where the task permits it."""

from __future__ import annotations

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.triton.dot_precision import set_precision
from kbs_backends.rewrites.triton.view import view_of

METHOD = "tf32_precision"


def rewrite(source: RewriteSource) -> Rewritten:
    """Let products that ask for IEEE fp32 use TF32; see ``ModuleRewrite``."""
    if "tf32" not in source.permitted:
        raise NotApplicableError("the task does not permit TF32")
    return set_precision(view_of(source.text), METHOD, '"tf32"')

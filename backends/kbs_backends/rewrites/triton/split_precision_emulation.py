"""Matrix products of fp32 as three products on the tensor cores."""

from __future__ import annotations

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.triton.dot_precision import set_precision
from kbs_backends.rewrites.triton.view import view_of

METHOD = "split_precision_emulation"
_SMALLEST_RTOL = 1e-7
"""Half of fp32's last place: three TF32 products drop terms of about 2^-22."""


def rewrite(source: RewriteSource) -> Rewritten:
    """Let products that ask for IEEE fp32 run as three TF32 ones; see ``ModuleRewrite``."""
    if source.rtol is not None and source.rtol < _SMALLEST_RTOL and not source.atol:
        raise NotApplicableError(f"a relative tolerance of {source.rtol:g} wants every bit of fp32")
    values = ("tf32x3", "bf16x3", "bf16x6")
    return set_precision(view_of(source.text), METHOD, "KBS_SPLIT", tunable=("KBS_SPLIT", values))

"""A cap on registers per thread (``maxnreg``) as a tunable."""

from __future__ import annotations

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.triton.launch_options import tune_option
from kbs_backends.rewrites.triton.view import Kernel, view_of

METHOD = "occupancy_tuning_registers"
_START = 128


def rewrite(source: RewriteSource) -> Rewritten:
    """Let the launch cap the registers; see ``ModuleRewrite``."""
    if not source.arch.startswith("sm_"):
        raise NotApplicableError(f"maxnreg is an option of NVIDIA targets, not of {source.arch}")
    view = view_of(source.text)
    return tune_option(view, METHOD, "maxnreg", _START, (64, 96, 128, 168, 224), _unwanted)


def _unwanted(kernel: Kernel) -> str:
    if kernel.loops() or kernel.calls("dot", "sum", "max", "sort", "associative_scan"):
        return ""
    return f"{kernel.name} holds few values at a time: registers do not limit it"

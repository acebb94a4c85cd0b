"""``num_warps`` of every launch as a tunable."""

from __future__ import annotations

from kbs_backends.rewrites.base import RewriteSource, Rewritten
from kbs_backends.rewrites.triton.launch_options import tune_option
from kbs_backends.rewrites.triton.view import Kernel, view_of

METHOD = "launch_parameter_tuning"
_TRITON_DEFAULT = 4


def rewrite(source: RewriteSource) -> Rewritten:
    """Turn the number of warps into a tunable; see ``ModuleRewrite``."""
    view = view_of(source.text)
    values = (1, 2, 4, 8, 16)
    return tune_option(view, METHOD, "num_warps", _TRITON_DEFAULT, values, _unwanted)


def _unwanted(kernel: Kernel) -> str:
    del kernel  # every kernel runs on warps
    return ""

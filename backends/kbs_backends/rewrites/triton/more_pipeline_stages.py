"""``num_stages`` of launches whose kernel loads in a loop, as a tunable."""

from __future__ import annotations

from kbs_backends.rewrites.base import RewriteSource, Rewritten
from kbs_backends.rewrites.triton.launch_options import tune_option
from kbs_backends.rewrites.triton.view import Kernel, view_of, walk

METHOD = "more_pipeline_stages"
_TRITON_DEFAULT = 3


def rewrite(source: RewriteSource) -> Rewritten:
    """Turn the depth of the launch's pipeline into a tunable; see ``ModuleRewrite``."""
    view = view_of(source.text)
    return tune_option(view, METHOD, "num_stages", _TRITON_DEFAULT, (1, 2, 3, 4, 5), _unwanted)


def _unwanted(kernel: Kernel) -> str:
    for loop in kernel.loops():
        if any(kernel.is_tl(node, "dot", "dot_scaled") for node in walk(loop.body)):
            return ""
    return f"{kernel.name} has no loop that feeds tl.dot, which is what num_stages pipelines"

"""Launch bounds, so that the compiler keeps the registers within a number of blocks per unit."""

from __future__ import annotations

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.cuda.draft import CudaDraft
from kbs_backends.rewrites.cuda.threads import threads_of
from kbs_backends.rewrites.cuda.view import Kernel, View, view_of

METHOD = "occupancy_tuning_registers"


def rewrite(source: RewriteSource) -> Rewritten:
    """Give kernels launch bounds; see ``ModuleRewrite``."""
    view = view_of(source.text)
    draft = CudaDraft(view, METHOD)
    reasons: list[str] = []
    for kernel in view.kernels:
        threads, reason = _threads(view, kernel)
        if reason:
            reasons.append(reason)
        else:
            draft.insert(kernel.name_start, f"KBS_BOUNDS({threads}) ")
    if not draft:
        raise NotApplicableError("; ".join(dict.fromkeys(reasons)))
    changed = len(draft.edits)
    draft.tunable("KBS_MIN_BLOCKS", 2, (1, 2, 3, 4, 6, 8))
    draft.either(
        "#define KBS_BOUNDS(threads) __launch_bounds__(threads, KBS_MIN_BLOCKS)",
        "#define KBS_BOUNDS(threads)",
    )
    return draft.finish(f"{changed} kernels with launch bounds")


def _threads(view: View, kernel: Kernel) -> tuple[str, str]:
    """Threads per block as a constant expression, or why there are no bounds to give."""
    head = view.data[kernel.node.start_byte : kernel.body.start_byte].decode()
    if "__launch_bounds__" in head:
        return "", f"{kernel.name} has launch bounds already"
    if view.passed_on(kernel.name):
        return "", f"{kernel.name} is launched through a pointer, with any number of threads"
    if not any(kernel.walk("for_statement", "while_statement")):
        return "", f"{kernel.name} holds few values at a time: registers do not limit it"
    found = {threads_of(view, launch, kernel.node.start_byte) for launch in kernel.launches()}
    if len(found) != 1 or None in found:
        return "", f"the threads per block of {kernel.name} are not one constant"
    return str(found.pop()), ""

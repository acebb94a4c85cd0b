"""Arrays that a kernel only reads, declared so that loads may take the read-only path."""

from __future__ import annotations

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.cuda.aliases import aliased
from kbs_backends.rewrites.cuda.draft import CudaDraft
from kbs_backends.rewrites.cuda.elements import only_read
from kbs_backends.rewrites.cuda.view import Kernel, View, view_of

METHOD = "readonly_cache_path"


def rewrite(source: RewriteSource) -> Rewritten:
    """Declare pointers ``const`` and ``__restrict__``; see ``ModuleRewrite``."""
    view = view_of(source.text)
    draft = CudaDraft(view, METHOD)
    reasons: list[str] = []
    for kernel in view.kernels:
        reason = _refusal(view, kernel)
        if reason:
            reasons.append(reason)
            continue
        for param in kernel.params.values():
            if param.volatile:
                continue
            if param.stars == 1 and not (param.restrict or param.array):
                draft.insert(param.name_start, "KBS_RESTRICT ")
            if param.stars == 1 and not param.const and only_read(kernel, param):
                draft.insert(param.start, "KBS_CONST ")
    if not draft:
        raise NotApplicableError("; ".join(dict.fromkeys(reasons)))
    changed = len(draft.edits)
    draft.either(
        "#define KBS_RESTRICT __restrict__\n#define KBS_CONST const",
        "#define KBS_RESTRICT\n#define KBS_CONST",
    )
    return draft.finish(f"{changed} qualifiers on pointers")


def _refusal(view: View, kernel: Kernel) -> str:
    pointers = [one for one in kernel.params.values() if one.stars == 1 and not one.volatile]
    if not any(param.const or only_read(kernel, param) for param in pointers):
        return f"{kernel.name} reads no array that it does not write"
    missing = [p for p in pointers if not p.restrict or (not p.const and only_read(kernel, p))]
    if not missing:
        return f"{kernel.name} declares its pointers const and __restrict__ already"
    if view.told_again(kernel.name):
        return f"{kernel.name} is declared a second time"
    return aliased(view, kernel)

"""Arrays that a kernel only reads, declared so that loads may take the read-only path."""

from __future__ import annotations

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.cuda.draft import CudaDraft
from kbs_backends.rewrites.cuda.view import Kernel, Param, View, view_of

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
            if param.stars == 1 and not param.restrict:
                draft.insert(param.name_start, "KBS_RESTRICT ")
            if param.stars == 1 and not param.const and _only_read(kernel, param):
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
    pointers = [param for param in kernel.params.values() if param.stars == 1]
    if not any(param.const or _only_read(kernel, param) for param in pointers):
        return f"{kernel.name} reads no array that it does not write"
    missing = [p for p in pointers if not p.restrict or (not p.const and _only_read(kernel, p))]
    if not missing:
        return f"{kernel.name} declares its pointers const and __restrict__ already"
    for node in view.tree.walk(None, "function_declarator"):
        again = node.parent is not None and node.parent.type == "declaration"
        if again and view.code(node).split("(", 1)[0].strip() == kernel.name:
            return f"{kernel.name} is declared a second time"
    places = list(kernel.params)
    for launch in kernel.launches():
        given = [
            view.code(one)
            for name, one in zip(places, launch.arguments, strict=False)
            if kernel.params[name].stars == 1
        ]
        if len(set(given)) < len(given):
            return f"{kernel.name} is given one array twice"
    return ""


def _only_read(kernel: Kernel, param: Param) -> bool:
    """Return whether every use is ``x[...]`` whose value is read."""
    uses = kernel.uses(param.name)
    for use in uses:
        above = use.parent
        if above is None or above.type != "subscript_expression":
            return False
        if above.child_by_field_name("argument") != use:
            return False
        user = above.parent
        if user is None or user.type in {"update_expression", "pointer_expression"}:
            return False
        if user.type == "assignment_expression" and user.child_by_field_name("left") == above:
            return False
        if user.type in {"subscript_expression", "field_expression"}:
            return False
    return bool(uses)

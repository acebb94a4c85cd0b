"""Approximate exponentials, logarithms, sines and reciprocal square roots."""

from __future__ import annotations

from tree_sitter import Node

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.cuda.draft import CudaDraft
from kbs_backends.rewrites.cuda.reach import fits_a_macro
from kbs_backends.rewrites.cuda.view import View, view_of

METHOD = "fast_math_intrinsics"
_FAST = {
    name: f"__{name}"
    for name in ("expf", "exp10f", "logf", "log2f", "log10f", "sinf", "cosf", "powf")
}
_RECIPROCAL = "kbs_rsqrtf"
_ROOTS = {
    False: ("rsqrtf(x)", "(1.0f / sqrtf(x))"),
    True: ("((double)rsqrtf(x))", "(1.0 / sqrtf(x))"),
}
"""Approximate and exact reciprocal root, in single precision and where the one is a double."""


def rewrite(source: RewriteSource) -> Rewritten:
    """Use the intrinsics of the special-function unit; see ``ModuleRewrite``."""
    view = view_of(source.text)
    draft = CudaDraft(view, METHOD)
    used: dict[str, tuple[str, str]] = {}
    for node in _device_nodes(view):
        if node.type == "binary_expression" and (root := _reciprocal_root(view, node)) is not None:
            left = node.child_by_field_name("left")
            wide = left is not None and view.code(left) == "1.0"
            name = f"{_RECIPROCAL}_wide" if wide else _RECIPROCAL
            draft.replace((node.start_byte, root.start_byte), name)
            used[f"{name}(x)"] = _ROOTS[wide]
        elif node.type == "call_expression":
            called = node.child_by_field_name("function")
            name = view.code(called) if called is not None else ""
            own = name in view.functions or name in view.macros
            if called is not None and name in _FAST and not own:
                draft.replace(view.span(called), f"kbs_{name}")
                used[f"kbs_{name}"] = (_FAST[name], name)
    if not draft and "kbs_exp_by_two" in source.text:
        raise NotApplicableError("exp2_rescaling has chosen what expf is: one of the two")
    if not draft:
        raise NotApplicableError("no kernel calls expf, logf, sinf, cosf, powf or 1 / sqrtf")
    changed = len(draft.edits)
    draft.either(
        "\n".join(f"#define {name} {fast}" for name, (fast, _) in used.items()),
        "\n".join(f"#define {name} {exact}" for name, (_, exact) in used.items()),
    )
    return draft.finish(f"{changed} functions approximate")


def _device_nodes(view: View) -> list[Node]:
    found = []
    for function in view.tree.walk(None, "function_definition"):
        head = view.code(function).split("{", 1)[0]
        if ("__global__" in head or "__device__" in head) and "__host__" not in head:
            found += list(view.tree.walk(function, "binary_expression", "call_expression"))
    return found


def _reciprocal_root(view: View, node: Node) -> Node | None:
    """Arguments of ``sqrtf`` in ``1.0f / sqrtf(x)``."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = node.child_by_field_name("operator")
    if left is None or right is None or operator is None or view.code(operator) != "/":
        return None
    called = right.child_by_field_name("function")
    one = view.code(left) in {"1.0f", "1.f", "1", "1.0"}
    if right.type != "call_expression" or called is None or not one:
        return None
    plain = view.code(called) == "sqrtf" and fits_a_macro(view, right)
    return right.child_by_field_name("arguments") if plain else None

"""Single precision where double crept in: literals without ``f``, wide locals."""

from __future__ import annotations

import re

from tree_sitter import Node

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.cuda.deciding import decides
from kbs_backends.rewrites.cuda.doubles import (
    beyond_single,
    in_pasting_macro,
    more_than_numbers,
)
from kbs_backends.rewrites.cuda.draft import CudaDraft
from kbs_backends.rewrites.cuda.view import Kernel, View, view_of

METHOD = "avoid_fp64"
_DOUBLE = re.compile(r"(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?\Z")
_SMALLEST_RTOL = 1e-6
"""About eight units in fp32's last place."""


def rewrite(source: RewriteSource) -> Rewritten:
    """Compute in fp32 where no array is fp64; see ``ModuleRewrite``."""
    if source.rtol is not None and source.rtol < _SMALLEST_RTOL and not source.atol:
        raise NotApplicableError(f"a relative tolerance of {source.rtol:g} may need the double")
    view = view_of(source.text)
    draft = CudaDraft(view, METHOD)
    reasons = []
    for kernel in view.kernels:
        wide = _wide(view, kernel)
        reason = (
            more_than_numbers(view, kernel)
            or _out_of_range(view, kernel, wide)
            or decides(view, kernel, wide)
        )
        if reason:
            reasons.append(reason)
            continue
        for node in wide:
            literal = node.type == "number_literal"
            text = f"KBS_LITERAL({view.code(node)})" if literal else "kbs_real"
            draft.replace(view.span(node), text)
    if not draft:
        raise NotApplicableError("; ".join(reasons) or "no kernel computes in double precision")
    changed = len(draft.edits)
    draft.either(
        "using kbs_real = float;\n#define KBS_LITERAL(x) x##f",
        "using kbs_real = double;\n#define KBS_LITERAL(x) x",
    )
    return draft.finish(f"{changed} doubles to single precision")


def _out_of_range(view: View, kernel: Kernel, wide: list[Node]) -> str:
    for node in wide:
        if node.type == "number_literal" and beyond_single(view.code(node)):
            return f"{kernel.name} has {view.code(node)}, which single precision does not hold"
    return ""


def _wide(view: View, kernel: Kernel) -> list[Node]:
    found = []
    for node in kernel.walk("number_literal", "primitive_type"):
        text = view.code(node)
        long = node.parent is not None and node.parent.type == "sized_type_specifier"
        if long or in_pasting_macro(view, node):
            continue
        if (node.type == "primitive_type" and text == "double") or (
            node.type == "number_literal" and _DOUBLE.match(text) and not _given(view, node)
        ):
            found.append(node)
    return found


def _given(view: View, node: Node) -> bool:
    """Return whether a literal stands in one of our own macros already."""
    above = node.parent.parent if node.parent is not None else None
    return above is not None and view.code(above).startswith("KBS_LITERAL")

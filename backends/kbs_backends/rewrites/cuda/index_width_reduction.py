"""Indices of 32 bits where no array of the task needs more."""

from __future__ import annotations

from tree_sitter import Node

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.cuda.draft import CudaDraft
from kbs_backends.rewrites.cuda.names import declares
from kbs_backends.rewrites.cuda.view import Kernel, View, view_of
from kbs_backends.variants.literals import read_c

METHOD = "index_width_reduction"
LIMIT = 2**31
_SMALL = 2**16
"""A factor that may carry an index beyond 32 bits; indices are multiplied within brackets."""
_WIDE = frozenset(
    {"size_t", "int64_t", "uint64_t", "ptrdiff_t", "std::size_t", "long long", "unsigned long long"}
    | {"unsigned long", "long", "long long int", "std::int64_t"}
)
_PLACES = frozenset({"declaration", "type_descriptor"})


def rewrite(source: RewriteSource) -> Rewritten:
    """Narrow local indices; see ``ModuleRewrite``."""
    largest = source.largest_index
    if largest is None:
        raise NotApplicableError("the sizes are not known, so that an index may pass 2^31")
    if largest >= LIMIT:
        raise NotApplicableError(f"the sizes multiply to {largest}: an index may pass 2^31")
    view = view_of(source.text)
    draft = CudaDraft(view, METHOD)
    for kernel in view.kernels:
        for node in _wide_types(view, kernel):
            draft.replace(view.span(node), f"kbs_index<{view.code(node)}>")
    if not draft:
        raise NotApplicableError("no kernel counts in 64 bits")
    changed = len(draft.edits)
    draft.either(
        "template <typename Wide>\nusing kbs_index = int;",
        "template <typename Wide>\nusing kbs_index = Wide;",
    )
    return draft.finish(f"{changed} indices of 32 bits")


def _wide_types(view: View, kernel: Kernel) -> list[Node]:
    """Types of scalar locals that only integers and thread numbers make, and of casts."""
    found = []
    for holder in kernel.walk(*_PLACES):
        kind = holder.child_by_field_name("type")
        if kind is None or view.code(kind) not in _WIDE or "*" in view.code(holder):
            continue
        above = holder.parent
        nested = above is not None and above.type == "template_argument_list"
        own = nested and above is not None and "kbs_index" in view.code(above.parent or above)
        counts = _counts(view, holder) and not _is_data(view, kernel, holder)
        if not own and (counts or _in_index(holder)):
            found.append(kind)
    return found


def _counts(view: View, holder: Node) -> bool:
    """A local that numbers threads, or counts a loop; other locals may hold data."""
    if holder.type != "declaration" or any(view.tree.walk(holder, "subscript_expression")):
        return False
    loop = holder.parent is not None and holder.parent.type == "for_statement"
    text = view.code(holder)
    return loop or "blockIdx" in text or "threadIdx" in text


def _is_data(view: View, kernel: Kernel, holder: Node) -> bool:
    """Return whether a local is more than an index: mixed by bits, pointed to, counted down."""
    literals = [read_c(view.code(node)) for node in view.tree.walk(holder, "number_literal")]
    if any(isinstance(value, int) and value >= LIMIT for value in literals):
        return True
    names = {view.code(node) for node in view.tree.walk(holder, "identifier") if declares(node)}
    return any(_mixes(view, use) for name in names for use in kernel.uses(name))


def _mixes(view: View, use: Node) -> bool:
    above = use.parent
    sign = above.child_by_field_name("operator") if above is not None else None
    operator = view.code(sign) if sign is not None else ""
    if above is None or _in_index(use):
        return False
    if above.type == "assignment_expression":
        return above.child_by_field_name("left") == use and operator not in {"=", "+=", "-="}
    if above.type == "update_expression":
        return operator == "--"
    if above.type == "pointer_expression":
        return operator == "&"
    if above.type != "binary_expression":
        return False
    right = above.child_by_field_name("right")
    squared = operator == "*" and view.code(above).count(view.code(use)) > 1
    wide = operator == "*" and any(
        isinstance(value := read_c(view.code(node)), int) and value >= _SMALL
        for node in view.tree.walk(above, "number_literal")
    )
    return squared or wide or operator in {"^", "|", "~"} or (operator == "<<" and right != use)


def _in_index(holder: Node) -> bool:
    """A cast inside the brackets of an access."""
    here: Node | None = holder
    while here is not None and here.type != "compound_statement":
        if here.type == "subscript_argument_list":
            return True
        here = here.parent
    return False

"""Indices of 32 bits where no array of the task needs more."""

from __future__ import annotations

from tree_sitter import Node

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.cuda.draft import CudaDraft
from kbs_backends.rewrites.cuda.view import Kernel, View, view_of

METHOD = "index_width_reduction"
LIMIT = 2**31
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
        if not own and (_counts(view, holder) or _in_index(holder)):
            found.append(kind)
    return found


def _counts(view: View, holder: Node) -> bool:
    """A local that numbers threads, or counts a loop; other locals may hold data."""
    if holder.type != "declaration" or any(view.tree.walk(holder, "subscript_expression")):
        return False
    loop = holder.parent is not None and holder.parent.type == "for_statement"
    text = view.code(holder)
    return loop or "blockIdx" in text or "threadIdx" in text


def _in_index(holder: Node) -> bool:
    """A cast inside the brackets of an access."""
    here: Node | None = holder
    while here is not None and here.type != "compound_statement":
        if here.type == "subscript_argument_list":
            return True
        here = here.parent
    return False

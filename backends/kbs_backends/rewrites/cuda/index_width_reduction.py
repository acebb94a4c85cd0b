"""Indices of 32 bits where no array of the task needs more."""

from __future__ import annotations

from tree_sitter import Node

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.cuda.bounds import LIMIT, Bounds
from kbs_backends.rewrites.cuda.draft import CudaDraft
from kbs_backends.rewrites.cuda.locals import local_of
from kbs_backends.rewrites.cuda.names import declares
from kbs_backends.rewrites.cuda.view import Kernel, View, view_of
from kbs_backends.variants.literals import read_c

METHOD = "index_width_reduction"
_SMALL = 2**16
"""A factor that may carry an index beyond 32 bits; indices are multiplied within brackets."""
_WIDE = frozenset(
    {"size_t", "int64_t", "uint64_t", "ptrdiff_t", "std::size_t", "long long", "unsigned long long"}
    | {"unsigned long", "long", "long long int", "std::int64_t"}
)
_ARITHMETIC = frozenset(
    {"binary_expression", "parenthesized_expression", "cast_expression", "unary_expression"}
    | {"conditional_expression"}
)
_TRUTHS = frozenset({"<", ">", "<=", ">=", "==", "!=", "&&", "||"})
_POINTERS = ("pointer_declarator", "abstract_pointer_declarator", "reference_declarator")
_PLACES = frozenset({"declaration", "type_descriptor"})


def rewrite(source: RewriteSource) -> Rewritten:
    """Narrow local indices that are shown to stay below 2^31; see ``ModuleRewrite``."""
    if not source.dims:
        raise NotApplicableError("the sizes are not known, so that an index may pass 2^31")
    view = view_of(source.text)
    draft = CudaDraft(view, METHOD)
    bounds = Bounds(view, source.dims)
    reasons: list[str] = []
    for kernel in view.kernels:
        for node in _wide_types(view, kernel):
            unknown = _unbounded(view, bounds, kernel, node)
            if unknown is None:
                draft.replace(view.span(node), f"kbs_index<{view.code(node)}>")
                continue
            text = " ".join(view.code(unknown).split())
            reasons.append(f"in {kernel.name} {text} may pass 2^31 or fall below 0")
    if not draft:
        raise NotApplicableError("; ".join(dict.fromkeys(reasons)) or "no kernel counts in 64 bits")
    changed = len(draft.edits)
    draft.either(
        "template <typename Wide>\nusing kbs_index = int;",
        "template <typename Wide>\nusing kbs_index = Wide;",
    )
    return draft.finish(f"{changed} indices of 32 bits")


def _unbounded(view: View, bounds: Bounds, kernel: Kernel, kind: Node) -> Node | None:
    """What is computed with a narrowed local or cast and is not shown to fit; None where all is."""
    holder = kind.parent
    if holder is None or holder.type != "declaration":
        cast = holder.parent if holder is not None else kind
        whole = _computed_from(view, kernel, cast if cast is not None else kind)
        return None if bounds.of(whole) is not None else whole
    for name in view.tree.walk(holder, "identifier"):
        if not declares(name):
            continue
        if bounds.of_local(name) is None:
            return name
        for use in _uses(view, kernel, name):
            whole = _computed_from(view, kernel, use)
            if _is_step(use) or (bounds.of(whole) is not None and not _is_given(whole)):
                continue
            return whole
    return None


def _uses(view: View, kernel: Kernel, name: Node) -> list[Node]:
    """Uses of a local, not of others with its name."""
    own = local_of(view, name)
    found = (local_of(view, use) for use in kernel.uses(view.code(name)))
    places = [
        use
        for use, one in zip(kernel.uses(view.code(name)), found, strict=True)
        if one is not None and own is not None and one.scope == own.scope
    ]
    return [use for use in places if not declares(use)]


def _is_step(use: Node) -> bool:
    """``i`` of ``i++`` and of ``i += 2``: what a loop adds is in the bound of its variable."""
    above = use.parent
    if above is None:
        return False
    left = above.child_by_field_name("left")
    return above.type == "update_expression" or (
        above.type == "assignment_expression" and left == use
    )


def _is_given(node: Node) -> bool:
    """An argument: which of two functions is called may hang on its type."""
    return node.parent is not None and node.parent.type == "argument_list"


def _computed_from(view: View, kernel: Kernel, node: Node) -> Node:
    """The whole of the arithmetic that an expression is part of, but for a pointer's own sum."""
    here = node
    while here.parent is not None and here.parent.type in _ARITHMETIC:
        sign = here.parent.child_by_field_name("operator")
        if sign is not None and view.code(sign) in _TRUTHS:
            break
        sides = (here.parent.child_by_field_name(f) for f in ("left", "right"))
        if any(side is not None and _is_pointer(view, kernel, side) for side in sides):
            break
        if here.parent.child_by_field_name("condition") == here:
            break
        here = here.parent
    return here


def _is_pointer(view: View, kernel: Kernel, node: Node) -> bool:
    if node.type != "identifier":
        return False
    name = view.code(node)
    param = kernel.params.get(name)
    declared = (one for one in kernel.uses(name) if declares(one))
    return (param is not None and param.stars > 0) or any(
        one.parent is not None and one.parent.type == "pointer_declarator" for one in declared
    )


def _wide_types(view: View, kernel: Kernel) -> list[Node]:
    """Types of scalar locals that only integers and thread numbers make, and of casts."""
    found = []
    for holder in kernel.walk(*_PLACES):
        kind = holder.child_by_field_name("type")
        if kind is None or view.code(kind) not in _WIDE or any(view.tree.walk(holder, *_POINTERS)):
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

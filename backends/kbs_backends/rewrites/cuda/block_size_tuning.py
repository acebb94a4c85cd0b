"""Threads per block as a tunable, in the launch and wherever its function repeats the number."""

from __future__ import annotations

from tree_sitter import Node

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.cuda.draft import CudaDraft
from kbs_backends.rewrites.cuda.view import LISTS, Launch, View, view_of
from kbs_backends.variants import read_marks
from kbs_backends.variants.cuda_tree import enclosing_function
from kbs_backends.variants.literals import read_c
from kbs_backends.variants.ranges import thread_values

METHOD = "block_size_tuning"


def rewrite(source: RewriteSource) -> Rewritten:
    """Turn the number of threads into a tunable; see ``ModuleRewrite``."""
    view = view_of(source.text)
    draft = CudaDraft(view, METHOD)
    reasons: list[str] = []
    marked = {t.line for t in read_marks(source.text, "cuda-cpp").tunables if t.kind == "mark"}
    found: dict[int, tuple[Node, str]] = {}
    for launch in view.launches:
        literal = _literal(view, launch)
        reason = _refusal(view, launch, literal)
        if literal is not None and literal.end_point.row + 1 in marked:
            reason = f"the threads of {launch.kernel} are a tunable already"
        if literal is None or reason:
            reasons.append(reason)
        else:
            found[literal.start_byte] = (literal, launch.kernel)
    for number, (literal, kernel) in enumerate(found.values()):
        current = int(view.code(literal))
        name = "KBS_BLOCK" if len(found) == 1 else f"KBS_BLOCK_{kernel.upper()}_{number}"
        draft.tunable(name, current, _sizes(current))
        _replace(draft, literal, name, current)
    if not draft:
        raise NotApplicableError("; ".join(dict.fromkeys(reasons)) or "nothing is launched here")
    return draft.finish(f"{len(found)} block sizes are tunables")


def _sizes(current: int) -> tuple[int, ...]:
    return tuple(value for value in thread_values("block", current) if isinstance(value, int))


def _literal(view: View, launch: Launch) -> Node | None:
    """Where the number of threads stands, for blocks of one axis."""
    block = launch.block
    if block is not None and block.type == "identifier":
        block = view.constant(view.code(block), launch.host)
    if block is not None and block.type in {*LISTS, "call_expression"}:
        listed = block.child_by_field_name("arguments") or block
        sizes = [child for child in listed.children if child.is_named]
        flat = sizes and all(view.code(size) == "1" for size in sizes[1:])
        block = sizes[0] if flat else None
        if block is not None and view.code(block).isidentifier():
            block = view.constant(view.code(block), launch.host)
    if block is None or block.type not in {"number_literal", "preproc_arg"}:
        return None
    value = read_c(view.code(block))
    return block if isinstance(value, int) and len(thread_values("block", value)) > 1 else None


def _refusal(view: View, launch: Launch, literal: Node | None) -> str:
    if literal is None:
        return f"{launch.kernel} is launched with no single number of threads"
    number = read_c(view.code(literal))
    for kernel in view.kernels:
        for node in view.tree.walk(kernel.node, "number_literal"):
            if read_c(view.code(node)) == number:
                return f"{kernel.name} has the number {number} in its code"
    if isinstance(number, int) and _grid_is_bound(view, launch, number):
        return f"the grid of {launch.kernel} counts in parts of {number} threads"
    name = _name_of(view, literal)
    for node in view.tree.walk(None, "preproc_if", "preproc_elif"):
        condition = node.child_by_field_name("condition")
        if name and condition is not None and name in view.code(condition):
            return f"the preprocessor compares {name}"
    return ""


def _grid_is_bound(view: View, launch: Launch, threads: int) -> bool:
    """``(rows + 7) / 8``, where eight is a warp's share of the threads."""
    grid = launch.grid
    if grid is not None and grid.type == "identifier":
        grid = view.constant(view.code(grid), launch.host)
    numbers = view.tree.walk(grid, "number_literal") if grid is not None else ()
    values = {read_c(view.code(node)) for node in numbers} - {threads, threads - 1}
    return any(isinstance(v, int) and 1 < v < threads and threads % v == 0 for v in values)


def _name_of(view: View, literal: Node) -> str:
    above = literal.parent
    if above is not None and above.type in {"preproc_def", "init_declarator"}:
        name = above.child_by_field_name("name") or above.child_by_field_name("declarator")
        return view.code(name) if name is not None else ""
    return ""


def _replace(draft: CudaDraft, literal: Node, name: str, current: int) -> None:
    view = draft.view
    chosen = f"({draft.switch} ? {name} : {current})"
    draft.replace(view.span(literal), chosen)
    host = enclosing_function(literal)
    if host is None:
        return
    for node in view.tree.walk(host, "number_literal"):
        if node.start_byte == literal.start_byte:
            continue
        value = read_c(view.code(node))
        if value == current:
            draft.replace(view.span(node), chosen)
        elif value == current - 1:
            draft.replace(view.span(node), f"({chosen} - 1)")

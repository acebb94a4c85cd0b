"""Threads per block as a tunable, in the launch and wherever its function repeats the number."""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.cuda.constants import value_of
from kbs_backends.rewrites.cuda.draft import CudaDraft
from kbs_backends.rewrites.cuda.following import Following, following, on_which, read_template
from kbs_backends.rewrites.cuda.host_counts import counted_again
from kbs_backends.rewrites.cuda.thread_counts import tied_to_threads
from kbs_backends.rewrites.cuda.view import LISTS, Launch, View, view_of
from kbs_backends.variants import read_marks
from kbs_backends.variants.literals import read_c
from kbs_backends.variants.ranges import thread_values

METHOD = "block_size_tuning"


@dataclass
class _Group:
    """Launches whose numbers of threads are one, since they share a literal."""

    found: list[tuple[Launch, Following]]

    def literals(self) -> dict[int, Node]:
        return {at: node for _, one in self.found for at, node in one.literals.items()}

    def less_one(self) -> dict[int, Node]:
        return {at: node for _, one in self.found for at, node in one.less_one.items()}


def rewrite(source: RewriteSource) -> Rewritten:
    """Turn the number of threads into a tunable; see ``ModuleRewrite``."""
    view = view_of(source.text)
    draft = CudaDraft(view, METHOD)
    reasons: list[str] = []
    groups: list[_Group] = []
    for launch in view.launches:
        found = _followed(view, launch, source)
        if isinstance(found, str):
            reasons.append(found)
        else:
            _join(groups, launch, found)
    alone = [group for group in groups if not _depended_on(view, group, reasons)]
    sized = [(group, sizes) for group in alone if (sizes := _sizes(source, group, reasons))]
    for number, (group, sizes) in enumerate(sized):
        launch, first = group.found[0]
        name = "KBS_BLOCK" if len(sized) == 1 else f"KBS_BLOCK_{launch.kernel.upper()}_{number}"
        draft.tunable(name, first.number, sizes)
        _replace(draft, group, f"({draft.switch} ? {name} : {first.number})")
    if not draft:
        raise NotApplicableError("; ".join(dict.fromkeys(reasons)) or "nothing is launched here")
    return draft.finish(f"{len(sized)} block sizes are tunables")


def _followed(view: View, launch: Launch, source: RewriteSource) -> Following | str:
    """What goes with the threads of a launch, or why they stay."""
    literal = _literal(view, launch)
    reason = _refusal(view, launch, literal, source)
    if literal is None or reason:
        return reason
    try:
        found = following(view, launch, literal, _names_of(view, launch, literal))
    except NotApplicableError as problem:
        return str(problem)
    for kernel in [one for one in view.kernels if one.name == launch.kernel] or view.kernels:
        read_template(view, launch, kernel, found)
        reason = reason or tied_to_threads(view, kernel, found)
    for argument in launch.arguments:
        if value_of(view, argument, launch.host, dict.fromkeys(found.names)) == found.number:
            reason = reason or f"{launch.kernel} is given {found.number} as an argument too"
    return reason or counted_again(view, launch, found) or found


def _join(groups: list[_Group], launch: Launch, found: Following) -> None:
    """Put a launch to those with which it shares a literal."""
    met = [one for one in groups if found.literals.keys() & one.literals().keys()]
    joined = _Group([pair for one in met for pair in one.found] + [(launch, found)])
    groups[:] = [one for one in groups if one not in met] + [joined]


def _depended_on(view: View, group: _Group, reasons: list[str]) -> bool:
    """Return whether a launch outside of the group depends on a number that would change."""
    own = [launch for launch, _ in group.found]
    changed = {**group.literals(), **group.less_one()}
    for other in view.launches:
        if other in own:
            continue
        for node in on_which(view, other):
            if any(node.start_byte <= at < node.end_byte for at in changed):
                reasons.append(f"{other.kernel} depends on the threads of {own[0].kernel}")
                return True
    return False


def _sizes(source: RewriteSource, group: _Group, reasons: list[str]) -> tuple[int, ...]:
    """Numbers of threads to try; of those that a division rounding down leaves nothing out of."""
    found = group.found[0][1]
    values = [v for v in thread_values("block", found.number) if isinstance(v, int)]
    if any(one.floors for _, one in group.found):
        values = [v for v in values if found.number % v == 0 or _divides_all(source, v)]
    if len(values) < 2:  # noqa: PLR2004
        reasons.append(f"the grid of {group.found[0][0].kernel} rounds down")
        return ()
    return tuple(values)


def _divides_all(source: RewriteSource, size: int) -> bool:
    dims = [v for v in source.dims.values() if isinstance(v, int) and not isinstance(v, bool)]
    return bool(dims) and all(v % size == 0 for v in dims)


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


def _refusal(view: View, launch: Launch, literal: Node | None, source: RewriteSource) -> str:
    if literal is None:
        return f"{launch.kernel} is launched with no single number of threads"
    marks = read_marks(source.text, "cuda-cpp").tunables
    if literal.end_point.row + 1 in {one.line for one in marks if one.kind == "mark"}:
        return f"the threads of {launch.kernel} are a tunable already"
    name = _name_of(view, literal)
    for node in view.tree.walk(None, "preproc_if", "preproc_elif"):
        condition = node.child_by_field_name("condition")
        if name and condition is not None and name in view.code(condition):
            return f"the preprocessor compares {name}"
    return ""


def _name_of(view: View, literal: Node) -> str:
    above = literal.parent
    if above is not None and above.type in {"preproc_def", "init_declarator", "enumerator"}:
        name = above.child_by_field_name("name") or above.child_by_field_name("declarator")
        return view.code(name) if name is not None else ""
    return ""


def _names_of(view: View, launch: Launch, literal: Node) -> set[str]:
    """Names that are the number of threads: the constant, and the variable of the launch."""
    block = launch.block
    names = {_name_of(view, literal)}
    if block is not None and block.type == "identifier":
        names.add(view.code(block))
    return names - {""}


def _replace(draft: CudaDraft, group: _Group, chosen: str) -> None:
    for literal in group.literals().values():
        draft.replace(draft.view.span(literal), chosen)
    for literal in group.less_one().values():
        draft.replace(draft.view.span(literal), f"({chosen} - 1)")

"""A second kernel beside the first, and a launch that chooses between the two."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from kbs_backends.rewrites.base import NotApplicableError
from kbs_backends.rewrites.draft import edited_slice
from kbs_backends.rewrites.triton.draft import TritonDraft
from kbs_backends.rewrites.triton.view import Kernel, Launch, View, argument, names_in, walk
from kbs_backends.variants.records import Edit


def each_kernel(view: View, one: Callable[[Kernel], None]) -> list[Kernel]:
    """Call ``one`` for every launched kernel; return those for which it did its work.

    Raises:
        NotApplicableError: For none, with the reasons of all.
    """
    done = []
    reasons: list[str] = []
    for kernel in view.launched():
        reason = _tried(one, kernel)
        if reason:
            reasons.append(reason)
        else:
            done.append(kernel)
    if not done:
        raise NotApplicableError("; ".join(dict.fromkeys(reasons)) or "no kernel is launched here")
    return done


def _tried(one: Callable[[Kernel], None], kernel: Kernel) -> str:
    try:
        one(kernel)
    except NotApplicableError as reason:
        return str(reason)
    return ""


def copied(view: View, kernel: Kernel, name: str, first: str, edits: list[Edit]) -> str:
    """Return the text of ``kernel`` as ``name``, with parameters ``first`` put in front.

    ``edits`` are by byte offsets of the whole source and lie inside the kernel.
    """
    tree = view.tree
    params = kernel.node.params.params
    head = [Edit(*tree.span(kernel.node.name), name)]
    if first:
        at = tree.span(params[0])[0]
        head.append(Edit(at, at, f"{first}, "))
    return edited_slice(view.data, kernel.span, [*head, *edits])


def grid_size(view: View, launch: Launch) -> str:
    """Return a host expression for the number of programs of a one-dimensional launch.

    Raises:
        NotApplicableError: The grid has several axes, or cannot be told on the host.
    """
    grid: cst.CSTNode = launch.grid
    text = view.code(grid)
    if isinstance(grid, cst.Name):
        value = assigned_once(launch.function, grid.value)
        if value is None:
            raise NotApplicableError(f"the grid of {launch.kernel} is not a value of its function")
        grid = value
    if isinstance(grid, cst.Tuple | cst.List):
        if len(grid.elements) != 1:
            raise NotApplicableError(f"the grid of {launch.kernel} has several axes")
        return f"{text}[0]" if text.isidentifier() else view.code(grid.elements[0].value)
    if isinstance(grid, cst.Lambda) and isinstance(grid.body, cst.Tuple):
        if len(grid.body.elements) != 1:
            raise NotApplicableError(f"the grid of {launch.kernel} has several axes")
        call = text if text.isidentifier() else f"({text})"
        return f"{call}({meta_of(view, launch, grid)})[0]"
    raise NotApplicableError(f"the grid of {launch.kernel} is computed elsewhere")


def meta_of(view: View, launch: Launch, grid: cst.Lambda) -> str:
    """Return a dictionary of what a grid asks for, as the launch gives it.

    Raises:
        NotApplicableError: The launch does not give it by name.
    """
    wanted = [
        str(node.evaluated_value) for node in walk(grid.body) if isinstance(node, cst.SimpleString)
    ]
    entries = []
    for name in dict.fromkeys(wanted):
        given = launch.keyword(name)
        if given is None:
            raise NotApplicableError(f"the grid of {launch.kernel} asks for {name}, not given here")
        entries.append(f'"{name}": {view.code(given.value)}')
    return f"{{{', '.join(entries)}}}"


def assigned_once(scope: cst.CSTNode | None, name: str) -> cst.BaseExpression | None:
    """Only value that a name is given in a function."""
    if scope is None:
        return None
    found = [
        node.value
        for node in walk(scope)
        if isinstance(node, cst.Assign)
        and any(isinstance(t.target, cst.Name) and t.target.value == name for t in node.targets)
    ]
    return found[0] if len(found) == 1 else None


def given(view: View, kernel: Kernel, launch: Launch, param: str) -> str:
    """Return the text of what a launch gives for a parameter.

    Raises:
        NotApplicableError: It is not given by name or place.
    """
    found = argument(launch.call, param, list(kernel.params).index(param))
    if found is None or any(one.star == "*" for one in launch.call.args):
        raise NotApplicableError(f"the launch of {kernel.name} does not say its {param}")
    text = view.code(found.value)
    primary = isinstance(found.value, cst.Name | cst.Attribute | cst.Call | cst.Subscript)
    return text if primary or found.value.lpar or text.isdigit() else f"({text})"


def arguments(view: View, launch: Launch) -> str:
    """Text of all arguments of a launch."""
    spans = [view.tree.span(one.value) for one in launch.call.args]
    if not spans:
        return ""
    first = launch.call.args[0]
    start = view.tree.span(first.keyword)[0] if first.keyword is not None else spans[0][0]
    start -= len(first.star)
    return view.data[start : spans[-1][1]].decode()


def branch_launch(draft: TritonDraft, launch: Launch, condition: str, lines: list[str]) -> None:
    """Run ``lines`` in place of a launch where ``condition`` holds.

    Raises:
        NotApplicableError: The launch is part of a larger statement.
    """
    view = draft.view
    statement = launch.statement
    alone = statement is not None and len(statement.body) == 1
    if statement is None or not alone or not isinstance(statement.body[0], cst.Expr):
        raise NotApplicableError(f"the launch of {launch.kernel} is part of a larger statement")
    if statement.body[0].value is not launch.call:
        raise NotApplicableError(f"the launch of {launch.kernel} is part of a larger statement")
    indent = view.indent(statement)
    old = view.code(statement).split("\n")
    text = [f"if {condition}:", *(f"    {line}" for line in lines), "else:"]
    body = "".join(f"{indent}{line}\n" for line in text)
    body += f"{indent}    " + "\n".join(
        [old[0], *(f"    {line}" if line else "" for line in old[1:])]
    )
    span = (view.line_start(statement), view.tree.span(statement)[1])
    draft.replace(span, body)


def indented(view: View, node: cst.CSTNode, text: str) -> list[str]:
    """Lines of ``text`` without the indentation of ``node``."""
    indent = view.indent(node)
    return [line.removeprefix(indent) for line in text.split("\n")]


def reassigned_params(kernel: Kernel) -> set[str]:
    """Parameters that the kernel gives another value."""
    found: set[str] = set()
    for node in kernel.walk():
        if isinstance(node, cst.Assign):
            for one in node.targets:
                found |= names_in(one.target)
        elif isinstance(node, cst.AugAssign | cst.AnnAssign):
            found |= names_in(node.target)
    return found & set(kernel.params)


def torch_name(view: View) -> str:
    """Name under which the file imports torch.

    Raises:
        NotApplicableError: It does not, so that no buffer can be made.
    """
    for node in walk(view.tree.module):
        if isinstance(node, cst.Import):
            for one in node.names:
                if view.code(one.name) == "torch":
                    return view.code(one.asname.name) if one.asname is not None else "torch"
    raise NotApplicableError("the file does not import torch, which would make the buffer")

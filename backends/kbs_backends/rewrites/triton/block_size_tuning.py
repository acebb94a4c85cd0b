"""Tile sizes that a launch gives as numbers, as tunables."""

from __future__ import annotations

import re

import libcst as cst

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.triton.draft import TritonDraft
from kbs_backends.rewrites.triton.view import Launch, View, names_in, view_of, walk
from kbs_backends.variants import read_marks
from kbs_backends.variants.python_scan import inner_literal
from kbs_backends.variants.ranges import launch_values

METHOD = "block_size_tuning"


def rewrite(source: RewriteSource) -> Rewritten:
    """Turn literal tile sizes into tunables; see ``ModuleRewrite``."""
    view = view_of(source.text)
    draft = TritonDraft(view, METHOD)
    literals: dict[tuple[int, int], tuple[str, str]] = {}
    reasons: list[str] = []
    marked = {t.line for t in read_marks(source.text, "triton").tunables if t.kind == "mark"}
    for launch in view.launches:
        if view.kernels[launch.kernel].autotuned:
            reasons.append(f"{launch.kernel} is autotuned: its configurations choose")
            continue
        for name, literal in _sizes(view, launch, reasons):
            if view.tree.end_line(literal) in marked:
                reasons.append(f"{name} is a tunable already")
                continue
            literals[view.tree.span(literal)] = (name, launch.kernel)
    names = [name for name, _ in literals.values()]
    for span, (name, kernel) in literals.items():
        current = int(view.data[span[0] : span[1]])
        clear = names.count(name) == 1
        tunable = f"KBS_{name.upper()}" if clear else f"KBS_{kernel.upper()}_{name.upper()}"
        draft.tunable(tunable, current, launch_values(name, current), host=True)
        draft.replace(span, f"{tunable} if {draft.switch} else {current}")
    if not draft:
        reason = "; ".join(dict.fromkeys(reasons))
        raise NotApplicableError(reason or "no launch gives a tile size as a number")
    return draft.finish(f"tile sizes {', '.join(sorted(set(names)))} are tunables", host=True)


def _sizes(view: View, launch: Launch, reasons: list[str]) -> list[tuple[str, cst.BaseExpression]]:
    found: list[tuple[str, cst.BaseExpression]] = []
    for argument in launch.call.args:
        name = argument.keyword.value if argument.keyword is not None else ""
        param = view.kernels[launch.kernel].params.get(name)
        if param is None or not param.constexpr:
            continue
        literal = inner_literal(argument.value)
        if literal is None and isinstance(argument.value, cst.Name):
            literal = _assigned(view, launch, argument.value.value)
        elif literal is not None and _in_grid(view, launch, view.code(literal)):
            reasons.append(f"the grid of {launch.kernel} repeats the number that {name} has")
            continue
        if isinstance(literal, cst.Integer) and len(launch_values(name, int(literal.value))) > 1:
            found.append((name, literal))
    return found


def _in_grid(view: View, launch: Launch, number: str) -> bool:
    text = view.data[launch.grid_span[0] : launch.grid_span[1]].decode()
    waiting, seen = list(names_in(launch.grid)), set()
    while waiting and launch.function is not None:  # names that the grid is computed from
        name = waiting.pop()
        for node in walk(launch.function):
            given = isinstance(node, cst.Assign) and any(
                name in names_in(one.target) for one in node.targets
            )
            called = isinstance(node, cst.FunctionDef) and node.name.value == name
            if name not in seen and (given or called) and node is not launch.function:
                text += "\n" + view.code(node)
                waiting += names_in(node)
        seen.add(name)
    beside = f"{number}|{int(number) - 1}" if number.isdigit() else re.escape(number)
    return re.search(rf"\b(?:{beside})\b", text) is not None


def _assigned(view: View, launch: Launch, name: str) -> cst.BaseExpression | None:
    """Literal that a name is given once, in the launching function or else at file level."""
    for scope in (launch.function, view.tree.module):
        if scope is None:
            continue
        found = []
        for node in walk(scope):
            if isinstance(node, cst.Assign | cst.AnnAssign) and node.value is not None:
                targets = (
                    [one.target for one in node.targets]
                    if isinstance(node, cst.Assign)
                    else [node.target]
                )
                if any(isinstance(t, cst.Name) and t.value == name for t in targets):
                    found.append(node.value)
        if found:
            return inner_literal(found[0]) if len(found) == 1 else None
    return None

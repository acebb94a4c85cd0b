"""Several rows to a program: more independent loads in flight, fewer programs."""

from __future__ import annotations

import libcst as cst

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.triton.copies import (
    arguments,
    branch_launch,
    copied,
    each_kernel,
    grid_size,
    reassigned_params,
)
from kbs_backends.rewrites.triton.dataflow import Flow, pointer_of
from kbs_backends.rewrites.triton.draft import TritonDraft
from kbs_backends.rewrites.triton.view import Kernel, View, argument, names_in, view_of
from kbs_backends.variants.records import Edit

METHOD = "multiple_rows_per_block"
_SUFFIX = "_kbs_rows"
_REDUCTIONS = ("sum", "max", "min")
_UNDERSTOOD = frozenset(
    {*_REDUCTIONS, "load", "store", "arange", "program_id", "multiple_of"}
    | {"exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sqrt_rn", "div_rn", "abs", "sigmoid"}
    | {"where", "maximum", "minimum", "fma", "erf", "sin", "cos", "floor", "cast"}
)


def rewrite(source: RewriteSource) -> Rewritten:
    """Add a form of each row kernel that takes several rows; see ``ModuleRewrite``.

    The row number becomes a column vector and every block a tile of rows; rows beyond the last
    read the last row once more and store nothing, so that a launch may work in place.
    """
    view = view_of(source.text)
    draft = TritonDraft(view, METHOD)
    done = each_kernel(view, lambda kernel: _one(draft, kernel))
    draft.tunable("KBS_ROWS", 4, (2, 4, 8, 16))
    return draft.finish(f"several rows a program: {', '.join(kernel.name for kernel in done)}")


def _one(draft: TritonDraft, kernel: Kernel) -> None:
    view = draft.view
    edits = _tiled(view, kernel)
    launches = [(launch, grid_size(view, launch)) for launch in view.launches_of(kernel)]
    name = kernel.name + _SUFFIX
    branches = TritonDraft(view, METHOD)
    for launch, size in launches:
        lines = [
            f"kbs_count = {size}",
            f"kbs_grid = ({view.triton}.cdiv(kbs_count, KBS_ROWS.value),)",
            f"{name}[kbs_grid](kbs_count, {arguments(view, launch)})",
        ]
        branch_launch(branches, launch, draft.switch, lines)
    draft.edits += branches.edits
    draft.below(copied(view, kernel, name, "kbs_count", edits), view.line_end(kernel.node))


def _tiled(view: View, kernel: Kernel) -> list[Edit]:
    _require_shape(kernel)
    _require_stores(kernel)
    tl, tree = view.tl, view.tree
    edits = [_numbers(view, kernel)]
    rows = f"{tl}.minimum(kbs_rows, kbs_count - 1)"
    edits += [Edit(*tree.span(call), rows) for call in kernel.calls("program_id")]
    for call in kernel.calls("arange"):
        end = tree.span(call)[1]
        edits.append(Edit(end, end, "[None, :]"))
    for call in kernel.calls(*_REDUCTIONS):
        axis = argument(call, "axis", 1)
        if axis is None:
            end = tree.span(call.args[-1].value)[1]
            edits.append(Edit(end, end, ", axis=1, keep_dims=True"))
        elif view.code(axis.value) == "0" and argument(call, "keep_dims") is None:
            edits.append(Edit(*tree.span(axis), "axis=1, keep_dims=True"))
        else:
            raise NotApplicableError(f"{kernel.name} reduces along another axis than its row")
    for call in kernel.calls("multiple_of"):
        inner = call.args[0].value
        if "program_id" in view.code(inner):
            raise NotApplicableError(f"{kernel.name} gives hints that hold for one row only")
        edits.append(Edit(*tree.span(call), f"({view.code(inner)})"))
    for call in kernel.calls("store"):  # last: what a mask ends with comes before what follows it
        edits += _inside(view, call)
    return edits


def _numbers(view: View, kernel: Kernel) -> Edit:
    """The rows of a program, and which of them there are, at the top of the kernel."""
    tl, first = view.tl, kernel.body[0]
    lines = [
        f"kbs_rows = ({tl}.program_id(0) * KBS_ROWS + {tl}.arange(0, KBS_ROWS))[:, None]",
        "kbs_inside = kbs_rows < kbs_count",
    ]
    at = view.line_start(first)
    return Edit(at, at, "".join(f"{view.indent(first)}{line}\n" for line in lines))


def _inside(view: View, call: cst.Call) -> list[Edit]:
    """Mask a store so that rows beyond the last store nothing."""
    mask = argument(call, "mask", 2)
    if mask is None:
        end = view.tree.span(call.args[-1].value)[1]
        return [Edit(end, end, ", mask=kbs_inside")]
    start, end = view.tree.span(mask.value)
    node = mask.value
    if view.code(node) == "None":
        return [Edit(start, end, "kbs_inside")]
    opened = "("
    if isinstance(node, cst.IfExp) and view.code(node.body) == "None":  # left by mask_elision
        opened = f"kbs_inside if {view.code(node.test)} else ("
        node = node.orelse
    return [
        Edit(start, view.tree.span(node)[0], opened),
        Edit(end, end, ") & kbs_inside"),
    ]


def _require_shape(kernel: Kernel) -> None:
    name, view = kernel.name, kernel.view
    if not kernel.body:
        raise NotApplicableError(f"{name} stands on one line")
    if kernel.autotuned or reassigned_params(kernel):
        raise NotApplicableError(f"{name} is autotuned or changes its parameters")
    if not kernel.calls(*_REDUCTIONS):
        raise NotApplicableError(f"{name} reduces no row")
    axes = {view.code(call.args[0].value) for call in kernel.calls("program_id") if call.args}
    if axes != {"0"}:
        raise NotApplicableError(f"{name} is not numbered along one axis")
    for node in kernel.walk():
        if isinstance(node, cst.For | cst.While | cst.Return):
            raise NotApplicableError(f"{name} has loops or returns: its row is not one block")
        if isinstance(node, cst.If | cst.IfExp) and not _constant(kernel, node.test):
            raise NotApplicableError(f"{name} branches on values that rows may not share")
        if isinstance(node, cst.Subscript):
            raise NotApplicableError(f"{name} works on tiles already")
        if isinstance(node, cst.Call):
            _require_understood(kernel, node)


def _constant(kernel: Kernel, test: cst.BaseExpression) -> bool:
    return all(
        name.startswith("KBS_") or (name in kernel.params and kernel.params[name].constexpr)
        for name in names_in(test)
    )


def _require_understood(kernel: Kernel, call: cst.Call) -> None:
    text = kernel.view.code(call.func)
    method = isinstance(call.func, cst.Attribute) and call.func.attr.value in {"to", "float"}
    if not (kernel.is_tl(call, *_UNDERSTOOD) or method or text == "float"):
        raise NotApplicableError(f"{kernel.name} calls {text}, whose form for tiles is not known")


def _require_stores(kernel: Kernel) -> None:
    flow = Flow(kernel)
    for call in kernel.calls("store"):
        pointer = pointer_of(call)
        if pointer is None or not flow.axes(pointer):
            raise NotApplicableError(f"{kernel.name} stores where every row does")

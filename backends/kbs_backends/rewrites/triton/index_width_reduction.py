"""Indices of 32 bits where no tensor of the task needs more."""

from __future__ import annotations

import libcst as cst

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.triton.copies import assigned_once
from kbs_backends.rewrites.triton.dataflow import Flow
from kbs_backends.rewrites.triton.draft import TritonDraft
from kbs_backends.rewrites.triton.reach import Reaches
from kbs_backends.rewrites.triton.uses import Uses, data_in
from kbs_backends.rewrites.triton.view import (
    Kernel,
    Launch,
    View,
    argument,
    names_in,
    view_of,
)

METHOD = "index_width_reduction"
LARGEST_TILE = 2**20
"""Elements that Triton allows in a block: the last tile passes the end by less."""
LIMIT = 2**31 - LARGEST_TILE
_NARROW = ("program_id", "num_programs", "arange", "argmax", "argmin")
"""Calls whose result has 32 bits."""


def rewrite(source: RewriteSource) -> Rewritten:
    """Narrow indices that are cast to 64 bits; see ``ModuleRewrite``."""
    largest = source.largest_index
    if largest is None:
        raise NotApplicableError("the sizes are not known, so that an index may pass 2^31")
    if largest >= LIMIT:
        raise NotApplicableError(f"the sizes multiply to {largest}: an index may pass 2^31")
    view = view_of(source.text)
    sizes = frozenset(v for v in source.dims.values() if isinstance(v, int))
    draft = TritonDraft(view, METHOD)
    wide = f"{view.tl}.int64"
    reasons: list[str] = []
    for kernel in view.kernels.values():
        flow, uses = Flow(kernel), Uses(kernel)
        beyond = largest * _numbers(flow, sizes)
        cast = False
        for call in kernel.walk():
            if not isinstance(call, cst.Call) or not _casts(view, call, wide):
                continue
            if _is_index(kernel, flow, uses, call) and beyond >= LIMIT:
                reasons.append(
                    f"the sizes and the numbers that {kernel.name} and its launches multiply them "
                    f"with come to {beyond}: an index may pass 2^31"
                )
            elif _is_index(kernel, flow, uses, call):
                narrow = f"{view.tl}.int32 if {draft.switch} else {wide}"
                draft.replace(view.tree.span(call.args[0].value), narrow)
                cast = True
            else:
                reasons.append(f"{kernel.name} uses {view.code(call)} as more than an index")
        launches: list[Launch | None] = [*view.launches_of(kernel)]
        for launch in launches or [None] if cast else ():
            Reaches(flow, launch, source).require_below(LIMIT)
    if not draft:
        raise NotApplicableError("; ".join(reasons) or "no index is cast to 64 bits")
    return draft.finish(f"{len(draft.edits)} indices of 32 bits")


def _casts(view: View, call: cst.Call, wide: str) -> bool:
    """``x.to(tl.int64)``."""
    if not isinstance(call.func, cst.Attribute) or call.func.attr.value != "to":
        return False
    return len(call.args) == 1 and view.code(call.args[0].value) == wide


def _is_index(kernel: Kernel, flow: Flow, uses: Uses, call: cst.Call) -> bool:
    """A cast of what is not data, which memory is addressed with and nothing else is done with."""
    value = call.func.value if isinstance(call.func, cst.Attribute) else call
    launched = bool(kernel.view.launches_of(kernel))
    narrow = kernel.is_tl(value, *_NARROW)
    unknown = not launched and flow.closure(value) & set(kernel.params)
    if not narrow and (unknown or data_in(flow.sources(value))):
        return False
    fit = {"address", "mask", "compared"} | ({"stored"} if narrow else set())
    ends = uses.ends(call)
    return bool(ends) and ends <= fit


def _numbers(flow: Flow, sizes: frozenset[int]) -> int:
    """What a kernel's indices may reach beyond the product of the sizes: numbers that stand in it.

    They stand in products with what a launch gives, in a grid along which such a product goes, or
    among the arguments.
    """
    kernel = flow.kernel
    factor, axes = 1, set()
    for node in kernel.walk():
        if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Multiply):
            continue
        for side, other in ((node.left, node.right), (node.right, node.left)):
            if any(
                not kernel.params[n].constexpr for n in flow.closure(other) & set(kernel.params)
            ):
                axes |= flow.axes(side)
                factor *= _number(side)
    used = {name for one in flow.kernel.body for name in names_in(one)}
    launches = [
        _of_launch(kernel, launch, axes, used, sizes) for launch in kernel.view.launches_of(kernel)
    ]
    return factor * max(launches, default=1)


def _of_launch(
    kernel: Kernel, launch: Launch, axes: set[str], used: set[str], sizes: frozenset[int]
) -> int:
    grid = launch.grid.body if isinstance(launch.grid, cst.Lambda) else launch.grid
    parts = [one.value for one in grid.elements] if isinstance(grid, cst.Tuple) else [grid]
    factor = 1
    for axis, part in enumerate(parts):
        number = _number(part, launch)
        factor *= number if str(axis) in axes and number not in sizes else 1
    for place, (name, param) in enumerate(kernel.params.items()):
        found = argument(launch.call, name, place)
        if found is not None and name in used and not param.constexpr:
            number = _number(found.value, launch)
            factor *= number if number not in sizes else 1
    return factor


def _number(node: cst.CSTNode, launch: Launch | None = None) -> int:
    """A number, the product of those in a product, or what a name of the host is set to; else 1."""
    if isinstance(node, cst.Name) and launch is not None:
        value = assigned_once(launch.function, node.value)
        return _number(value) if value is not None else 1
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Multiply):
        return _number(node.left, launch) * _number(node.right, launch)
    return max(int(node.value, 0), 1) if isinstance(node, cst.Integer) else 1

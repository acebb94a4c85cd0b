"""Tiles visited in groups of rows, so that neighbours in time share operands in L2."""

from __future__ import annotations

import libcst as cst

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.triton.dataflow import Flow, pointer_of
from kbs_backends.rewrites.triton.draft import TritonDraft
from kbs_backends.rewrites.triton.helpers import require_no_reader
from kbs_backends.rewrites.triton.uses import Uses
from kbs_backends.rewrites.triton.view import Kernel, axis_of, view_of

METHOD = "l2_grouped_ordering"


def rewrite(source: RewriteSource) -> Rewritten:
    """Renumber the tiles of a matrix product; see ``ModuleRewrite``."""
    view = view_of(source.text)
    draft = TritonDraft(view, METHOD)
    reasons: list[str] = []
    for kernel in view.launched():
        if not kernel.calls("dot"):
            reasons.append(f"{kernel.name} multiplies no tiles")
        elif kernel.calls("swizzle2d") or "GROUP" in view.code(kernel.node).upper():
            reasons.append(f"{kernel.name} groups its tiles already")
        elif reason := _reader(kernel):
            reasons.append(reason)
        elif not (_two_axes(draft, kernel) or _one_axis(draft, kernel)):
            reasons.append(f"{kernel.name} has no operands shared along rows and columns of tiles")
    if not draft:
        raise NotApplicableError("; ".join(reasons) or "no kernel is launched here")
    draft.tunable("KBS_GROUP", 8, (2, 4, 8, 16))
    return draft.finish("tiles are visited in groups of rows")


def _reader(kernel: Kernel) -> str:
    """Why a tile may be numbered where a new number would not reach."""
    try:
        require_no_reader(kernel)
    except NotApplicableError as reason:
        return str(reason)
    return ""


def _assignments(kernel: Kernel) -> list[tuple[str, cst.BaseExpression, cst.SimpleStatementLine]]:
    """``name = value`` alone on a line of the kernel's outermost level."""
    found = []
    for statement in kernel.body:
        if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1:
            small = statement.body[0]
            if isinstance(small, cst.Assign) and isinstance(small.targets[0].target, cst.Name):
                found.append((small.targets[0].target.value, small.value, statement))
    return found


def _insert(draft: TritonDraft, after: list[cst.SimpleStatementLine], lines: list[str]) -> None:
    view = draft.view
    last = max(after, key=view.line_end)
    indent = view.indent(last)
    text = [f"if {draft.switch}:", *(f"    {line}" for line in lines)]
    draft.insert(view.line_end(last), "".join(f"{indent}{line}\n" for line in text))


def _numbered_once(kernel: Kernel, calls: list[cst.Call], names: tuple[str, str], at: int) -> bool:
    """Return whether ``calls`` alone read their axes, and ``names`` are read after ``at`` only."""
    view, flow, uses = kernel.view, Flow(kernel), Uses(kernel)
    others = [
        call
        for call in kernel.calls("program_id")
        if axis_of(view, call) in {axis_of(view, one) for one in calls} and call not in calls
    ]
    early = any(view.tree.span(read)[0] < at for name in names for read in uses.reads.get(name, []))
    return not others and not early and all(flow.single(name) is not None for name in names)


def _operands_shared(kernel: Kernel, row: str, column: str) -> bool:
    """Return whether one operand depends on the row only and another on the column only."""
    flow = Flow(kernel)
    kinds = set()
    for call in kernel.calls("load"):
        pointer = pointer_of(call)
        used = flow.closure(pointer) if pointer is not None else set()
        kinds.add((row in used, column in used))
    return {(True, False), (False, True)} <= kinds


def _two_axes(draft: TritonDraft, kernel: Kernel) -> bool:
    names: dict[str, tuple[str, cst.Call, cst.SimpleStatementLine]] = {}
    for name, value, statement in _assignments(kernel):
        if kernel.is_tl(value, "program_id") and isinstance(value, cst.Call):
            names[axis_of(draft.view, value)] = (name, value, statement)
    if "0" not in names or "1" not in names:
        return False
    (fast, across, first), (slow, down, second) = names["0"], names["1"]
    last = max(draft.view.line_end(first), draft.view.line_end(second))
    if not _numbered_once(kernel, [across, down], (fast, slow), last):
        return False
    if not _operands_shared(kernel, fast, slow):
        return False
    tl = draft.view.tl
    sizes = f"{tl}.num_programs(0), {tl}.num_programs(1)"
    lines = [
        f"kbs_order = {slow} * {tl}.num_programs(0) + {fast}",
        f"kbs_row = kbs_order // {tl}.num_programs(1)",
        f"kbs_column = kbs_order % {tl}.num_programs(1)",
        f"{fast}, {slow} = {tl}.swizzle2d(kbs_row, kbs_column, {sizes}, KBS_GROUP)",
    ]
    _insert(draft, [first, second], lines)
    return True


def _one_axis(draft: TritonDraft, kernel: Kernel) -> bool:
    flow = Flow(kernel)
    parts: dict[type[cst.BaseBinaryOp], tuple[str, cst.BinaryOperation, cst.SimpleStatementLine]]
    parts = {}
    for name, value, statement in _assignments(kernel):
        if not isinstance(value, cst.BinaryOperation) or not isinstance(value.left, cst.Name):
            continue
        if flow.axes(value.left) == {"0"}:
            parts.setdefault(type(value.operator), (name, value, statement))
    if cst.FloorDivide not in parts or cst.Modulo not in parts:
        return False
    row, over, first = parts[cst.FloorDivide]
    column, modulo, second = parts[cst.Modulo]
    view = draft.view
    if view.code(over.left) != view.code(modulo.left):
        return False
    columns = view.code(modulo.right)
    last = max(view.line_end(first), view.line_end(second))
    if not _only_parts(kernel, over.left, modulo.left, (row, column), last):
        return False
    if not _operands_shared(kernel, row, column):
        return False
    if view.code(over.right) != columns or kernel.calls("num_programs"):
        return False
    rows = f"{view.tl}.num_programs(0) // {columns}"
    line = f"{row}, {column} = {view.tl}.swizzle2d({row}, {column}, {rows}, {columns}, KBS_GROUP)"
    _insert(draft, [first, second], [line])
    return True


def _only_parts(
    kernel: Kernel,
    over: cst.BaseExpression,
    modulo: cst.BaseExpression,
    names: tuple[str, str],
    at: int,
) -> bool:
    """Return whether the program's number is read to be taken apart and for nothing else."""
    if isinstance(over, cst.Call) and isinstance(modulo, cst.Call):
        return _numbered_once(kernel, [over, modulo], names, at)
    if not isinstance(over, cst.Name):
        return False
    number = Flow(kernel).single(over.value)
    if not isinstance(number, cst.Call) or not kernel.is_tl(number, "program_id"):
        return False
    reads = Uses(kernel).reads.get(over.value, [])
    return all(one in (over, modulo) for one in reads) and _numbered_once(
        kernel, [number], names, at
    )

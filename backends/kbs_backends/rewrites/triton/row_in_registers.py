"""A row read once: loops over its pieces become one block that stays in registers."""

from __future__ import annotations

import re

import libcst as cst

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.draft import edited_slice
from kbs_backends.rewrites.triton.arrays import may_share
from kbs_backends.rewrites.triton.copies import (
    branch_launch,
    copied,
    each_kernel,
    given,
    reassigned_params,
)
from kbs_backends.rewrites.triton.dataflow import Flow
from kbs_backends.rewrites.triton.draft import TritonDraft
from kbs_backends.rewrites.triton.row_loops import RowLoops
from kbs_backends.rewrites.triton.view import Kernel, Launch, View, argument, view_of, walk
from kbs_backends.variants.records import Edit

METHOD = "row_in_registers"
_SUFFIX = "_kbs_row"


class _Row:
    """Loops of a kernel over one row, in pieces of ``block`` up to ``size``."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.loops = kernel.loops()
        found = {_pieces(kernel, loop) for loop in self.loops}
        if len(self.loops) <= 1 or len(found) != 1 or None in found:
            raise NotApplicableError(f"{kernel.name} does not go over a row in several loops")
        self.size, self.block = next(iter(found)) or ("", "")
        param = kernel.params.get(self.block)
        if param is None or not param.constexpr or self.size not in kernel.params:
            raise NotApplicableError(f"the pieces of {kernel.name}'s row are not its parameters")
        if kernel.calls("dot"):
            raise NotApplicableError(f"the pieces of {kernel.name} are operands of products")
        if kernel.autotuned:
            raise NotApplicableError(f"{kernel.name} is autotuned: its configurations choose")
        if changed := reassigned_params(kernel) & {self.size, self.block}:
            raise NotApplicableError(f"{kernel.name} changes its parameter {min(changed)}")
        RowLoops(kernel, self.size, self.block)


def rewrite(source: RewriteSource) -> Rewritten:
    """Add a form of each row kernel that reads its row once; see ``ModuleRewrite``."""
    view = view_of(source.text)
    draft = TritonDraft(view, METHOD)
    done = each_kernel(view, lambda kernel: _one(draft, _Row(kernel)))
    draft.tunable("KBS_ROW_LIMIT", 16384, (4096, 8192, 16384, 32768), host=True)
    return draft.finish(
        f"the row stays in registers: {', '.join(kernel.name for kernel in done)}", host=True
    )


def _one(draft: TritonDraft, row: _Row) -> None:
    view, kernel = draft.view, row.kernel
    loads = _loads(view, row)
    spans = [(edit.start, edit.end) for edit in loads if edit.end > edit.start]
    moved = [edit for loop in row.loops for edit in _unlooped(view, loop)]
    edits = [one for one in moved if not any(s < one.start < e for s, e in spans)] + loads
    name = kernel.name + _SUFFIX
    branches = TritonDraft(view, METHOD)
    for launch in view.launches_of(kernel):
        size = given(view, kernel, launch, row.size)
        width = f"{view.triton}.next_power_of_2({size})"
        condition = f"{draft.switch} and {width} <= KBS_ROW_LIMIT"
        lines = [
            f"kbs_width = {width}",
            f"{name}{_bracket(view, launch, row)}({_arguments(view, launch, row)})",
        ]
        branch_launch(branches, launch, condition, lines)
    text = copied(view, kernel, name, "", edits)
    draft.edits += branches.edits
    draft.below(text, view.line_end(kernel.node))


def _pieces(kernel: Kernel, loop: cst.For) -> tuple[str, str] | None:
    call = loop.iter
    if not isinstance(call, cst.Call) or not isinstance(loop.target, cst.Name):
        return None
    plain = isinstance(call.func, cst.Name) and call.func.value == "range"
    texts = [kernel.view.code(one.value) for one in call.args if one.keyword is None]
    if not (plain or kernel.is_tl(call, "range")) or len(texts) != 3 or texts[0] != "0":  # noqa: PLR2004
        return None
    inner = any(isinstance(node, cst.For | cst.While) for node in walk(loop.body))
    return None if inner else (texts[1], texts[2])


def _unlooped(view: View, loop: cst.For) -> list[Edit]:
    """Replace the header by ``k = 0`` and move the body out."""
    body = [one for one in loop.body.body if isinstance(one, cst.BaseStatement)]
    if not body:
        raise NotApplicableError("a loop has its body on one line")
    start = view.line_start(body[0])
    indent = view.indent(loop)
    deeper = len(view.indent(body[0])) - len(indent)
    header = (view.line_start(loop), start)
    edits = [Edit(*header, f"{indent}{view.code(loop.target)} = 0\n")]
    position, end = start, view.tree.span(loop)[1]
    while position < end:
        stop = view.data.find(b"\n", position)
        stop = len(view.data) if stop < 0 else stop
        if view.data[position : position + deeper].isspace():
            edits.append(Edit(position, position + deeper, ""))
        position = stop + 1
    return edits


def _loads(view: View, row: _Row) -> list[Edit]:
    """Read each address once; the first value is kept for later passes."""
    kernel, flow = row.kernel, Flow(row.kernel)
    stores = {call: flow.base(call.args[0].value) for call in kernel.calls("store")}
    kept: dict[tuple[str, str], tuple[str, str]] = {}
    edits: list[Edit] = []
    again = 0
    for loop in row.loops:
        for call, key, other in _keyed(view, kernel, loop):
            if flow.base(call.args[0].value) in stores.values():
                continue
            if key not in kept:
                name = f"kbs_kept_{len(kept)}"
                kept[key] = (name, other)
                edits.append(Edit(*view.tree.span(call), name))
                edits.append(_before(view, call, f"{name} = {view.code(call)}"))
                continue
            _require_unchanged(kernel, flow, call, stores)
            name, first = kept[key]
            again += 1
            mask = argument(call, "mask", 1)
            same = other in {"", first} or mask is None
            value = f"{view.tl}.where({view.code(mask.value)}, {name}, {other})" if mask else name
            edits.append(Edit(*view.tree.span(call), name if same else value))
    if not again:
        raise NotApplicableError(f"{kernel.name} reads nothing twice in its loops")
    return edits


def _require_unchanged(
    kernel: Kernel, flow: Flow, call: cst.Call, stores: dict[cst.Call, str | None]
) -> None:
    """What is read again was not stored since, under the name of another parameter."""
    span, base = kernel.view.tree.span, flow.base(call.args[0].value)
    for store, target in stores.items():
        if span(store)[1] > span(call)[0]:
            continue
        if base is None or target is None or may_share(kernel, base, target):
            raise NotApplicableError(
                f"{kernel.name} may store to {target or 'an array'} what it reads again"
            )


def _before(view: View, call: cst.Call, line: str) -> Edit:
    above = view.tree.ancestors(call)
    statement = next(one for one in above if isinstance(one, cst.SimpleStatementLine))
    at = view.tree.span(statement)[0]
    loop = next(one for one in above if isinstance(one, cst.For))
    return Edit(at, at, f"{line}\n{view.indent(loop)}")


def _keyed(
    view: View, kernel: Kernel, loop: cst.For
) -> list[tuple[cst.Call, tuple[str, str], str]]:
    """Loads of a loop with address and mask written out, and what masked lanes read."""
    known = {view.code(loop.target): "0"}
    found = []
    for statement in loop.body.body:
        if not isinstance(statement, cst.SimpleStatementLine):
            raise NotApplicableError(f"{kernel.name} branches inside its loops")
        for node in walk(statement):
            if isinstance(node, cst.Call) and kernel.is_tl(node, "load"):
                mask, other = argument(node, "mask", 1), argument(node, "other", 2)
                address = _written_out(view.code(node.args[0].value), known)
                masked = _written_out(view.code(mask.value), known) if mask is not None else ""
                found.append((node, (address, masked), view.code(other.value) if other else ""))
        for small in statement.body:
            if isinstance(small, cst.Assign) and isinstance(small.targets[0].target, cst.Name):
                text = _written_out(view.code(small.value), known)
                known[small.targets[0].target.value] = f"({text})"
    return found


def _written_out(text: str, known: dict[str, str]) -> str:
    spelled = re.sub(r"(?<![\w.])[A-Za-z_]\w*(?!\s*=[^=])", lambda m: known.get(m[0], m[0]), text)
    return re.sub(r"\s+", "", spelled)


def _bracket(view: View, launch: Launch, row: _Row) -> str:
    text = view.data[launch.grid_span[0] : launch.grid_span[1]].decode()
    if re.search(rf"\b{row.block}\b", text):
        raise NotApplicableError(f"the grid of {launch.kernel} depends on {row.block}")
    return f"[{text}]"


def _arguments(view: View, launch: Launch, row: _Row) -> str:
    found = argument(launch.call, row.block, list(row.kernel.params).index(row.block))
    if found is None or (launch.starred and found.keyword is None):
        raise NotApplicableError(f"the launch of {launch.kernel} does not say its {row.block}")
    spans = [view.tree.span(one) for one in launch.call.args]
    edits = [Edit(*view.tree.span(found.value), "kbs_width")]
    whole = (spans[0][0], view.tree.span(launch.call.args[-1].value)[1])
    text = edited_slice(view.data, whole, edits)
    if "num_warps" in text:
        return text
    return f"{text}, num_warps=min(16, max(4, kbs_width // 1024))"

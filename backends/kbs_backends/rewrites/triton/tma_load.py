"""Regular 2-D tiles loaded through tensor descriptors."""

from __future__ import annotations

import re

import libcst as cst

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.triton.copies import each_kernel, torch_name
from kbs_backends.rewrites.triton.counts import Tiles
from kbs_backends.rewrites.triton.dataflow import Flow
from kbs_backends.rewrites.triton.draft import TritonDraft
from kbs_backends.rewrites.triton.heuristics import add_facts
from kbs_backends.rewrites.triton.tiles import Tile, read_tile
from kbs_backends.rewrites.triton.view import Kernel, view_of
from kbs_backends.variants.records import Edit

METHOD = "tma_load"
_FIRST_SM = 90
_ALLOCATE = '''
def kbs_allocate(size, alignment, stream):
    """Memory in which a kernel lays down its descriptors."""
    return {torch}.empty(size, dtype={torch}.int8, device="cuda")
'''


def rewrite(source: RewriteSource) -> Rewritten:
    """Load 2-D tiles with the bulk copy engine; see ``ModuleRewrite``."""
    target = re.match(r"sm_(\d+)", source.arch)
    if target is None or int(target[1]) < _FIRST_SM:
        raise NotApplicableError(f"{source.arch} has no bulk copy engine")
    view = view_of(source.text)
    torch = torch_name(view)
    draft = TritonDraft(view, METHOD)
    done = each_kernel(view, lambda kernel: _one(draft, kernel))
    draft.helper(_ALLOCATE.format(torch=torch))
    return draft.finish(f"tiles through descriptors: {', '.join(k.name for k in done)}")


def _one(draft: TritonDraft, kernel: Kernel) -> None:
    view = draft.view
    tiles = _tiles(kernel)
    for number, tile in enumerate(tiles):
        _describe(draft, tile, f"kbs_tiles_{number}")
    add_facts(draft, kernel, {"KBS_TMA": _fact(tiles)})
    for launch in view.launches_of(kernel):
        if launch.statement is not None:
            at = view.line_start(launch.statement)
            indent = view.indent(launch.statement)
            call = f"{view.triton}.set_allocator(kbs_allocate)"
            draft.insert(at, f"{indent}if {draft.switch}:\n{indent}    {call}\n")


def _tiles(kernel: Kernel) -> list[Tile]:
    flow = Flow(kernel)
    counts = Tiles(kernel, flow)
    read = [_tile(kernel, flow, counts, call) for call in kernel.calls("load")]
    tiles = [tile for tile in read if isinstance(tile, Tile)]
    if not tiles:
        reasons = dict.fromkeys(str(reason) for reason in read)
        raise NotApplicableError("; ".join(reasons) or f"{kernel.name} loads nothing")
    return tiles


def _tile(kernel: Kernel, flow: Flow, counts: Tiles, call: cst.Call) -> Tile | NotApplicableError:
    try:
        return read_tile(kernel, flow, counts, call)
    except NotApplicableError as reason:
        return reason


def _describe(draft: TritonDraft, tile: Tile, name: str) -> None:
    view, tl = draft.view, draft.view.tl
    indent = view.indent(tile.before)
    lines = [
        "if KBS_TMA:",
        f"    {name} = {tl}.make_tensor_descriptor(",
        f"        {tile.base},",
        f"        shape=[{tile.rows.bound}, {tile.columns.bound}],",
        f"        strides=[{tile.rows.stride}, 1],",
        f"        block_shape=[{tile.rows.block}, {tile.columns.block}],",
        "    )",
    ]
    at = view.line_start(tile.before)
    draft.insert(at, "".join(f"{indent}{line}\n" for line in lines))
    load = f"{name}.load([{tile.rows.start}, {tile.columns.start}])"
    old = view.code(tile.call)
    draft.edits.append(Edit(*view.tree.span(tile.call), f"({load} if KBS_TMA else {old})"))


def _fact(tiles: list[Tile]) -> str:
    conditions = []
    for tile in tiles:
        base = f'args["{tile.pointer}"]'
        row = tile.rows.stride
        stride = row if row.isdigit() else f'args["{row}"]'
        conditions += [
            f"{base}.data_ptr() % 16 == 0",
            f"{stride} > 0",
            f"{stride} * {base}.element_size() % 16 == 0",
            f'args["{tile.rows.block}"] <= 256',
            f'16 // {base}.element_size() <= args["{tile.columns.block}"] <= 256',
        ]
        conditions += [
            f'args["{stride}"] * {base}.element_size() % 16 == 0' for stride in tile.apart
        ]
        if tile.columns.stride != "1":
            conditions.append(f'args["{tile.columns.stride}"] == 1')
        conditions += sorted(tile.rows.facts | tile.columns.facts)
    return " and ".join(dict.fromkeys(conditions))

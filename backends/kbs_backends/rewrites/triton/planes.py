"""Whether the programs of a launch store every element of a result, each of them once."""

from __future__ import annotations

import libcst as cst

from kbs_backends.rewrites.base import NotApplicableError
from kbs_backends.rewrites.triton.copies import assigned_once, given, meta_of
from kbs_backends.rewrites.triton.dataflow import Flow, pointer_of
from kbs_backends.rewrites.triton.masks import flatten, tile_of
from kbs_backends.rewrites.triton.tiles import axis_of_term, bounds_of
from kbs_backends.rewrites.triton.view import Kernel, Launch, View


def covered(view: View, kernel: Kernel, flow: Flow, launch: Launch, out: str) -> str:
    """Return the condition, on the host, under which a launch stores all of ``out``.

    As many programs as there are tiles, each of which stores its own: no element keeps what it
    held before.

    Raises:
        NotApplicableError: The kernel's one store is no tile of two axes.
    """
    store = kernel.calls("store")[0]
    pointer = pointer_of(store)
    terms = (flatten(flow, pointer, keep_axes=True) if pointer is not None else None) or []
    parts = {axis[0]: axis for term in terms if (axis := axis_of_term(term)) is not None}
    if sorted(parts) != [0, 1]:
        raise NotApplicableError(f"{kernel.name} stores no regular 2-D tile")
    bounds = bounds_of(kernel, flow, store, parts)
    counts, sizes = [f"{out}.numel()"], [_programs(view, launch)]
    for number, (_, index, _) in sorted(parts.items()):
        tile = tile_of(kernel, flow, index)
        if tile is None:
            raise NotApplicableError(f"{kernel.name} stores a tile whose corner cannot be told")
        block = given(view, kernel, launch, tile[0]) if not tile[0].isdigit() else tile[0]
        if number in bounds:
            size = given(view, kernel, launch, view.code(bounds[number]))
            counts.append(f"{view.triton}.cdiv({size}, {block})")
            sizes.append(size)
        else:
            sizes.append(block)
    return f"{' * '.join(counts)} == {' * '.join(sizes)}"


def _programs(view: View, launch: Launch) -> str:
    grid: cst.CSTNode = launch.grid
    text = view.code(grid)
    if isinstance(grid, cst.Name):
        grid = assigned_once(launch.function, grid.value) or grid
    if isinstance(grid, cst.Tuple | cst.List):
        whole, count = text, len(grid.elements)
    elif isinstance(grid, cst.Lambda) and isinstance(grid.body, cst.Tuple):
        call = text if text.isidentifier() else f"({text})"
        whole, count = f"{call}({meta_of(view, launch, grid)})", len(grid.body.elements)
    else:
        raise NotApplicableError(f"the grid of {launch.kernel} is computed elsewhere")
    return " * ".join(f"{whole}[{number}]" for number in range(count))

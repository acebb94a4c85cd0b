"""The inner dimension of a matrix product shared out over programs, summed by a second kernel."""

from __future__ import annotations

import re

import libcst as cst

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.triton.copies import (
    arguments,
    assigned_once,
    branch_launch,
    copied,
    each_kernel,
    given,
    torch_name,
)
from kbs_backends.rewrites.triton.draft import TritonDraft
from kbs_backends.rewrites.triton.helpers import require_no_reader
from kbs_backends.rewrites.triton.planes import covered
from kbs_backends.rewrites.triton.products import Product
from kbs_backends.rewrites.triton.view import Kernel, Launch, View, axis_of, view_of
from kbs_backends.variants.records import Edit

METHOD = "split_k"
_SUFFIX = "_kbs_split"
_SUM = '''
@{triton}.jit
def kbs_sum_splits(kbs_partial, out_ptr, kbs_plane, KBS_WIDTH: {tl}.constexpr):
    """Add the partial products in a fixed order and store them in the type of the result."""
    kbs_offsets = {tl}.program_id(0) * KBS_WIDTH + {tl}.arange(0, KBS_WIDTH)
    kbs_inside = kbs_offsets < kbs_plane
    kbs_total = {tl}.zeros([KBS_WIDTH], dtype={tl}.float32)
    for kbs_part in range(KBS_SPLITS):
        kbs_place = kbs_partial + kbs_part * kbs_plane + kbs_offsets
        kbs_total += {tl}.load(kbs_place, mask=kbs_inside, other=0.0)
    {tl}.store(out_ptr + kbs_offsets, kbs_total.to(out_ptr.dtype.element_ty), mask=kbs_inside)
'''


def rewrite(source: RewriteSource) -> Rewritten:
    """Add a form of each matrix product that splits its inner dimension; see ``ModuleRewrite``."""
    _require_skinny(source)
    view = view_of(source.text)
    draft = TritonDraft(view, METHOD)
    torch = torch_name(view)
    done = each_kernel(view, lambda kernel: _one(draft, kernel, torch))
    draft.tunable("KBS_SPLITS", 4, (2, 4, 8, 16))
    text = _SUM.format(triton=view.triton, tl=view.tl)
    draft.below(text, max(view.line_end(kernel.node) for kernel in done))
    return draft.finish(f"inner dimension split: {', '.join(k.name for k in done)}", host=True)


def _require_skinny(source: RewriteSource) -> None:
    sizes = [source.dims.get(name) for name in ("M", "N", "K")]
    if all(isinstance(size, int) for size in sizes):
        rows, columns, inner = (int(size or 0) for size in sizes)
        if inner <= max(rows, columns):
            raise NotApplicableError(
                f"K = {inner} is no larger than M = {rows} and N = {columns}: "
                "the tiles of the result are the better source of programs"
            )


def _one(draft: TritonDraft, kernel: Kernel, torch: str) -> None:
    view = draft.view
    product = Product(kernel)
    require_no_reader(kernel)
    name = kernel.name + _SUFFIX
    branches = TritonDraft(view, METHOD)
    axis = ""
    for launch in view.launches_of(kernel):
        grid, axis = _grid(view, launch)
        if any(axis_of(view, c) == axis for c in kernel.calls("program_id", "num_programs")):
            raise NotApplicableError(
                f"{kernel.name} reads axis {axis}, which the splits would take"
            )
        out = given(view, kernel, launch, product.out)
        lines = [
            f"kbs_plane = {out}.numel()",
            "kbs_size = KBS_SPLITS.value * kbs_plane",
            f"kbs_partial = {torch}.empty(kbs_size, dtype={torch}.float32, device={out}.device)",
            f"{name}[{grid}](kbs_partial, kbs_plane, {arguments(view, launch)})",
            f"kbs_blocks = ({view.triton}.cdiv(kbs_plane, 1024),)",
            f"kbs_sum_splits[kbs_blocks](kbs_partial, {out}, kbs_plane, KBS_WIDTH=1024)",
        ]
        whole = covered(view, kernel, product.flow, launch, out)
        condition = f"{draft.switch} and {out}.is_contiguous() and {whole}"
        branch_launch(branches, launch, condition, lines)
    edits = _split(view, product, axis)
    text = copied(view, kernel, name, "kbs_partial, kbs_plane", edits)
    draft.edits += branches.edits
    draft.below(text, view.line_end(kernel.node))


def _grid(view: View, launch: Launch) -> tuple[str, str]:
    """The grid with the splits as its last axis, and the number of that axis."""
    grid: cst.CSTNode = launch.grid
    text = view.code(grid)
    if isinstance(grid, cst.Name):
        grid = assigned_once(launch.function, grid.value) or grid
    splits = "KBS_SPLITS.value"
    if isinstance(grid, cst.Tuple | cst.List):
        parts, new = grid.elements, f"(*{text}, {splits})"
    elif isinstance(grid, cst.Lambda) and isinstance(grid.body, cst.Tuple):
        call = text if text.isidentifier() else f"({text})"
        parts, new = grid.body.elements, f"lambda meta: (*{call}(meta), {splits})"
    else:
        raise NotApplicableError(f"the grid of {launch.kernel} is computed elsewhere")
    if not 1 <= len(parts) <= 2:  # noqa: PLR2004 - three axes are all there are
        raise NotApplicableError(f"the grid of {launch.kernel} has no axis left")
    return new, str(len(parts))


def _split(view: View, product: Product, axis: str) -> list[Edit]:
    tl, tree = view.tl, view.tree
    loop, kernel = product.loop, product.kernel
    indent = view.indent(loop)
    start = view.line_start(kernel.body[0])
    lines = [
        f"kbs_split = {tl}.program_id({axis})",
        f"{product.out} = kbs_partial + kbs_split * kbs_plane",
    ]
    edits = [Edit(start, start, "".join(f"{indent}{line}\n" for line in lines))]
    moved = [
        f"kbs_steps = {tl}.cdiv({product.steps}, KBS_SPLITS)",
        "kbs_first = kbs_split * kbs_steps",
        *(f"{name} += kbs_first * ({change})" for name, change in product.moves),
    ]
    at = view.line_start(loop)
    edits.append(Edit(at, at, "".join(f"{indent}{line}\n" for line in moved)))
    first, last = "kbs_first", f"min({product.steps}, kbs_first + kbs_steps)"
    if product.stride:
        stride = product.stride if re.fullmatch(r"\w+", product.stride) else f"({product.stride})"
        first = f"kbs_first * {stride}"
        last = f"min({product.size}, (kbs_first + kbs_steps) * {stride})"
    edits.append(Edit(*product.bounds, f"{first}, {last}"))
    edits += [Edit(*tree.span(node), f"{tl}.float32") for node in product.casts]
    return edits

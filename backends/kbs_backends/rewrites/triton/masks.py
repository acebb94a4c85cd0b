"""Bounds masks: under which condition on the sizes is one true for every lane."""

from __future__ import annotations

import libcst as cst

from kbs_backends.rewrites.triton.counts import Tiles
from kbs_backends.rewrites.triton.dataflow import Flow
from kbs_backends.rewrites.triton.view import Kernel, argument

_DEPTH = 12


def always_true(kernel: Kernel, tiles: Tiles, mask: cst.BaseExpression) -> frozenset[str] | None:
    """Return conditions over ``args`` under which ``mask`` is true everywhere, None if unknown.

    Understood are conjunctions of ``offsets < size`` where the offsets are those of one tile
    (``i * BLOCK + tl.arange(0, BLOCK)``, ``k + tl.arange(0, BLOCK)`` with ``k`` from
    ``range(0, size, BLOCK)``, ``tl.arange(0, BLOCK)``), and of ``tl.arange(0, BLOCK) <
    size - k * BLOCK``. That ``i`` stays below ``cdiv(size, BLOCK)`` is shown by the grid of every
    launch, or by the loop that counts it.
    """
    flow = tiles.flow
    if isinstance(mask, cst.Name):
        value = flow.single(mask.value)
        return always_true(kernel, tiles, value) if value is not None else None
    if isinstance(mask, cst.Subscript):
        return always_true(kernel, tiles, mask.value)
    if isinstance(mask, cst.BinaryOperation) and isinstance(mask.operator, cst.BitAnd):
        left = always_true(kernel, tiles, mask.left)
        right = always_true(kernel, tiles, mask.right)
        return left | right if left is not None and right is not None else None
    if isinstance(mask, cst.Comparison) and len(mask.comparisons) == 1:
        compared = mask.comparisons[0]
        if isinstance(compared.operator, cst.LessThan):
            condition = below_size(kernel, tiles, mask.left, compared.comparator)
            return frozenset({condition}) if condition is not None else None
    return None


def only_bounds(kernel: Kernel, flow: Flow, mask: cst.BaseExpression) -> bool:
    """Return whether a mask is a conjunction of ``offsets of a tile < parameter``."""
    if isinstance(mask, cst.Name):
        value = flow.single(mask.value)
        return value is not None and only_bounds(kernel, flow, value)
    if isinstance(mask, cst.Subscript):
        return only_bounds(kernel, flow, mask.value)
    if isinstance(mask, cst.BinaryOperation) and isinstance(mask.operator, cst.BitAnd):
        return only_bounds(kernel, flow, mask.left) and only_bounds(kernel, flow, mask.right)
    if not isinstance(mask, cst.Comparison) or len(mask.comparisons) != 1:
        return False
    compared = mask.comparisons[0]
    bound = compared.comparator
    size = isinstance(bound, cst.Name) and bound.value in kernel.params
    tile = tile_of(kernel, flow, mask.left) is not None
    return isinstance(compared.operator, cst.LessThan) and size and tile


def below_size(
    kernel: Kernel, tiles: Tiles, offsets: cst.BaseExpression, bound: cst.BaseExpression
) -> str | None:
    """Return the fact over ``args`` under which all offsets of a tile stay below a bound."""
    block, rest = tile_of(kernel, tiles.flow, offsets) or ("", [])
    block_text = _argument(kernel, tiles.flow, block)
    left = ""
    if isinstance(bound, cst.BinaryOperation) and isinstance(bound.operator, cst.Subtract):
        left = kernel.view.code(bound.left)
        if rest or not steps_below(kernel, tiles, bound.right, block, left):
            return None
    size = _argument(kernel, tiles.flow, left or kernel.view.code(bound))
    if size is None or block_text is None:
        return None
    if not rest and not left:
        return f"{size} == {block_text}"
    if all(steps_below(kernel, tiles, term, block, kernel.view.code(bound)) for term in rest):
        return f"{size} % {block_text} == 0"
    return None


def tile_of(
    kernel: Kernel, flow: Flow, offsets: cst.BaseExpression
) -> tuple[str, list[cst.BaseExpression]] | None:
    """Return the tile size of offsets and what is added to ``tl.arange(0, size)``, or None."""
    terms = flatten(flow, offsets)
    if terms is None:
        return None
    ranges = [term for term in terms if kernel.is_tl(term, "arange")]
    if len(ranges) != 1 or not isinstance(ranges[0], cst.Call):
        return None
    low, high = (argument(ranges[0], name, n) for n, name in enumerate(("start", "end")))
    if low is None or high is None or kernel.view.code(low.value) != "0":
        return None
    return kernel.view.code(high.value), [term for term in terms if term is not ranges[0]]


def flatten(
    flow: Flow, node: cst.BaseExpression, depth: int = 0, *, keep_axes: bool = False
) -> list[cst.BaseExpression] | None:
    """Return the terms of a sum, names of one value followed; None where it goes too deep.

    ``x[:, None]`` is read as ``x`` unless ``keep_axes``.
    """
    if depth > _DEPTH:
        return None
    if isinstance(node, cst.Subscript) and _only_new_axes(node) and not keep_axes:
        return flatten(flow, node.value, depth + 1)
    if isinstance(node, cst.Name) and node.value not in flow.loop_names:
        value = flow.single(node.value)
        if value is None or isinstance(value, cst.Tuple):
            return [node]
        return flatten(flow, value, depth + 1, keep_axes=keep_axes)
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        left = flatten(flow, node.left, depth + 1, keep_axes=keep_axes)
        right = flatten(flow, node.right, depth + 1, keep_axes=keep_axes)
        return left + right if left is not None and right is not None else None
    return [node]


def _only_new_axes(node: cst.Subscript) -> bool:
    for element in node.slice:
        part = element.slice
        none = isinstance(part, cst.Index) and isinstance(part.value, cst.Name)
        if not (none or isinstance(part, cst.Slice)):
            return False
    return True


def steps_below(
    kernel: Kernel, tiles: Tiles, term: cst.BaseExpression, block: str, size: str
) -> bool:
    """Return whether a term is always a multiple of ``block`` below ``size``."""
    if isinstance(term, cst.BinaryOperation) and isinstance(term.operator, cst.Multiply):
        for one, number in ((term.left, term.right), (term.right, term.left)):
            if kernel.view.code(one) == block:
                return tiles.below(number, (size, block))
        return False
    if not isinstance(term, cst.Name) or term.value not in tiles.flow.loop_names:
        return False
    loops = [one for one in kernel.loops() if kernel.view.code(one.target) == term.value]
    if len(tiles.flow.values[term.value]) != len(loops):
        return False
    return all(
        isinstance(loop.iter, cst.Call)
        and [kernel.view.code(one.value) for one in loop.iter.args if one.keyword is None]
        == ["0", size, block]
        for loop in loops
    )


def _argument(kernel: Kernel, flow: Flow, name: str) -> str | None:
    changes = name in flow.assigned or name in flow.loop_names
    return argument_text(kernel, name) if name and not changes else None


def argument_text(kernel: Kernel, name: str) -> str | None:
    """How a heuristic reads a size: an argument without default, or a number."""
    if name.isdigit():
        return name
    for param in kernel.node.params.params:
        if param.name.value == name and param.default is None:
            return f'args["{name}"]'
    return None

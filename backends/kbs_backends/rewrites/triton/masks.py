"""Bounds masks: under which condition on the sizes is one true for every lane."""

from __future__ import annotations

import libcst as cst

from kbs_backends.rewrites.triton.dataflow import Flow
from kbs_backends.rewrites.triton.view import Kernel, argument, walk

_DEPTH = 12


def always_true(kernel: Kernel, flow: Flow, mask: cst.BaseExpression) -> frozenset[str] | None:
    """Return conditions over ``args`` under which ``mask`` is true everywhere, None if unknown.

    Understood are conjunctions of ``offsets < size`` where the offsets are those of one tile
    (``i * BLOCK + tl.arange(0, BLOCK)``, ``k + tl.arange(0, BLOCK)`` with ``k`` from
    ``range(0, size, BLOCK)``, ``tl.arange(0, BLOCK)``), and of ``tl.arange(0, BLOCK) <
    size - k * BLOCK``.
    """
    if isinstance(mask, cst.Name):
        value = flow.single(mask.value)
        return always_true(kernel, flow, value) if value is not None else None
    if isinstance(mask, cst.Subscript):
        return always_true(kernel, flow, mask.value)
    if isinstance(mask, cst.BinaryOperation) and isinstance(mask.operator, cst.BitAnd):
        left = always_true(kernel, flow, mask.left)
        right = always_true(kernel, flow, mask.right)
        return left | right if left is not None and right is not None else None
    if isinstance(mask, cst.Comparison) and len(mask.comparisons) == 1:
        compared = mask.comparisons[0]
        if isinstance(compared.operator, cst.LessThan):
            condition = _below(kernel, flow, mask.left, compared.comparator)
            return frozenset({condition}) if condition is not None else None
    return None


def _below(
    kernel: Kernel, flow: Flow, offsets: cst.BaseExpression, bound: cst.BaseExpression
) -> str | None:
    block, rest = tile_of(kernel, flow, offsets) or ("", [])
    block_text = argument_text(kernel, block) if block else None
    if isinstance(bound, cst.BinaryOperation) and isinstance(bound.operator, cst.Subtract):
        if rest or not _is_multiple(kernel, bound.right, block):
            return None
        size = _argument(kernel, bound.left)
        return f"{size} % {block_text} == 0" if size and block_text else None
    size = _argument(kernel, bound)
    if size is None or block_text is None:
        return None
    if not rest:
        return f"{size} == {block_text}"
    if all(_steps(kernel, flow, term, block, kernel.view.code(bound)) for term in rest):
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


def _is_multiple(kernel: Kernel, node: cst.BaseExpression, block: str) -> bool:
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Multiply):
        return False
    return block in {kernel.view.code(node.left), kernel.view.code(node.right)}


def _steps(kernel: Kernel, flow: Flow, term: cst.BaseExpression, block: str, size: str) -> bool:
    """Return whether a term is always a multiple of ``block`` below ``size``."""
    if _is_multiple(kernel, term, block):
        return bool(flow.axes(term)) or bool(flow.closure(term) & flow.loop_names)
    if not isinstance(term, cst.Name) or term.value not in flow.loop_names:
        return False
    for loop in kernel.loops():
        if isinstance(loop.target, cst.Name) and loop.target.value == term.value:
            call = loop.iter
            if not isinstance(call, cst.Call):
                return False
            given = [kernel.view.code(a.value) for a in call.args if a.keyword is None]
            if given != ["0", size, block]:
                return False
    return True


def _argument(kernel: Kernel, node: cst.BaseExpression) -> str | None:
    if isinstance(node, cst.Name) and node.value in kernel.params:
        assigned = any(
            isinstance(target, cst.AssignTarget)
            and isinstance(target.target, cst.Name)
            and target.target.value == node.value
            for target in walk(kernel.node.body)
        )
        return None if assigned else argument_text(kernel, node.value)
    return None


def argument_text(kernel: Kernel, name: str) -> str | None:
    """How a heuristic reads a size: an argument without default, or a number."""
    if name.isdigit():
        return name
    for param in kernel.node.params.params:
        if param.name.value == name and param.default is None:
            return f'args["{name}"]'
    return None

"""Loads of regular 2-D tiles: base, strides, corner and bounds."""

from __future__ import annotations

import libcst as cst
import msgspec

from kbs_backends.rewrites.base import NotApplicableError
from kbs_backends.rewrites.triton.dataflow import Flow
from kbs_backends.rewrites.triton.masks import argument_text, flatten, tile_of
from kbs_backends.rewrites.triton.view import Kernel, argument, walk


class Axis(msgspec.Struct, frozen=True, kw_only=True):
    """One axis of a tile, as texts of the kernel."""

    block: str
    start: str
    stride: str
    bound: str


class Tile:
    """One load of a 2-D tile."""

    def __init__(self, call: cst.Call, before: cst.CSTNode) -> None:
        """Keep the load; ``read_tile`` sets the rest."""
        self.call = call
        self.pointer = ""
        """Parameter at which the matrix, or the array that it is part of, starts."""
        self.base = ""
        """Address of the matrix, as an expression."""
        self.apart: list[str] = []
        """Strides between matrices of the array."""
        self.before = before
        """Statement before which the descriptor can be made."""
        self.rows: Axis
        self.columns: Axis


def read_tile(kernel: Kernel, flow: Flow, call: cst.Call) -> Tile:
    """Read a load whose address is ``base + rows[:, None] * stride + columns[None, :]``.

    Raises:
        NotApplicableError: The load is of another form, with the reason.
    """
    view = kernel.view
    pointer = call.args[0].value
    loop = next((n for n in view.tree.ancestors(call) if isinstance(n, cst.For)), None)
    moved = _moved(kernel, flow, pointer, loop)
    start = flow.values[moved[0]][0] if moved else pointer
    terms = flatten(flow, start, keep_axes=True) or []
    axes = [_axis_of(term) for term in terms]
    if sorted(a[0] for a in axes if a is not None) != [0, 1]:
        raise NotApplicableError(f"{kernel.name} loads no regular 2-D tile")
    base = [term for term, axis in zip(terms, axes, strict=True) if axis is None]
    _require_zero(kernel, call)
    parts = {a[0]: a for a in axes if a is not None}
    _require_bounds(kernel, flow, call, {view.code(a[1]) for a in parts.values()})
    statement = loop if loop is not None else _statement(kernel, call)
    tile = Tile(call, statement)
    _read_base(kernel, flow, tile, base)
    read = []
    for number in (0, 1):
        _, index, stride = parts[number]
        stride_text = view.code(stride) if stride is not None else "1"
        read.append(_axis(kernel, flow, call, index, stride_text, moved, loop))
    tile.rows, tile.columns = read
    _require_plain(kernel, tile)
    return tile


def _read_base(kernel: Kernel, flow: Flow, tile: Tile, terms: list[cst.BaseExpression]) -> None:
    """One pointer, and offsets of the form ``number · stride``."""
    texts = [kernel.view.code(term) for term in terms]
    pointers = [one for one in texts if one in kernel.params and not _constant(kernel, one)]
    if len(pointers) != 1 or pointers[0] in flow.assigned or texts[0] != pointers[0]:
        raise NotApplicableError(f"{kernel.name} loads from an address that is no parameter")
    for term in terms[1:]:
        sides = []
        if isinstance(term, cst.BinaryOperation) and isinstance(term.operator, cst.Multiply):
            sides = [kernel.view.code(term.left), kernel.view.code(term.right)]
        strides = [one for one in sides if one in kernel.params and not _constant(kernel, one)]
        if len(strides) != 1 or flow.uses(term, "arange", "load"):
            raise NotApplicableError(f"{kernel.name} loads at an offset whose alignment is unknown")
        tile.apart += strides
    tile.pointer, tile.base = pointers[0], " + ".join(texts)


def _constant(kernel: Kernel, name: str) -> bool:
    return kernel.params[name].constexpr


def _moved(
    kernel: Kernel, flow: Flow, pointer: cst.BaseExpression, loop: cst.For | None
) -> tuple[str, str] | None:
    """Name and step of a pointer that the loop moves on after the load."""
    if not isinstance(pointer, cst.Name) or pointer.value not in flow.augmented:
        return None
    moves, values = flow.augmented[pointer.value], flow.values.get(pointer.value, [])
    inside = [] if loop is None else [m for m in moves if any(n is m for n in walk(loop.body))]
    if len(moves) != 1 or len(values) != 1 or inside != moves:
        raise NotApplicableError(f"{kernel.name} moves {pointer.value} in several places")
    return pointer.value, kernel.view.code(moves[0].value)


def _axis_of(
    term: cst.BaseExpression,
) -> tuple[int, cst.BaseExpression, cst.BaseExpression | None] | None:
    """Axis, index and stride of ``x[:, None] * stride`` or ``x[None, :]``; None for others."""
    stride: cst.BaseExpression | None = None
    if isinstance(term, cst.BinaryOperation) and isinstance(term.operator, cst.Multiply):
        for index, other in ((term.left, term.right), (term.right, term.left)):
            if isinstance(index, cst.Subscript):
                term, stride = index, other
                break
    if not isinstance(term, cst.Subscript) or len(term.slice) != 2:  # noqa: PLR2004 - two axes
        return None
    slices = [isinstance(one.slice, cst.Slice) for one in term.slice]
    if slices == [True, False]:
        return 0, term.value, stride
    return (1, term.value, stride) if slices == [False, True] else None


def _axis(
    kernel: Kernel,
    flow: Flow,
    call: cst.Call,
    index: cst.BaseExpression,
    stride: str,
    moved: tuple[str, str] | None,
    loop: cst.For | None,
) -> Axis:
    view = kernel.view
    bound, plain = _wrapped(flow, index)
    tile = tile_of(kernel, flow, plain)
    if tile is None:
        raise NotApplicableError(f"{kernel.name} loads a tile whose corner cannot be told")
    block = tile[0]
    terms = [_summand(kernel, term) for term in tile[1]]
    if moved is not None and _moves_along(moved[1], block, stride):
        terms.append(_step(kernel, loop, block))
    begin = " + ".join(terms) or "0"
    text = view.code(bound) if bound is not None else _bound(kernel, flow, call, index)
    if not text and loop is not None and _is_loop_axis(loop, begin):
        text = _loop_bound(kernel, loop)
    return Axis(block=block, start=begin, stride=stride, bound=text or f"{begin} + {block}")


def _wrapped(
    flow: Flow, index: cst.BaseExpression
) -> tuple[cst.BaseExpression | None, cst.BaseExpression]:
    """Size and index of ``index % size``; rows beyond the last are masked at the store."""
    value = flow.single(index.value) if isinstance(index, cst.Name) else index
    if isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.Modulo):
        return value.right, value.left
    return None, index


def _moves_along(step: str, block: str, stride: str) -> bool:
    plain = step.replace(" ", "")
    if stride == "1":
        return plain == block
    return plain in {f"{block}*{stride}", f"{stride}*{block}"}


def _step(kernel: Kernel, loop: cst.For | None, block: str) -> str:
    if loop is None or not isinstance(loop.iter, cst.Call):
        raise NotApplicableError(f"{kernel.name} moves a pointer outside of a loop")
    texts = [kernel.view.code(a.value) for a in loop.iter.args if a.keyword is None]
    name = kernel.view.code(loop.target)
    if len(texts) == 3 and texts[2] == block:  # noqa: PLR2004 - start, end, step
        return name
    if len(texts) < 3:  # noqa: PLR2004
        return f"{name} * {block}"
    raise NotApplicableError(f"{kernel.name} moves a pointer by other steps than its loop")


def _is_loop_axis(loop: cst.For, start: str) -> bool:
    return (
        isinstance(loop.target, cst.Name) and loop.target.value in start.replace("*", " ").split()
    )


def _loop_bound(kernel: Kernel, loop: cst.For) -> str:
    if not isinstance(loop.iter, cst.Call):
        return ""
    given = [one.value for one in loop.iter.args if one.keyword is None]
    end = given[min(1, len(given) - 1)]
    if kernel.is_tl(end, "cdiv") and isinstance(end, cst.Call):
        end = end.args[0].value
    return kernel.view.code(end)


def _summand(kernel: Kernel, term: cst.BaseExpression) -> str:
    """Text of a term that others are added to."""
    text = kernel.view.code(term)
    loose = isinstance(term, cst.BinaryOperation) and not isinstance(
        term.operator, cst.Add | cst.Subtract | cst.Multiply | cst.FloorDivide | cst.Modulo
    )
    loose = loose or isinstance(term, cst.IfExp | cst.Comparison | cst.BooleanOperation)
    return f"({text})" if loose and not term.lpar else text


def _masks(flow: Flow, call: cst.Call) -> list[cst.BaseExpression]:
    """Parts of a load's mask that all have to hold."""
    mask = argument(call, "mask", 1)
    waiting = [mask.value] if mask is not None else []
    found = []
    while waiting:
        node = waiting.pop()
        if isinstance(node, cst.Name) and (value := flow.single(node.value)) is not None:
            waiting.append(value)
        elif isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.BitAnd):
            waiting += [node.left, node.right]
        else:
            found.append(node)
    return found


def _compared(kernel: Kernel, node: cst.Comparison) -> str:
    left = node.left.value if isinstance(node.left, cst.Subscript) else node.left
    return kernel.view.code(left)


def _require_bounds(kernel: Kernel, flow: Flow, call: cst.Call, indices: set[str]) -> None:
    """A mask that says nothing but where the indices end."""
    for node in _masks(flow, call):
        single = isinstance(node, cst.Comparison) and len(node.comparisons) == 1
        if not single or not isinstance(node, cst.Comparison):
            raise NotApplicableError(f"{kernel.name} masks a tile by more than its bounds")
        if _compared(kernel, node) not in indices:
            raise NotApplicableError(f"{kernel.name} masks a tile by more than its bounds")


def _bound(kernel: Kernel, flow: Flow, call: cst.Call, index: cst.BaseExpression) -> str:
    """Size that the load's mask compares this index with; empty where it has none."""
    for node in _masks(flow, call):
        if isinstance(node, cst.Comparison) and _compared(kernel, node) == kernel.view.code(index):
            return _size(kernel, node.comparisons[0])
    return ""


def _size(kernel: Kernel, compared: cst.ComparisonTarget) -> str:
    bound = compared.comparator
    if isinstance(bound, cst.BinaryOperation) and isinstance(bound.operator, cst.Subtract):
        bound = bound.left  # K - k * BLOCK: what is left from this tile on
    if not isinstance(compared.operator, cst.LessThan):
        raise NotApplicableError(f"{kernel.name} masks a tile by more than its bounds")
    return kernel.view.code(bound)


def _require_zero(kernel: Kernel, call: cst.Call) -> None:
    other = argument(call, "other", 2)
    text = kernel.view.code(other.value) if other is not None else "0"
    if text.split(" if ", 1)[-1].split("else")[-1].strip() not in {"0", "0.0", "0."}:
        raise NotApplicableError(f"{kernel.name} fills masked lanes with {text}, the engine with 0")


def _require_plain(kernel: Kernel, tile: Tile) -> None:
    for axis in (tile.rows, tile.columns):
        param = kernel.params.get(axis.block)
        if param is None or not param.constexpr:
            raise NotApplicableError(f"{kernel.name} has a tile whose size is no parameter")
        if argument_text(kernel, axis.block) is None:
            raise NotApplicableError(f"{kernel.name} may be launched without {axis.block}")
        if "int64" in axis.start:
            raise NotApplicableError(f"{kernel.name} counts a tile's corner in 64 bits")
    for stride in (tile.rows.stride, tile.columns.stride):
        if not stride.isdigit() and stride not in kernel.params:
            raise NotApplicableError(f"{kernel.name} has a stride that is computed")
    if tile.rows.stride == "1":
        raise NotApplicableError(f"{kernel.name} loads a tile whose rows are not apart")


def _statement(kernel: Kernel, call: cst.Call) -> cst.CSTNode:
    above = kernel.view.tree.ancestors(call)
    return next(one for one in above if isinstance(one, cst.SimpleStatementLine))

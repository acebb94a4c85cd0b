"""Loads of regular 2-D tiles: base, strides, corner and bounds."""

from __future__ import annotations

import libcst as cst

from kbs_backends.rewrites.base import NotApplicableError
from kbs_backends.rewrites.triton.counts import Tiles
from kbs_backends.rewrites.triton.dataflow import Flow, pointer_of
from kbs_backends.rewrites.triton.extents import Axis, Place, moves_along, read_axis
from kbs_backends.rewrites.triton.masks import argument_text, flatten
from kbs_backends.rewrites.triton.steady import Range, known_before, loop_of, require_steady
from kbs_backends.rewrites.triton.view import Kernel, argument

Part = tuple[int, cst.BaseExpression, cst.BaseExpression | None]
"""Axis, index and stride of ``x[:, None] * stride`` or ``x[None, :]``."""


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


def read_tile(kernel: Kernel, flow: Flow, tiles: Tiles, call: cst.Call) -> Tile:
    """Read a load whose address is ``base + rows[:, None] * stride + columns[None, :]``.

    Raises:
        NotApplicableError: The load is of another form, with the reason.
    """
    view = kernel.view
    pointer = call.args[0].value
    loop = next((n for n in view.tree.ancestors(call) if isinstance(n, cst.For)), None)
    moved, step = _moved(kernel, flow, call, loop)
    start = flow.values[moved][0] if moved else pointer
    terms = flatten(flow, start, keep_axes=True) or []
    axes = [axis_of_term(term) for term in terms]
    if sorted(a[0] for a in axes if a is not None) != [0, 1]:
        raise NotApplicableError(f"{kernel.name} loads no regular 2-D tile")
    _require_zero(kernel, call)
    require_steady(kernel, flow, call, moved)
    before = loop if loop is not None else _statement(kernel, call)
    tile = Tile(call, before)
    _read_base(kernel, flow, tile, [t for t, a in zip(terms, axes, strict=True) if a is None])
    parts = {a[0]: a for a in axes if a is not None}
    bounds = bounds_of(kernel, flow, call, parts)
    counted = Range(kernel, loop) if loop is not None else None
    place = Place(kernel=kernel, flow=flow, tiles=tiles, loop=counted, before=before, step=step)
    strides = {n: view.code(s) if s is not None else "1" for n, (_, _, s) in parts.items()}
    tile.rows, tile.columns = (
        read_axis(place, parts[n][1], strides[n], bounds.get(n)) for n in (0, 1)
    )
    along = [moves_along(step, one.block, one.stride) for one in (tile.rows, tile.columns)]
    if moved and sum(along) != 1:
        raise NotApplicableError(f"{kernel.name} moves a pointer by other steps than its tiles")
    _require_plain(kernel, flow, tile)
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
        known = known_before(kernel, flow, term, tile.before)
        if len(strides) != 1 or not known or flow.uses(term, "arange", "load"):
            raise NotApplicableError(f"{kernel.name} loads at an offset whose alignment is unknown")
        tile.apart += strides
    tile.pointer, tile.base = pointers[0], " + ".join(texts)
    if tile.pointer in _written(kernel, flow):
        raise NotApplicableError(f"{kernel.name} stores to {tile.pointer}, from which it loads")


def _written(kernel: Kernel, flow: Flow) -> set[str]:
    """Parameters at which stores and atomics begin; all of them where one cannot be told."""
    written = set()
    for node in kernel.walk():
        if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
            continue
        name = node.func.attr.value
        if name == "store" or name.startswith("atomic_"):
            pointer = pointer_of(node)
            base = flow.base(pointer) if pointer is not None else None
            if base is None:
                return set(kernel.params)
            written.add(base)
    return written


def _constant(kernel: Kernel, name: str) -> bool:
    return kernel.params[name].constexpr


def _moved(kernel: Kernel, flow: Flow, call: cst.Call, loop: cst.For | None) -> tuple[str, str]:
    """Name and step of a pointer that the loop moves on once an iteration, after the load."""
    pointer, tree = call.args[0].value, kernel.view.tree
    if not isinstance(pointer, cst.Name) or pointer.value not in flow.augmented:
        return "", ""
    moves, values = flow.augmented[pointer.value], flow.values.get(pointer.value, [])
    if loop is None or len(moves) != 1 or len(values) != 1:
        raise NotApplicableError(f"{kernel.name} moves {pointer.value} in several places")
    move, first = moves[0], values[0]
    line = tree.parent(move)
    always = line is not None and tree.parent(line) is loop.body
    forward = isinstance(move.operator, cst.AddAssign)
    if not always or not forward or tree.span(move)[0] < tree.span(call)[1]:
        raise NotApplicableError(f"{kernel.name} moves {pointer.value} not once after each load")
    if tree.span(first)[1] > tree.span(loop)[0] or loop_of(kernel, first) is not loop_of(
        kernel, loop
    ):
        raise NotApplicableError(f"{kernel.name} moves {pointer.value} on from loop to loop")
    return pointer.value, kernel.view.code(move.value)


def axis_of_term(term: cst.BaseExpression) -> Part | None:
    """Axis, index and stride of a term, None where it has no axis."""
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


def _masks(flow: Flow, call: cst.Call, place: int) -> list[cst.BaseExpression]:
    """Parts of a mask that all have to hold."""
    mask = argument(call, "mask", place)
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


def bounds_of(
    kernel: Kernel, flow: Flow, call: cst.Call, parts: dict[int, Part]
) -> dict[int, cst.BaseExpression]:
    """What a mask keeps the indices of each axis below; it may say nothing else."""
    code = kernel.view.code
    found: dict[int, cst.BaseExpression] = {}
    for node in _masks(flow, call, 2 if kernel.is_tl(call, "store") else 1):
        single = isinstance(node, cst.Comparison) and len(node.comparisons) == 1
        axis = axis_of_term(node.left) if isinstance(node, cst.Comparison) else None
        if not single or not isinstance(node, cst.Comparison) or axis is None:
            raise NotApplicableError(f"{kernel.name} masks a tile by more than its bounds")
        number, index, stride = axis
        same = stride is None and code(index) == code(parts[number][1])
        below = isinstance(node.comparisons[0].operator, cst.LessThan)
        if not same or not below or number in found:
            raise NotApplicableError(f"{kernel.name} masks a tile by more than its bounds")
        found[number] = node.comparisons[0].comparator
    return found


def _require_zero(kernel: Kernel, call: cst.Call) -> None:
    other = argument(call, "other", 2)
    text = kernel.view.code(other.value) if other is not None else "0"
    if text.split(" if ", 1)[-1].split("else")[-1].strip() not in {"0", "0.0", "0."}:
        raise NotApplicableError(f"{kernel.name} fills masked lanes with {text}, the engine with 0")


def _require_plain(kernel: Kernel, flow: Flow, tile: Tile) -> None:
    for axis in (tile.rows, tile.columns):
        param = kernel.params.get(axis.block)
        if param is None or not param.constexpr:
            raise NotApplicableError(f"{kernel.name} has a tile whose size is no parameter")
        if argument_text(kernel, axis.block) is None:
            raise NotApplicableError(f"{kernel.name} may be launched without {axis.block}")
    rows, columns = tile.rows.stride, tile.columns.stride
    if rows == "1" or (columns.isdigit() and columns != "1"):
        raise NotApplicableError(f"{kernel.name} loads a tile whose rows are not apart")
    for stride in (rows, columns):
        if not stride.isdigit() and (
            argument_text(kernel, stride) is None or stride in flow.assigned
        ):
            raise NotApplicableError(f"{kernel.name} has a stride that is computed")


def _statement(kernel: Kernel, call: cst.Call) -> cst.CSTNode:
    above = kernel.view.tree.ancestors(call)
    return next(one for one in above if isinstance(one, cst.SimpleStatementLine))

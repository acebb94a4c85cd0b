"""One axis of a tile: where it begins, and the bound of a descriptor that reads the same lanes."""

from __future__ import annotations

import libcst as cst
import msgspec

from kbs_backends.rewrites.base import NotApplicableError
from kbs_backends.rewrites.triton.corners import Facts, never_negative
from kbs_backends.rewrites.triton.counts import Tiles
from kbs_backends.rewrites.triton.dataflow import Flow
from kbs_backends.rewrites.triton.masks import below_size, steps_below, tile_of
from kbs_backends.rewrites.triton.steady import Range, known_before
from kbs_backends.rewrites.triton.view import Kernel


class Axis(msgspec.Struct, frozen=True, kw_only=True):
    """One axis of a tile, as texts of the kernel; ``facts`` are conditions over ``args``."""

    block: str
    start: str
    stride: str
    bound: str
    facts: Facts


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a tile is loaded; ``step`` is that of a pointer which ``loop`` moves on."""

    kernel: Kernel
    flow: Flow
    tiles: Tiles
    loop: Range | None
    before: cst.CSTNode
    step: str


def read_axis(
    place: Place, index: cst.BaseExpression, stride: str, mask: cst.BaseExpression | None
) -> Axis:
    """Read one axis; ``mask`` is what its indices must stay below, None for all lanes.

    Raises:
        NotApplicableError: No descriptor reads the same, with the reason.
    """
    kernel = place.kernel
    wrapped, plain = _wrapped(place.flow, index)
    tile = tile_of(kernel, place.flow, plain)
    if tile is None:
        raise NotApplicableError(f"{kernel.name} loads a tile whose corner cannot be told")
    if any("int64" in kernel.view.code(one) for one in place.flow.sources(index)):
        raise NotApplicableError(f"{kernel.name} counts a tile's corner in 64 bits")
    block, terms = tile
    moves = moves_along(place.step, block, stride)
    facts = _floors(place, terms, block, wrapped or mask)
    if wrapped is not None:
        facts |= _unwrapped(place, plain, wrapped, moves or mask is not None)
        bound = kernel.view.code(wrapped)
    elif mask is not None:
        bound = _masked(place, mask, block, moves)
    else:
        bound = _open(place, terms, block, moves)
    texts = [_summand(kernel, term) for term in terms]
    if moves:
        texts.append(_moved_by(place, block))
    start = " + ".join(texts) or "0"
    return Axis(block=block, start=start, stride=stride, bound=bound, facts=facts)


def moves_along(step: str, block: str, stride: str) -> bool:
    """Return whether a pointer's step is that of one tile along an axis."""
    plain = step.replace(" ", "")
    if stride == "1":
        return plain == block
    return plain in {f"{block}*{stride}", f"{stride}*{block}"}


def _wrapped(
    flow: Flow, index: cst.BaseExpression
) -> tuple[cst.BaseExpression | None, cst.BaseExpression]:
    """Size and index of ``index % size``."""
    value = flow.single(index.value) if isinstance(index, cst.Name) else index
    if isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.Modulo):
        return value.right, value.left
    return None, index


def _unwrapped(
    place: Place, plain: cst.BaseExpression, size: cst.BaseExpression, more: bool
) -> Facts:
    """The fact under which nothing wraps around: the engine would read zeros there."""
    fact = None if more else below_size(place.kernel, place.tiles, plain, size)
    if fact is None:
        name = place.kernel.name
        raise NotApplicableError(f"{name} wraps indices around that its grid may not keep below")
    return frozenset({fact})


def _floors(
    place: Place,
    terms: list[cst.BaseExpression],
    block: str,
    size: cst.BaseExpression | None,
) -> Facts:
    """Facts under which the corner is not negative: the engine would read zeros there."""
    kernel = place.kernel
    text = kernel.view.code(size) if size is not None else ""
    facts: Facts = frozenset()
    for term in terms:
        if text and steps_below(kernel, place.tiles, term, block, text):
            continue
        found = never_negative(kernel, place.flow, term)
        if found is None:
            raise NotApplicableError(f"{kernel.name} loads a tile whose corner may be negative")
        facts |= found
    return facts


def _moved_by(place: Place, block: str) -> str:
    """How far the loop has moved its pointer, in elements."""
    loop, name = place.loop, place.kernel.name
    if loop is None:
        raise NotApplicableError(f"{name} moves a pointer outside of a loop")
    done = loop.name if loop.start == "0" else f"({loop.name} - ({loop.start}))"
    if loop.step == block:
        return done
    if loop.step == "1":
        return f"{done} * {block}"
    raise NotApplicableError(f"{name} moves a pointer by other steps than its loop")


def _masked(place: Place, mask: cst.BaseExpression, block: str, moves: bool) -> str:
    """Size from the start of a moved pointer, or from the base, at which a mask ends."""
    kernel, loop = place.kernel, place.loop
    whole, less = mask, ""
    if moves and loop is not None:
        done = {loop.name} if loop.step == block else {f"{loop.name}*{block}"}
        done |= set() if loop.step == block else {f"{block}*{loop.name}"}
        left = mask.left if isinstance(mask, cst.BinaryOperation) else None
        subtracts = isinstance(mask, cst.BinaryOperation) and isinstance(
            mask.operator, cst.Subtract
        )
        if left is None or not subtracts or not isinstance(mask, cst.BinaryOperation):
            raise NotApplicableError(f"{kernel.name} masks a moving tile by one bound")
        if kernel.view.code(mask.right).replace(" ", "").strip("()") not in done:
            raise NotApplicableError(f"{kernel.name} masks a moving tile by other steps")
        whole = left
        if loop.start != "0":
            less = f" - ({loop.start})" + ("" if loop.step == block else f" * {block}")
    _require_known(place, whole, *(loop.ends[:-1] if less and loop is not None else ()))
    if place.flow.uses(whole, "arange", "load"):
        raise NotApplicableError(f"{kernel.name} masks a tile by a bound that it loads")
    return kernel.view.code(whole) + less


def _open(place: Place, terms: list[cst.BaseExpression], block: str, moves: bool) -> str:
    """A bound that no lane of an unmasked tile reaches."""
    kernel, loop = place.kernel, place.loop
    texts = [_last(place, term) for term in terms]
    if not moves or loop is None:
        return " + ".join([*texts, block])
    _require_known(place, *loop.ends)
    count = loop.end if loop.start == "0" else f"{loop.end} - ({loop.start})"
    texts.append(f"({count}) * {block}" if loop.step == "1" else f"({count}) + {block}")
    if "int64" in "".join(kernel.view.code(s) for n in loop.ends for s in place.flow.sources(n)):
        raise NotApplicableError(f"{kernel.name} counts its tiles in 64 bits")
    return " + ".join(texts)


def _last(place: Place, term: cst.BaseExpression) -> str:
    """A term's text with the end of the loop in place of its variable."""
    kernel, loop = place.kernel, place.loop
    if known_before(kernel, place.flow, term, place.before):
        return _summand(kernel, term)
    if loop is not None:
        code = kernel.view.code
        if code(term) == loop.name:
            _require_known(place, *loop.ends)
            return f"({loop.end})"
        if isinstance(term, cst.BinaryOperation) and isinstance(term.operator, cst.Multiply):
            for one, other in ((term.left, term.right), (term.right, term.left)):
                if code(one) == loop.name:
                    _require_known(place, other, *loop.ends)
                    return f"({loop.end}) * {_factor(kernel, other)}"
    raise NotApplicableError(f"{kernel.name} loads a tile whose end cannot be told")


def _require_known(place: Place, *nodes: cst.BaseExpression) -> None:
    for node in nodes:
        if not known_before(place.kernel, place.flow, node, place.before):
            text = place.kernel.view.code(node)
            raise NotApplicableError(f"{place.kernel.name} changes {text} while it loads tiles")


def _factor(kernel: Kernel, node: cst.BaseExpression) -> str:
    text = kernel.view.code(node)
    return text if isinstance(node, cst.Name | cst.Integer) or node.lpar else f"({text})"


def _summand(kernel: Kernel, term: cst.BaseExpression) -> str:
    """Text of a term that others are added to."""
    text = kernel.view.code(term)
    loose = isinstance(term, cst.BinaryOperation) and not isinstance(
        term.operator, cst.Add | cst.Subtract | cst.Multiply | cst.FloorDivide | cst.Modulo
    )
    loose = loose or isinstance(term, cst.IfExp | cst.Comparison | cst.BooleanOperation)
    return f"({text})" if loose and not term.lpar else text

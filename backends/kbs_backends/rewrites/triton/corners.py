"""Corners of tiles: under which facts on the arguments they are never negative."""

from __future__ import annotations

import libcst as cst

from kbs_backends.rewrites.triton.dataflow import Flow
from kbs_backends.rewrites.triton.masks import argument_text
from kbs_backends.rewrites.triton.view import Kernel

_NUMBERS = ("program_id", "num_programs", "swizzle2d")
_KEPT = ("multiple_of", "max_contiguous", "assume")
_KEEP_SIGN = cst.Add | cst.Multiply | cst.FloorDivide | cst.LeftShift | cst.RightShift | cst.BitAnd
_JOINED = ("cdiv", "minimum", "maximum")

Facts = frozenset[str]


def never_negative(
    kernel: Kernel, flow: Flow, node: cst.BaseExpression, seen: frozenset[str] = frozenset()
) -> Facts | None:
    """Return facts over ``args`` under which a whole number is not negative, None if unknown."""
    if isinstance(node, cst.Integer):
        return frozenset()
    if isinstance(node, cst.Name):
        return _name(kernel, flow, node.value, seen)
    if isinstance(node, cst.BinaryOperation):
        left = never_negative(kernel, flow, node.left, seen)
        if isinstance(node.operator, cst.Modulo):
            return left  # has the sign of what is divided
        if not isinstance(node.operator, _KEEP_SIGN):
            return None
        return _all([left, never_negative(kernel, flow, node.right, seen)])
    return _call(kernel, flow, node, seen) if isinstance(node, cst.Call) else None


def _call(kernel: Kernel, flow: Flow, node: cst.Call, seen: frozenset[str]) -> Facts | None:
    if kernel.is_tl(node, *_NUMBERS):
        return frozenset()
    if isinstance(node.func, cst.Attribute) and node.func.attr.value == "to":
        return never_negative(kernel, flow, node.func.value, seen)
    parts = [one.value for one in node.args if one.keyword is None]
    if kernel.is_tl(node, *_KEPT):
        return never_negative(kernel, flow, parts[0], seen) if parts else None
    if kernel.is_tl(node, *_JOINED) or kernel.view.code(node.func) in {"min", "max"}:
        return _all([never_negative(kernel, flow, one, seen) for one in parts])
    return None


def _name(kernel: Kernel, flow: Flow, name: str, seen: frozenset[str]) -> Facts | None:
    if name in seen or name.startswith("KBS_"):
        return frozenset()
    if name in flow.augmented:
        return None
    if name not in flow.values:
        text = argument_text(kernel, name)
        return frozenset({f"{text} >= 0"}) if text is not None else None
    if name in kernel.params:
        return None
    values: list[cst.BaseExpression] = []
    for value in flow.given(name):
        values += _first_of(kernel, value) if name in flow.loop_names else [value]
    return _all([never_negative(kernel, flow, one, seen | {name}) for one in values])


def _first_of(kernel: Kernel, value: cst.BaseExpression) -> list[cst.BaseExpression]:
    """Start and step of a range, neither of which may be negative."""
    if not isinstance(value, cst.Call):
        return [value]
    plain = kernel.view.code(value.func) == "range"
    if not (plain or kernel.is_tl(value, "range", "static_range")):
        return [value]
    given = [one.value for one in value.args if one.keyword is None]
    return [given[0], *given[2:]] if len(given) > 1 else []


def _all(parts: list[Facts | None]) -> Facts | None:
    known = [one for one in parts if one is not None]
    return frozenset().union(*known) if len(known) == len(parts) else None

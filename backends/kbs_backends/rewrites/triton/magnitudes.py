"""How large a value of a kernel can be, as far as the source alone shows it."""

from __future__ import annotations

import libcst as cst

from kbs_backends.rewrites.triton.dataflow import Flow
from kbs_backends.rewrites.triton.view import Kernel

_DEPTH = 12
_UNIT = ("sigmoid", "sin", "cos", "erf")
_PARTS = ("maximum", "minimum", "max", "min", "abs", "where")


def largest(  # noqa: PLR0911 - one a kind
    kernel: Kernel, flow: Flow, node: cst.BaseExpression, depth: int = 0
) -> float | None:
    """Return a bound on the magnitude of every finite ``node``, None where none shows.

    What memory holds, sums over blocks and what parameters give have none: an array may hold the
    largest finite number, as masks do. An infinity counts as 0, since it stays what it is.
    """
    if depth > _DEPTH:
        return None
    if isinstance(node, cst.Integer | cst.Float):
        return abs(float(node.evaluated_value))
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        return largest(kernel, flow, node.expression, depth + 1)
    if isinstance(node, cst.Subscript):
        return largest(kernel, flow, node.value, depth + 1)
    if isinstance(node, cst.Name):
        value = flow.single(node.value) if node.value not in flow.loop_names else None
        return largest(kernel, flow, value, depth + 1) if value is not None else None
    if isinstance(node, cst.BinaryOperation):
        left = largest(kernel, flow, node.left, depth + 1)
        right = largest(kernel, flow, node.right, depth + 1)
        return _combined(node.operator, left, right)
    return _called(kernel, flow, node, depth) if isinstance(node, cst.Call) else None


def _combined(operator: cst.BaseBinaryOp, left: float | None, right: float | None) -> float | None:
    if left is None or right is None:
        return None
    if isinstance(operator, cst.Add | cst.Subtract):
        return left + right
    return left * right if isinstance(operator, cst.Multiply) else None


def _called(kernel: Kernel, flow: Flow, call: cst.Call, depth: int) -> float | None:
    if kernel.view.code(call.func) == "float" and len(call.args) == 1:
        return 0.0 if "inf" in kernel.view.code(call.args[0].value) else None
    if kernel.is_tl(call, *_UNIT):
        return 1.0
    if not kernel.is_tl(call, *_PARTS):
        return None
    parts = [one.value for one in call.args if one.keyword is None and not one.star]
    if kernel.is_tl(call, "where"):
        parts = parts[1:]
    elif not kernel.is_tl(call, "maximum", "minimum"):
        parts = parts[:1]  # the rest are axes and shapes
    found = [largest(kernel, flow, one, depth + 1) for one in parts]
    known = [one for one in found if one is not None]
    return max(known) if known and len(known) == len(found) else None

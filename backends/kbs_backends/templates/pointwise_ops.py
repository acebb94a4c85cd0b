"""How each elementwise operation of torch is written in Triton."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import torch

Operand = Callable[[Any], str]
"""The text of an argument of a node."""

BINARY: Final = {
    "add": "({0} + {1})", "sub": "({0} - {1})", "mul": "({0} * {1})", "div": "({0} / {1})",
    "maximum": "tl.maximum({0}, {1})", "minimum": "tl.minimum({0}, {1})",
    "gt": "({0} > {1})", "ge": "({0} >= {1})", "lt": "({0} < {1})", "le": "({0} <= {1})",
    "eq": "({0} == {1})", "ne": "({0} != {1})", "bitwise_and": "({0} & {1})",
    "bitwise_or": "({0} | {1})", "logical_and": "({0} & {1})", "logical_or": "({0} | {1})",
    "rsub": "({1} - {0})",
}  # fmt: skip
UNARY: Final = {
    "relu": "tl.maximum({0}, 0.0)", "exp": "tl.exp({0})", "exp2": "tl.exp2({0})",
    "log": "tl.log({0})", "log2": "tl.log2({0})", "sqrt": "tl.sqrt({0})",
    "rsqrt": "tl.rsqrt({0})", "sin": "tl.sin({0})", "cos": "tl.cos({0})",
    "sigmoid": "tl.sigmoid({0})", "abs": "tl.abs({0})", "neg": "(-{0})",
    "reciprocal": "(1.0 / {0})", "square": "({0} * {0})", "erf": "tl.erf({0})",
    "tanh": "_tanh({0})", "expm1": "_expm1({0})", "log1p": "_log1p({0})", "sinh": "_sinh({0})",
    "cosh": "_cosh({0})", "asinh": "_asinh({0})", "atanh": "_atanh({0})",
    "silu": "({0} * tl.sigmoid({0}))",
    "floor": "tl.floor({0})", "ceil": "tl.ceil({0})", "logical_not": "(~{0})",
    "bitwise_not": "(~{0})",
}  # fmt: skip
SAME: Final = frozenset({
    "clone", "copy", "detach", "alias", "contiguous", "_to_copy", "to", "view", "reshape",
    "unsqueeze", "expand", "_unsafe_view", "lift_fresh_copy",
})  # fmt: skip
"""Operations that keep the elements, where they keep the shape too (or broadcast a row)."""


class Unsuitable(Exception):  # noqa: N818 - it is caught here and becomes a NotPointwise
    """The graph cannot be one elementwise kernel."""


def number(value: float) -> str:
    """A number of the graph as Python text."""
    if isinstance(value, float) and math.isinf(value):
        return 'float("inf")' if value > 0 else '-float("inf")'
    return repr(value)


def _gelu(operand: Operand, node: torch.fx.Node) -> str:
    x = operand(node.args[0])
    if node.kwargs.get("approximate") == "tanh":
        inner = f"0.7978845608028654 * ({x} + 0.044715 * {x} * {x} * {x})"
        return f"({x} * tl.sigmoid(2.0 * {inner}))"
    return f"(0.5 * {x} * (1.0 + tl.erf({x} * 0.7071067811865476)))"


def _where(operand: Operand, node: torch.fx.Node) -> str:
    parts = ", ".join(operand(one) for one in node.args[:3])
    return f"tl.where({parts})"


def _clamp(operand: Operand, node: torch.fx.Node) -> str:
    x = operand(node.args[0])
    low, high = (*node.args[1:], None, None)[:2]
    if low is not None:
        x = f"tl.maximum({x}, {operand(low)})"
    return x if high is None else f"tl.minimum({x}, {operand(high)})"


def _power(operand: Operand, node: torch.fx.Node) -> str:
    x, exponent = operand(node.args[0]), node.args[1]
    if exponent not in {2, 3, 0.5, -1}:
        raise Unsuitable(f"a power of {exponent}")
    known = {2: "({0} * {0})", 3: "({0} * {0} * {0})", 0.5: "tl.sqrt({0})", -1: "(1.0 / {0})"}
    return known[exponent].format(x)  # type: ignore[index]  # one of the four


def _softplus(operand: Operand, node: torch.fx.Node) -> str:
    x, beta, threshold = (operand(one) for one in (*node.args, 1.0, 20.0)[:3])
    return f"_softplus({x}, {beta}, {threshold})"


def _elu(operand: Operand, node: torch.fx.Node) -> str:
    given = (*node.args, *(1.0, 1.0, 1.0)[len(node.args) - 1 :])
    return _grown(*(operand(one) for one in given))


def _grown(x: str, alpha: str, scale: str, inside: str) -> str:
    return f"({scale} * tl.where({x} > 0, {x}, {alpha} * _expm1({inside} * {x})))"


def _celu(operand: Operand, node: torch.fx.Node) -> str:
    x, alpha = (operand(one) for one in (*node.args, 1.0)[:2])
    return _grown(x, alpha, "1.0", f"(1.0 / {alpha})")


def _selu(operand: Operand, node: torch.fx.Node) -> str:
    return _grown(operand(node.args[0]), "1.6732632423543772", "1.0507009873554805", "1.0")


def _mish(operand: Operand, node: torch.fx.Node) -> str:
    x = operand(node.args[0])
    return f"({x} * _tanh(_softplus({x}, 1.0, 20.0)))"


def _leaky_relu(operand: Operand, node: torch.fx.Node) -> str:
    x, slope = (operand(one) for one in (*node.args, 0.01)[:2])
    return f"tl.where({x} > 0, {x}, {slope} * {x})"


SPECIAL: Final[dict[str, Callable[[Operand, torch.fx.Node], str]]] = {
    "gelu": _gelu, "where": _where, "clamp": _clamp, "pow": _power,
    "softplus": _softplus, "mish": _mish, "elu": _elu, "celu": _celu, "selu": _selu,
    "leaky_relu": _leaky_relu,
    "clamp_min": lambda w, n: f"tl.maximum({w(n.args[0])}, {w(n.args[1])})",
    "clamp_max": lambda w, n: f"tl.minimum({w(n.args[0])}, {w(n.args[1])})",
}  # fmt: skip

"""How each elementwise operation of torch is written in Triton, by the kind of its numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import msgspec

from kbs_backends.templates.pointwise_values import Takes, Unsuitable, kind_of, named

if TYPE_CHECKING:
    import torch

Operand = Callable[[Any], str]
"""The text of an argument of a node, in the type that the node computes in."""


class Form(msgspec.Struct, frozen=True):
    """An operation in Triton: one text for each kind of number; none where torch has none."""

    real: str = ""
    whole: str = ""
    truth: str = ""
    unsigned: str = ""
    """Where it is not that of whole numbers."""
    takes: Takes = "alike"
    gives_truth: bool = False
    jumps: bool = False
    """Whether a rounding of an operand can change the result by more than a rounding."""

    def of(self, name: str, dtype: torch.dtype) -> str:
        """The text for a dtype; Unsuitable where there is none."""
        kind = kind_of(dtype)
        text = {
            "real": self.real, "whole": self.whole, "truth": self.truth,
            "unsigned": self.unsigned or self.whole,
        }[kind]  # fmt: skip
        if not text:
            raise Unsuitable(f"{name} of {named(dtype)}")
        return text


def _arithmetic(text: str, truth: str = "") -> Form:
    return Form(text, text, truth)


def _extreme(name: str, truth: str) -> Form:
    """The larger or smaller of two; NaN where either is, as torch has it."""
    whole = f"tl.{name}({{0}}, {{1}})"
    return Form(f"tl.{name}({{0}}, {{1}}, tl.PropagateNan.ALL)", whole, truth)


def _compared(sign: str) -> Form:
    text = f"({{0}} {sign} {{1}})"
    return Form(text, text, text, gives_truth=True, jumps=True)


def _bitwise(sign: str) -> Form:
    text = f"({{0}} {sign} {{1}})"
    return Form("", text, text)


def _logical(text: str) -> Form:
    return Form("", "", text, takes="truth", gives_truth=True)


def _function(text: str) -> Form:
    """A function of real numbers, to which torch converts whole ones."""
    return Form(text, takes="real")


LARGER: Final = _extreme("maximum", "({0} | {1})")
SMALLER: Final = _extreme("minimum", "({0} & {1})")
BINARY: Final = {
    "add": _arithmetic("({0} + {1})", "({0} | {1})"), "sub": _arithmetic("({0} - {1})"),
    "mul": _arithmetic("({0} * {1})", "({0} & {1})"), "rsub": _arithmetic("({1} - {0})"),
    "div": _function("({0} / {1})"), "maximum": LARGER, "minimum": SMALLER,
    "gt": _compared(">"), "ge": _compared(">="), "lt": _compared("<"), "le": _compared("<="),
    "eq": _compared("=="), "ne": _compared("!="),
    "bitwise_and": _bitwise("&"), "bitwise_or": _bitwise("|"), "bitwise_xor": _bitwise("^"),
    "logical_and": _logical("({0} & {1})"), "logical_or": _logical("({0} | {1})"),
    "logical_xor": _logical("({0} ^ {1})"),
}  # fmt: skip
UNARY: Final = {
    **{name: _function(f"tl.{name}({{0}})") for name in (
        "exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sin", "cos", "sigmoid", "erf")},
    **{name: _function(f"_{name}({{0}})") for name in (
        "tanh", "expm1", "log1p", "sinh", "cosh", "asinh", "atanh")},
    "reciprocal": _function("(1.0 / {0})"),
    "relu": Form("tl.maximum({0}, 0.0, tl.PropagateNan.ALL)",
                 "tl.where({0} > 0, {0}, tl.zeros_like({0}))"),
    "abs": _arithmetic("tl.abs({0})"), "neg": _arithmetic("(-{0})"),
    "square": _arithmetic("({0} * {0})"), "silu": Form("({0} * tl.sigmoid({0}))"),
    "floor": Form("tl.floor({0})", "{0}", jumps=True),
    "ceil": Form("tl.ceil({0})", "{0}", jumps=True),
    "logical_not": _logical("(~{0})"),
    "bitwise_not": Form("", "(~{0})", "(~{0})", unsigned="({0} ^ 255)"),
}  # fmt: skip
_POWERS: Final = {
    2: _arithmetic("({0} * {0})"), 3: _arithmetic("({0} * {0} * {0})"),
    0.5: Form("tl.sqrt({0})"), -1: Form("(1.0 / {0})"),
}  # fmt: skip
SAME: Final = frozenset({
    "clone", "copy", "detach", "alias", "contiguous", "_to_copy", "to", "view", "reshape",
    "unsqueeze", "expand", "_unsafe_view", "lift_fresh_copy",
})  # fmt: skip
"""Operations that keep the elements, where they keep the shape too (or broadcast a row)."""
CASTS: Final = frozenset({"copy", "_to_copy", "to"})
"""Those of them that may change the dtype of the elements."""


def bounded(x: str, low: str | None, high: str | None, dtype: torch.dtype) -> str:
    """``x`` within bounds; the upper one counts where they cross, as torch has it."""
    for form, bound in ((LARGER, low), (SMALLER, high)):
        x = x if bound is None else form.of("clamp", dtype).format(x, bound)
    return x


def power(x: str, exponent: Any, dtype: torch.dtype) -> str:
    """``x`` to one of the powers that are exact to write."""
    if exponent not in _POWERS:
        raise Unsuitable(f"a power of {exponent}")
    form = _POWERS[exponent]
    return form.of(f"a power of {exponent}", dtype).format(x)


def _gelu(operand: Operand, node: torch.fx.Node) -> str:
    x = operand(node.args[0])
    if node.kwargs.get("approximate") == "tanh":
        inner = f"0.7978845608028654 * ({x} + 0.044715 * {x} * {x} * {x})"
        return f"({x} * tl.sigmoid(2.0 * {inner}))"
    return f"(0.5 * {x} * (1.0 + tl.erf({x} * 0.7071067811865476)))"


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


ACTIVATIONS: Final[dict[str, Callable[[Operand, torch.fx.Node], str]]] = {
    "gelu": _gelu, "softplus": _softplus, "mish": _mish, "elu": _elu, "celu": _celu,
    "selu": _selu, "leaky_relu": _leaky_relu,
}  # fmt: skip
"""Functions of real numbers with parameters."""

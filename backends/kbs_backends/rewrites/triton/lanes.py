"""What lanes beyond the size may hold: signs, zeros and infinities, followed through arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import libcst as cst

May = frozenset[str]
"""What a value may be: ``-`` and ``+`` are finite numbers; ``low`` and ``high`` are the infinities
that a maximum and a minimum over the row have only where every lane of the row has them."""

FINITE = frozenset({"-", "0", "+"})
SCALAR = FINITE | {"-inf", "inf"}
"""A value that is the same in all lanes; its NaN is in the others too, and not told apart."""
ANY = SCALAR | {"nan"}
PEAK = {"max": FINITE | {"low", "inf"}, "min": FINITE | {"-inf", "high"}}
"""A maximum and a minimum over the row."""

_OPPOSITE = {"-inf": "inf", "inf": "-inf", "-": "+", "+": "-", "low": "high", "high": "low"}
_SIGN = {"-inf": -1, "low": -1, "-": -1, "0": 0, "+": 1, "high": 1, "inf": 1}
_ORDER = ("-inf", "low", "-", "0", "+", "high", "inf")
_EXP = {"-inf": "0", "low": "0", "-": "0 +", "0": "+", "+": "+ inf", "inf": "inf", "high": "inf"}
_LOG = {"0": "-inf", "+": "- 0 +", "inf": "inf", "high": "inf"}
_SQRT = {"0": "0", "+": "+", "inf": "inf", "high": "high"}
_WAVE = {"-": "- 0 +", "+": "- 0 +"}
_OF = {
    "exp": _EXP,
    "exp2": _EXP,
    "log": _LOG,
    "log2": _LOG,
    "sqrt": _SQRT,
    "sqrt_rn": _SQRT,
    "rsqrt": {"0": "inf", "+": "+", "inf": "0", "high": "0"},
    "sin": {"0": "0"} | _WAVE,
    "cos": {"0": "+"} | _WAVE,
    "abs": {"-inf": "inf", "low": "inf", "-": "+", "0": "0", "+": "+", "high": "inf", "inf": "inf"},
    "sigmoid": {"-inf": "0", "low": "0", "-": "0 +", "0": "+", "+": "+", "high": "+", "inf": "+"},
    "erf": {"-inf": "-", "low": "-", "-": "-", "0": "0", "+": "+", "high": "+", "inf": "+"},
    "floor": {one: one for one in _ORDER} | {"+": "0 +"},
    "ceil": {one: one for one in _ORDER} | {"-": "- 0"},
}
"""What functions make of each; what is not named becomes NaN."""


def number(value: float) -> May:
    """What a number in the source is."""
    if abs(value) == float("inf"):
        return frozenset({"inf" if value > 0 else "-inf"})
    return frozenset({"0" if value == 0 else "+" if value > 0 else "-"})


def opposite(may: May) -> May:
    """``-x``."""
    return frozenset(_OPPOSITE.get(one, one) for one in may)


def combined(operator: cst.BaseBinaryOp, left: May, right: May) -> May:
    """``left ∘ right``."""
    if isinstance(operator, cst.Add):
        return _each(_sum, left, right)
    if isinstance(operator, cst.Subtract):
        return _each(_sum, left, opposite(right))
    if isinstance(operator, cst.Multiply):
        return _each(_product, left, right)
    if isinstance(operator, cst.Divide):
        return _each(_quotient, left, right)
    if isinstance(operator, cst.FloorDivide | cst.Modulo):
        known = left <= FINITE and right <= FINITE - {"0"}
        return FINITE if known else ANY
    whole = isinstance(
        operator, cst.BitAnd | cst.BitOr | cst.BitXor | cst.LeftShift | cst.RightShift
    )
    return FINITE if whole else ANY


def function(name: str, given: list[May]) -> May:
    """``tl.<name>`` of values."""
    if name in _OF and given:
        return frozenset(part for one in given[0] for part in _OF[name].get(one, "nan").split(" "))
    if name in {"maximum", "minimum", "max", "min"} and len(given) > 1:
        chosen = max if name.startswith("max") else min
        found = _each(lambda a, b: chosen(a, b, key=_ORDER.index), *given[:2])
        return found | (given[0] | given[1] if "nan" in found else found)
    if name == "fma":
        return _each(_sum, _each(_product, given[0], given[1]), given[2])
    if name == "div_rn":
        return _each(_quotient, given[0], given[1])
    if name in {"cast", "multiple_of"} and given:
        return given[0]
    return {"program_id": FINITE - {"-"}, "num_programs": frozenset("+")}.get(name, ANY)


def _each(one: Callable[[str, str], str], left: May, right: May) -> May:
    pairs = product(left - {"nan"}, right - {"nan"})
    found = {part for a, b in pairs for part in one(a, b).split(" ")}
    return frozenset(found | ({"nan"} & (left | right)))


def _sum(a: str, b: str) -> str:
    finite = {a, b} <= FINITE
    if finite:
        return a if b in {a, "0"} else b if a == "0" else "- 0 +"
    if a in FINITE or b in FINITE:
        return b if a in FINITE else a
    for kept, passed in (("-inf", "high"), ("inf", "low")):
        if {a, b} == {kept, passed}:
            return kept  # where it passes, every lane is that infinity, and NaN already
    if _SIGN[a] != _SIGN[b]:
        return "nan"
    return a if a == b else "inf" if _SIGN[a] > 0 else "-inf"


def _product(a: str, b: str) -> str:
    sign = _SIGN[a] * _SIGN[b]
    if {a, b} <= FINITE:
        return ("0", "+", "-")[sign]
    if sign == 0:
        return "nan"
    if "+" in {a, b}:
        return a if b == "+" else b
    if "-" in {a, b}:
        return _OPPOSITE[a if b == "-" else b]
    return "inf" if sign > 0 else "-inf"


def _quotient(a: str, b: str) -> str:
    if b == "0":
        return "nan" if a == "0" else "-inf inf"
    if b not in FINITE:
        return "0" if a in FINITE else "nan"
    return _product(a, b)

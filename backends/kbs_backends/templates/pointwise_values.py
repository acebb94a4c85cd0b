"""Values of an elementwise kernel: the dtype that torch gives each, and how Triton holds it.

Halves are held as fp32, so that no step rounds but those whose outcome hangs on it: a cast, a
comparison, a floor, an operation with a wider number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

if TYPE_CHECKING:
    import torch

Takes = Literal["alike", "real", "counted", "truth"]
"""What operands become: torch's common type; that, and whole numbers as fp32, or truths as int64;
or truths."""

_HELD: Final = {
    "float16": "float32", "bfloat16": "float32", "float32": "float32", "float64": "float64",
    "float8_e4m3fn": "float32", "float8_e5m2": "float32",
    "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64", "uint8": "uint8",
    "bool": "int1",
}  # fmt: skip
HALVES: Final = ("float16", "bfloat16")
"""Dtypes that are held wider than they are."""
_NARROW: Final = {"int8": "int32", "int16": "int32", "uint8": "int64"}
"""By way of which a float becomes a narrow whole number, as torch does it on a GPU."""
_FITTING: Final = ("bool", "int8", "uint8")
"""Dtypes each of whose values is a half."""
_LEAST_NORMAL: Final = 2.0**-126
"""Bare numbers nearer to zero are fp64 to Triton."""


class Unsuitable(Exception):  # noqa: N818 - it is caught here and becomes a NotPointwise
    """The graph cannot be one elementwise kernel."""


class Value(msgspec.Struct, frozen=True):
    """Text of the kernel that stands for a tensor of the graph."""

    text: str
    dtype: Any
    """``torch.dtype`` of the tensor."""
    exact: bool = True
    """Whether it is rounded to its dtype: a half that was computed is not."""


def named(dtype: torch.dtype) -> str:
    """A dtype without ``torch.``."""
    return str(dtype).removeprefix("torch.")


def held(dtype: torch.dtype) -> str:
    """Triton's type for values of a dtype; Unsuitable for those that are not written."""
    found = _HELD.get(named(dtype))
    if found is None:
        raise Unsuitable(f"{named(dtype)} values are not written out")
    return found


def kind_of(dtype: torch.dtype) -> Literal["real", "whole", "unsigned", "truth"]:
    """The kind of number that a dtype is."""
    kind = held(dtype)
    if kind.startswith("float"):
        return "real"
    if kind == "int1":
        return "truth"
    return "unsigned" if kind.startswith("u") else "whole"


def promoted(tensors: Sequence[Any], takes: Takes) -> torch.dtype:
    """The dtype in which torch computes with tensors and numbers."""
    import torch
    from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND as KINDS
    from torch._prims_common import elementwise_dtypes

    if takes == "truth":
        return torch.bool
    kind = {"alike": KINDS.DEFAULT, "real": KINDS.INT_TO_FLOAT, "counted": KINDS.BOOL_TO_LONG}
    dtype: torch.dtype = elementwise_dtypes(*tensors, type_promotion_kind=kind[takes])[1]
    return dtype


def loaded(text: str, dtype: torch.dtype) -> Value:
    """What ``tl.load`` gave, as it is held."""
    wide = held(dtype) == "float32" and named(dtype) != "float32"
    return Value(f"{text}.to(tl.float32)" if wide else text, dtype)


def settled(value: Value) -> Value:
    """The same, rounded to its dtype."""
    if value.exact or named(value.dtype) not in HALVES:
        return value
    return Value(f"{value.text}.to(tl.{named(value.dtype)}).to(tl.float32)", value.dtype)


def converted(value: Value, dtype: torch.dtype) -> Value:
    """What torch's ``to`` makes of a value; Unsuitable where it is not written out."""
    if value.dtype == dtype:
        return value
    text, source, target = settled(value).text, held(value.dtype), held(dtype)
    if named(dtype).startswith("float8"):
        raise Unsuitable(f"a cast to {named(dtype)}")
    if target == "int1":
        return Value(f"({text} != 0)", dtype)
    if source.startswith("float") and target in _NARROW:
        text = f"{text}.to(tl.{_NARROW[target]})"
    if source != target:
        text = f"{text}.to(tl.{target})"
    exact = named(dtype) not in HALVES or named(value.dtype) in _FITTING
    return settled(Value(text, dtype, exact))


def literal(value: float, dtype: torch.dtype, *, rounded: bool = False) -> str:
    """A number of the graph, as text of the type in which it is computed with.

    Args:
        value: the number.
        dtype: in which is computed.
        rounded: whether torch rounds it to a half first, as its comparisons do.

    Raises:
        Unsuitable: The dtype has no such number.
    """
    import torch

    kind = kind_of(dtype)
    try:
        stored = torch.tensor(value, dtype=dtype).item()
    except RuntimeError as problem:
        raise Unsuitable(f"{value} is no {named(dtype)}") from problem
    if math.isfinite(value) and not math.isfinite(stored):
        raise Unsuitable(f"{value} is no {named(dtype)}")
    if kind == "truth":
        return repr(bool(value))
    if kind != "real":
        return _typed(stored, dtype) if held(dtype) != "int32" else repr(stored)
    given = stored if rounded and named(dtype) in HALVES else float(value)
    bare = held(dtype) == "float32" and (given == 0 or abs(given) >= _LEAST_NORMAL)
    return _number(given) if bare or math.isnan(given) else _typed(given, dtype)


def constant(value: Any, dtype: torch.dtype) -> Value:
    """A tensor of one known element, which has a type of its own; Unsuitable for no number."""
    import torch

    if not isinstance(value, (bool, int, float)):
        raise Unsuitable(f"{value} is no operand")
    return Value(_typed(torch.tensor(value, dtype=dtype).item(), dtype), dtype)


def _typed(value: float, dtype: torch.dtype) -> str:
    return f"tl.full([], {_number(value)}, tl.{held(dtype)})"


def _number(value: float) -> str:
    """A number as text of a Triton kernel."""
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")' if value != -math.inf else '-float("inf")'
    return repr(value)

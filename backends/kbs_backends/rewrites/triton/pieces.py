"""Values over a row that is read in pieces: what stays the same where the row is one piece."""

from __future__ import annotations

from typing import Literal, NamedTuple

import libcst as cst

from kbs_backends.rewrites.base import NotApplicableError
from kbs_backends.rewrites.triton.dataflow import Flow
from kbs_backends.rewrites.triton.lanes import (
    ANY,
    FINITE,
    PEAK,
    SCALAR,
    May,
    combined,
    function,
    number,
    opposite,
)
from kbs_backends.rewrites.triton.view import Kernel, argument

Kind = Literal["same", "lanes", "begin", "left", "index", "piece", "bound", "part", "block"]
"""``same`` for all lanes and pieces; ``lanes`` and ``begin`` of a piece, and their sum ``index``;
``left`` is the size less the begin; ``piece`` is computed lane by lane; ``bound`` is a mask below
the size; ``part`` is reduced within a piece; ``block`` is accumulated lane by lane."""

_LANE_BY_LANE = frozenset(
    {"exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sqrt_rn", "div_rn", "abs", "sigmoid", "erf"}
    | {"maximum", "minimum", "fma", "sin", "cos", "floor", "ceil", "cast", "cdiv", "multiple_of"}
    | {"where", "program_id", "num_programs"}
)
REDUCTIONS = ("sum", "max", "min")
NEUTRAL = {"sum": "0", "max": "-inf", "min": "inf"}
"""What a lane adds to a reduction without changing it."""


class Value(NamedTuple):
    """What is known of a value."""

    kind: Kind
    may: May = ANY
    """What lanes beyond the size may hold."""
    pure: bool = False
    """Whether lanes, begin or index have nothing added."""
    how: str = ""
    """The reduction of a ``part`` or ``block``."""
    name: str = ""
    """The name whose value lanes beyond the size hold; empty if it is not known."""

    @property
    def masked(self) -> str:
        """What lanes beyond the size hold: ``0``, ``-inf`` or ``inf``; empty if not known."""
        held = next(iter(self.may)) if len(self.may) == 1 else ""
        return held if held in NEUTRAL.values() else ""

    def joined(self, other: Value | None) -> Value | None:
        """This value or another of its kind; None where they are of several."""
        if other is None or self._replace(may=ANY, name="") != other._replace(may=ANY, name=""):
            return None
        name = self.name if self.name == other.name else ""
        return self._replace(may=self.may | other.may, name=name)


SAME = Value("same", SCALAR)


def reduced(how: str) -> Value:
    """A sum, maximum or minimum over the row."""
    return Value("same", PEAK.get(how, SCALAR))


class Pieces:
    """Values of expressions; ``names`` holds what names are at this place of the kernel."""

    def __init__(self, kernel: Kernel, size: str, block: str) -> None:
        """Begin with the parameters, which are the same everywhere."""
        self.kernel = kernel
        self.size = size
        self.block = block
        self.names: dict[str, Value | None] = {}
        flow = Flow(kernel)
        self._once = {name for name in flow.values if flow.single(name) is not None}

    def refuse(self, node: cst.CSTNode) -> NotApplicableError:
        """Return the error that says which expression keeps the row from being one piece."""
        text = self._code(node).split("\n")[0]
        return NotApplicableError(f"{self.kernel.name}: {text} may depend on the piece")

    def of(self, node: cst.BaseExpression) -> Value:  # noqa: PLR0911 - one a kind
        """Return what is known of an expression.

        Raises:
            NotApplicableError: It may change where the row is one piece.
        """
        if isinstance(node, cst.Name):
            return self._name(node)
        if isinstance(node, cst.BaseNumber | cst.SimpleString):
            if isinstance(node, cst.Integer | cst.Float):
                return Value("same", number(float(node.evaluated_value)))
            return SAME
        if isinstance(node, cst.UnaryOperation):
            return self._unary(node)
        if isinstance(node, cst.BinaryOperation):
            return self._binary(node)
        if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
            return self._comparison(node, node.comparisons[0])
        if isinstance(node, cst.IfExp):
            return self._choice(node)
        if isinstance(node, cst.Call):
            return self._call(node)
        if isinstance(node, cst.Attribute):
            return self._lane_by_lane(node, [SAME])
        raise self.refuse(node)

    def _name(self, node: cst.Name) -> Value:
        if node.value == self.block:
            raise self.refuse(node)
        if node.value == self.size:
            return Value("same", frozenset("+"))  # a row of no lanes has none beyond it
        found = self.names.get(node.value, SAME)
        if found is None:
            raise self.refuse(node)
        return found

    def _unary(self, node: cst.UnaryOperation) -> Value:
        inner = self.of(node.expression)
        minus = isinstance(node.operator, cst.Minus)
        return self._lane_by_lane(node, [inner], opposite(_held(inner)) if minus else ANY)

    def _binary(self, node: cst.BinaryOperation) -> Value:
        left, right = self.of(node.left), self.of(node.right)
        kinds = {left.kind, right.kind}
        if isinstance(node.operator, cst.Add):
            for first, second, total in _SUMS:
                if kinds == {first, second}:
                    pure = left.pure and right.pure
                    return Value(total, pure=pure)
        if isinstance(node.operator, cst.Subtract):
            if left.kind in {"lanes", "begin", "index"} and right.kind == "same":
                return Value(left.kind)
            if self._code(node.left) == self.size and right == Value("begin", pure=True):
                return Value("left")
        if isinstance(node.operator, cst.BitAnd) and "bound" in kinds:
            self._lane_by_lane(node, [left, right])
            return Value("bound")
        minus = isinstance(node.operator, cst.Subtract)
        taken = minus and left.kind == "piece" and left.name == self._code(node.right)
        if taken and _held(right) <= FINITE:
            return Value("piece", frozenset("0"))  # masked lanes hold what is taken from them
        may = combined(node.operator, _held(left), _held(right))
        return self._lane_by_lane(node, [left, right], may)

    def _comparison(self, node: cst.Comparison, compared: cst.ComparisonTarget) -> Value:
        left, right = self.of(node.left), self.of(compared.comparator)
        if isinstance(compared.operator, cst.LessThan) and left.pure:
            whole = left.kind == "index" and self._code(compared.comparator) == self.size
            if whole or (left.kind == "lanes" and right.kind == "left"):
                return Value("bound")
        return self._lane_by_lane(node, [left, right], FINITE - {"-"})

    def _choice(self, node: cst.IfExp) -> Value:
        if self.of(node.test).kind != "same":
            raise self.refuse(node.test)
        other = self.of(node.orelse)
        if self._code(node.body) == "None":
            return other  # a mask that is left out where it is true
        chosen = self.of(node.body)
        joined = chosen.joined(other)
        if joined is not None:
            return joined
        return self._lane_by_lane(node, [chosen, other], _held(chosen) | _held(other))

    def _call(self, node: cst.Call) -> Value:
        for read, names in (
            (self._lanes, ("arange",)),
            (self._blank, ("zeros", "full")),
            (self._load, ("load",)),
            (self._reduction, REDUCTIONS),
        ):
            if self.kernel.is_tl(node, *names):
                return read(node)
        if isinstance(node.func, cst.Attribute) and node.func.attr.value == "to":
            return self.of(node.func.value)
        given = [self.of(one.value) for one in node.args if not _is_type(one)]
        last = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
        name = last.value if isinstance(last, cst.Name) else ""
        if name == "float" and len(node.args) == 1:
            text = self._code(node.args[0].value).strip("\"'")
            return Value("same", frozenset({text}) if text in {"inf", "-inf"} else SCALAR)
        builtin = isinstance(node.func, cst.Name) and name in {"min", "max", "int"}
        if not builtin and not self.kernel.is_tl(node, *_LANE_BY_LANE):
            raise self.refuse(node)
        return self._lane_by_lane(node, given, _function(name, given))

    def _lanes(self, node: cst.Call) -> Value:
        if [self._code(one.value) for one in node.args] != ["0", self.block]:
            raise self.refuse(node)
        return Value("lanes", pure=True)

    def _blank(self, node: cst.Call) -> Value:
        """A block of one value: its shape alone may name the block."""
        shape = node.args[0].value
        single = isinstance(shape, cst.Tuple | cst.List) and len(shape.elements) == 1
        if not single:
            raise self.refuse(node)
        value = argument(node, "value", 1) if self.kernel.is_tl(node, "full") else None
        return self.of(value.value) if value is not None else Value("same", number(0))

    def _load(self, node: cst.Call) -> Value:
        pointer = self.of(node.args[0].value)
        self.require_masked(node, pointer, argument(node, "mask", 1))
        other = argument(node, "other", 2)
        if pointer.kind == "same":
            return SAME
        if other is None:
            return Value("piece")
        filled = self.of(other.value)
        name = other.value.value if isinstance(other.value, cst.Name) else ""
        held = name if name in self._once and filled.kind == "same" else ""
        found = self._lane_by_lane(node, [Value("piece"), filled], _held(filled))
        return found._replace(name=held)

    def require_masked(self, node: cst.Call, pointer: Value, mask: cst.Arg | None) -> None:
        """Refuse an access of lanes that no mask keeps below the size."""
        given = self.of(mask.value) if mask is not None else SAME
        whole = pointer.kind == given.kind == "same"
        if not whole and not (pointer.kind in {"index", "piece"} and given.kind == "bound"):
            raise self.refuse(node)

    def _reduction(self, node: cst.Call) -> Value:
        last = node.func.attr.value if isinstance(node.func, cst.Attribute) else ""
        axis = argument(node, "axis", 1)
        others = [one for one in node.args[1:] if one is not axis]
        value = self.of(node.args[0].value)
        if others or (axis is not None and self._code(axis.value) != "0"):
            raise self.refuse(node)
        if value.kind == "block" and value.how == last:
            return reduced(last)
        if value.kind != "piece" or value.masked != NEUTRAL[last]:
            raise self.refuse(node)
        return Value("part", how=last)

    def _lane_by_lane(self, node: cst.CSTNode, given: list[Value], may: May = ANY) -> Value:
        kinds = {one.kind for one in given}
        if kinds - {"same", "index", "piece", "bound"}:
            raise self.refuse(node)
        if kinds <= {"same"}:
            return Value("same", may - {"nan"} or SCALAR)
        return Value("piece", may)

    def _code(self, node: cst.CSTNode) -> str:
        return self.kernel.view.code(node)


_SUMS: tuple[tuple[Kind, Kind, Kind], ...] = (
    ("lanes", "begin", "index"),
    ("lanes", "same", "lanes"),
    ("begin", "same", "begin"),
    ("index", "same", "index"),
)


def _is_type(given: cst.Arg) -> bool:
    return given.keyword is not None and given.keyword.value in {"dtype", "ieee_rounding"}


def _held(value: Value) -> May:
    """What lanes beyond the size may hold; offsets and masks are whole numbers."""
    return value.may if value.kind in {"same", "piece"} else FINITE


def _function(name: str, given: list[Value]) -> May:
    if name == "where":
        condition, chosen, other = given
        if condition.kind == "bound":
            return _held(other)
        return _held(chosen) | _held(other)
    return function(name, [_held(one) for one in given])

"""How far products of a kernel's indices reach: program and loop numbers times numbers."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import NamedTuple

import libcst as cst

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource
from kbs_backends.rewrites.triton.constants import followed, number_of, of_a_shape
from kbs_backends.rewrites.triton.dataflow import Flow
from kbs_backends.rewrites.triton.grids import axes_of, quotient
from kbs_backends.rewrites.triton.uses import data_in
from kbs_backends.rewrites.triton.view import Launch, argument, axis_of, walk

_DEPTH = 24
_LARGEST_SHIFT = 64
_MEMORY = ("load", "store", "atomic_add", "atomic_max", "atomic_min", "atomic_cas", "atomic_xchg")


class Reach(NamedTuple):
    """``factor``, times unknown constants, times the product of all sizes where ``sized``.

    ``sizes`` are those that it is a product of where it is not ``sized``, which holds them.
    """

    factor: Fraction = Fraction(1)
    sized: bool = False
    names: tuple[tuple[str, int], ...] = ()
    """Constants whose value is not known, with their powers; negative where they divide."""
    sizes: Fraction = Fraction(1)

    def times(self, other: Reach, power: int = 1) -> Reach:
        """Product, or quotient where ``power`` is -1."""
        names = Counter(dict(self.names))
        for name, count in other.names:
            names[name] += count * power
        left = tuple(sorted((n, c) for n, c in names.items() if c))
        factor = self.factor * (other.factor if power > 0 else 1 / other.factor)
        sized = self.sized or (power > 0 and other.sized)
        sizes = self.sizes * (other.sizes if power > 0 else 1)
        return Reach(factor, sized, left, sizes)


class Reaches:
    """Bounds of the values of one kernel in one launch."""

    def __init__(self, flow: Flow, launch: Launch | None, source: RewriteSource) -> None:
        """The sizes of the task are those of the source."""
        self.kernel = flow.kernel
        self.flow = flow
        self.launch = launch
        self.dims = source.dims
        self.sizes = {v for v in self.dims.values() if isinstance(v, int) and v > 1}
        self.largest = source.largest_index or 1
        self.grid, self.meta = axes_of(launch) if launch is not None else ([], "")
        self._open: set[str] = set()
        self._carried: set[str] = set()

    def require_below(self, limit: int) -> None:
        """Refuse a product of an index that may pass the limit.

        Raises:
            NotApplicableError: One may, or has a constant that the launch does not tell.
        """
        addressed = {
            one
            for call in self.kernel.calls(*_MEMORY)
            for source in self.flow.sources(call.args[0].value if call.args else call)
            for one in walk(source)
        }
        for node in self.kernel.walk():
            if not isinstance(node, cst.BinaryOperation | cst.AugAssign):
                continue
            if node in addressed or not data_in(self.flow.sources(node)):
                self._require(node, limit)

    def _require(self, node: cst.BinaryOperation | cst.AugAssign, limit: int) -> None:
        reach = self.of(node.target if isinstance(node, cst.AugAssign) else node)
        text = f"{self.kernel.name}: {self.kernel.view.code(node)}"
        grows = isinstance(node, cst.BinaryOperation) and isinstance(
            node.operator, cst.Multiply | cst.LeftShift | cst.Power
        )
        unknown = [name for name, power in reach.names if power > 0]
        if unknown and grows:
            raise NotApplicableError(f"{text} may pass 2^31: no launch says {unknown[0]}")
        most = self._size(reach)
        if most >= limit and (grows or not reach.sized or isinstance(node, cst.AugAssign)):
            raise NotApplicableError(f"{text} may come to {int(most)}: an index may pass 2^31")

    def of(self, node: cst.CSTNode, depth: int = 0) -> Reach:  # noqa: PLR0911 - one a kind
        """How far a value of the kernel reaches."""
        if depth > _DEPTH:
            return Reach(sized=True)
        if isinstance(node, cst.Integer):
            return _exactly(int(node.evaluated_value))
        if isinstance(node, cst.Name):
            return self._name(node.value, depth)
        if isinstance(node, cst.Subscript):
            return self.of(node.value, depth + 1)
        if isinstance(node, cst.UnaryOperation):
            return self.of(node.expression, depth + 1)
        if isinstance(node, cst.IfExp):
            return self._greater(self.of(node.body, depth + 1), self.of(node.orelse, depth + 1))
        if isinstance(node, cst.BinaryOperation):
            return self._binary(node, depth)
        return self._call(node, depth) if isinstance(node, cst.Call) else Reach()

    def _binary(  # noqa: PLR0911 - one an operator
        self, node: cst.BinaryOperation, depth: int
    ) -> Reach:
        divided = quotient(node)
        if divided is not None:
            return self._divided(*divided, depth)
        left, right = self.of(node.left, depth + 1), self.of(node.right, depth + 1)
        if isinstance(node.operator, cst.Multiply):
            return left.times(right)
        if isinstance(node.operator, cst.LeftShift):
            zero = isinstance(node.right, cst.Integer) and int(node.right.value, 0) == 0
            return left if zero else left.times(Reach(_power_of_two(right)))
        if isinstance(node.operator, cst.Power):
            known = not right.names and not right.sized and right.factor <= _LARGEST_SHIFT
            power = int(right.factor) if known else _LARGEST_SHIFT
            return left._replace(factor=left.factor**power)
        if isinstance(node.operator, cst.RightShift | cst.Modulo):
            return self._least(left, right) if isinstance(node.operator, cst.Modulo) else left
        if isinstance(node.operator, cst.Add | cst.Subtract) and not (left.sized or right.sized):
            both = self._greater(left, right)
            total = self._size(left) + self._size(right)
            return both._replace(factor=total / both.sizes)
        return self._greater(left, right)

    def _divided(self, size: cst.BaseExpression, block: cst.BaseExpression, depth: int) -> Reach:
        over, under = self.of(size, depth + 1), self.of(block, depth + 1)
        return over if under.sized else over.times(under, -1)

    def _name(self, name: str, depth: int) -> Reach:
        if name in self._open:
            self._carried.add(name)
            return Reach()
        self._open.add(name)
        total = self._all_of(name, depth)
        self._open.remove(name)
        if name in self._carried | set(self.flow.augmented):
            return total.times(Reach(sized=True))  # a loop may add or multiply as often
        return total

    def _all_of(self, name: str, depth: int) -> Reach:
        param = self.kernel.params.get(name)
        found: list[Reach] = []
        if param is not None:
            found.append(self._constant(name) if param.constexpr else Reach(sized=True))
        found += [self.of(one, depth + 1) for one in self.flow.given(name)]
        for change in self.flow.augmented.get(name, []):
            by = self.of(change.value, depth + 1)
            shifts = isinstance(change.operator, cst.LeftShiftAssign)
            found.append(Reach(_power_of_two(by)) if shifts else by)
        if not found:
            value = number_of(self.kernel.view, None, cst.Name(name), {})
            return _exactly(value) if value is not None else Reach(names=((name, 1),))
        total = found[0]
        for one in found[1:]:
            total = self._greater(total, one)
        return total

    def _constant(self, name: str) -> Reach:
        """What a launch gives for a constant; its name where the launch does not tell."""
        given = self._given(name)
        return (self._told(given) if given is not None else None) or Reach(names=((name, 1),))

    def _given(self, name: str) -> cst.BaseExpression | None:
        if self.launch is None:
            return None
        place = list(self.kernel.params).index(name)
        starred = any(one.star == "*" for one in self.launch.call.args)
        found = argument(self.launch.call, name, None if starred else place)
        return found.value if found is not None else None

    def _told(self, node: cst.BaseExpression) -> Reach | None:
        """A number of the host, or a size that a tensor has; None if it is neither."""
        value = number_of(self.kernel.view, self.launch, node, self.dims)
        if value is not None:
            return Reach(sizes=Fraction(value)) if value in self.sizes else _exactly(value)
        return Reach(sized=True) if of_a_shape(self.kernel.view, self.launch, node) else None

    def _call(self, node: cst.Call, depth: int) -> Reach:
        view = self.kernel.view
        if self.kernel.is_tl(node, "program_id", "num_programs"):
            return self._programs(axis_of(view, node), depth)
        divided = quotient(node)
        if divided is not None:
            return self._divided(*divided, depth)
        if isinstance(node.func, cst.Attribute) and node.func.attr.value == "to":
            return self.of(node.func.value, depth + 1)
        given = [one.value for one in node.args if one.keyword is None]
        plain = view.code(node.func) == "range"
        if plain or self.kernel.is_tl(node, "range", "static_range"):
            given = given[: 1 if len(given) == 1 else 2]  # a step is no number of the loop
        elif self.kernel.is_tl(node, "arange"):
            return Reach()  # a tile, which the limit leaves room for
        parts = [self.of(one, depth + 1) for one in given]
        if parts and (view.code(node.func) == "min" or self.kernel.is_tl(node, "minimum")):
            return self._least(*parts)
        total = Reach()
        for part in parts:
            total = self._greater(total, part)
        return total

    def _programs(self, axis: str, depth: int) -> Reach:
        """Programs along an axis: as many as a number says, or tiles of the sizes."""
        if not self.grid or not axis.isdigit():
            return Reach(sized=True)
        if int(axis) >= len(self.grid):
            return Reach()
        return self._extent(self.grid[int(axis)], depth)

    def _extent(self, node: cst.BaseExpression, depth: int) -> Reach:
        """Axis of a grid; what the host does not show is at most the product of the sizes."""
        node = followed(self.kernel.view, self.launch, node)
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Multiply):
            return self._extent(node.left, depth + 1).times(self._extent(node.right, depth + 1))
        if isinstance(node, cst.Call) and self.kernel.view.code(node.func) == "min":
            parts = [self._extent(one.value, depth + 1) for one in node.args]
            return min(parts, key=self._size) if parts else Reach(sized=True)
        divided = quotient(node)
        if divided is None or depth > _DEPTH:
            return self._told(node) or Reach(sized=True)
        over, under = self._extent(divided[0], depth + 1), self._block(divided[1])
        return over if under is None or under.sized else over.times(under, -1)

    def _block(self, node: cst.BaseExpression) -> Reach | None:
        """What a grid divides by: a number, or a constant that the launch does not tell."""
        if isinstance(node, cst.Subscript) and self.kernel.view.code(node.value) == self.meta:
            index = node.slice[0].slice
            text = index.value if isinstance(index, cst.Index) else None
            name = str(text.evaluated_value) if isinstance(text, cst.SimpleString) else ""
            return self._constant(name) if name in self.kernel.params else None
        known = self._told(node)
        if known is not None:
            return known
        for name, param in self.kernel.params.items():
            given = self._given(name) if param.constexpr else None
            if given is not None and given.deep_equals(node):
                return Reach(names=((name, 1),))
        return None

    def _least(self, *parts: Reach) -> Reach:
        """The lowest of bounds that all hold; one without unknown constants where there is."""
        return min(parts, key=lambda one: (any(p > 0 for _, p in one.names), self._size(one)))

    def _greater(self, one: Reach, other: Reach) -> Reach:
        """A bound of both."""
        first, second = dict(one.names), dict(other.names)
        powers = {n: max(first.get(n, 0), second.get(n, 0)) for n in first.keys() | second.keys()}
        names = tuple(sorted((n, power) for n, power in powers.items() if power))
        most = max(one, other, key=self._size)
        return most._replace(names=names)

    def _size(self, reach: Reach) -> Fraction:
        return reach.factor * (self.largest if reach.sized else reach.sizes)


def _power_of_two(bits: Reach) -> Fraction:
    known = not bits.names and not bits.sized and bits.factor <= _LARGEST_SHIFT
    return Fraction(2 ** (int(bits.factor) if known else _LARGEST_SHIFT))


def _exactly(value: int) -> Reach:
    return Reach(Fraction(max(abs(value), 1)))

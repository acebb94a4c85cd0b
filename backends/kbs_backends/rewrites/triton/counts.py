"""Numbers of tiles in a kernel: which of them stay below ``cdiv(size, block)``."""

from __future__ import annotations

import libcst as cst

from kbs_backends.rewrites.triton.dataflow import Flow
from kbs_backends.rewrites.triton.grids import Count, Grids, quotient, rounded_up
from kbs_backends.rewrites.triton.view import Kernel, axis_of, walk

_DEPTH = 12


class Tiles:
    """Which tile numbers of a kernel stay below a count, for every program of every launch."""

    def __init__(self, kernel: Kernel, flow: Flow) -> None:
        """Read the launches too."""
        self.kernel = kernel
        self.flow = flow
        self.grids = Grids(kernel)

    def below(self, node: cst.BaseExpression, count: Count) -> bool:
        """Return whether ``node`` is a tile number below ``cdiv(size, block)`` of ``count``.

        Understood are a program's number where the grid shows it, a loop over the tiles, and
        a number taken apart into rows and columns of tiles, in groups of rows or not.
        """
        return self._below(node, count, set())

    def _below(self, node: cst.BaseExpression, count: Count, seen: set[str]) -> bool:
        if isinstance(node, cst.Name):
            return self._name(node.value, count, seen)
        if isinstance(node, cst.BinaryOperation):
            return self._taken_apart(node, count)
        if not isinstance(node, cst.Call):
            return False
        if isinstance(node.func, cst.Attribute) and node.func.attr.value == "to":
            return self._below(node.func.value, count, seen)
        axis = self._axis(node)
        return axis is not None and self.grids.within(axis, count)

    def _taken_apart(self, node: cst.BinaryOperation, count: Count) -> bool:
        """A row or column of tiles of the program's number."""
        if isinstance(node.operator, cst.Modulo):
            return self._count(node.right) == count and self._axis(node.left) is not None
        if isinstance(node.operator, cst.FloorDivide):
            return self._row(node, count) or self._column_in_group(node, count)
        return isinstance(node.operator, cst.Add) and self._row_in_group(node, count)

    def _name(self, name: str, count: Count, seen: set[str]) -> bool:
        if name in seen:
            return True
        seen.add(name)
        if name in self.kernel.params or name in self.flow.augmented:
            return False
        if name in self.flow.loop_names:
            loops = [one for one in self.kernel.loops() if self._code(one.target) == name]
            ends = all(self._ends_at(loop, count) for loop in loops)
            return ends and len(loops) == len(self.flow.values[name])
        values = self.flow.given(name)
        return bool(values) and all(
            self._swizzled(name, value, count, seen)
            if self.kernel.is_tl(value, "swizzle2d") and isinstance(value, cst.Call)
            else self._below(value, count, seen)
            for value in values
        )

    def _ends_at(self, loop: cst.For, count: Count) -> bool:
        call = loop.iter
        if not isinstance(call, cst.Call):
            return False
        plain = isinstance(call.func, cst.Name) and call.func.value == "range"
        given = [one.value for one in call.args if one.keyword is None]
        if not (plain or self.kernel.is_tl(call, "range", "static_range")) or not given:
            return False
        forward = len(given) <= 2 or self._code(given[2]).isdigit()  # noqa: PLR2004 - a step
        return forward and self._at_most(given[min(1, len(given) - 1)], count)

    def _at_most(self, node: cst.BaseExpression, count: Count) -> bool:
        node = self._followed(node)
        if isinstance(node, cst.Call) and (
            self.kernel.is_tl(node, "minimum") or self._code(node.func) == "min"
        ):
            return any(self._at_most(one.value, count) for one in node.args)
        return self._divided(node) == count

    def _divided(self, node: cst.BaseExpression) -> Count | None:
        found = quotient(node)
        return (self._code(found[0]), self._code(found[1])) if found is not None else None

    def _count(self, node: cst.BaseExpression) -> Count | None:
        """What a value counts, rounded up, so that no grid has more."""
        node = self._followed(node)
        floor = isinstance(node, cst.BinaryOperation) and rounded_up(node) is None
        return None if floor else self._divided(node)

    def _axis(self, node: cst.BaseExpression) -> str | None:
        node = self._followed(node)
        program = isinstance(node, cst.Call) and self.kernel.is_tl(node, "program_id")
        return axis_of(self.kernel.view, node) if program and isinstance(node, cst.Call) else None

    def _row(self, node: cst.BinaryOperation, count: Count) -> bool:
        """``program // columns`` on a grid of rows times columns."""
        axis, columns = self._axis(node.left), self._count(node.right)
        return axis is not None and columns is not None and self.grids.within(axis, count, columns)

    def _row_in_group(self, node: cst.BinaryOperation, count: Count) -> bool:
        """``first + x % min(rows - first, GROUP)``."""
        for first, second in ((node.left, node.right), (node.right, node.left)):
            inside = self._followed(second)
            if isinstance(inside, cst.BinaryOperation) and isinstance(inside.operator, cst.Modulo):
                group = self._group(inside.right)
                if group is not None and group[:2] == (count, self._whole(first)):
                    return True
        return False

    def _column_in_group(self, node: cst.BinaryOperation, count: Count) -> bool:
        """``(program % (GROUP * columns)) // min(rows - first, GROUP)``."""
        left, group = self._followed(node.left), self._group(node.right)
        if not isinstance(left, cst.BinaryOperation) or not isinstance(left.operator, cst.Modulo):
            return False
        if group is None or self._axis(left.left) is None:
            return False
        return group[2] == count == self._width(left.right, group[3])

    def _group(self, node: cst.BaseExpression) -> tuple[Count, str, Count, str] | None:
        """Rows, first row, columns and size of the group of ``min(rows - first, GROUP)``."""
        call = self._followed(node)
        lesser = isinstance(call, cst.Call) and (
            self.kernel.is_tl(call, "minimum") or self._code(call.func) == "min"
        )
        if not lesser or not isinstance(call, cst.Call) or len(call.args) != 2:  # noqa: PLR2004
            return None
        rest, size = call.args[0].value, self._code(call.args[1].value)
        if not isinstance(rest, cst.BinaryOperation) or not isinstance(rest.operator, cst.Subtract):
            return None
        rows, first = self._count(rest.left), self._followed(rest.right)
        if rows is None or not isinstance(first, cst.BinaryOperation):
            return None
        number = self._times(first, size)
        number = self._followed(number) if number is not None else None
        if not isinstance(number, cst.BinaryOperation):
            return None
        axis, columns = self._axis(number.left), self._width(number.right, size)
        divides = isinstance(number.operator, cst.FloorDivide)
        if not divides or axis is None or columns is None:
            return None
        covered = self.grids.within(axis, rows, columns)
        return (rows, self._whole(rest.right), columns, size) if covered else None

    def _width(self, node: cst.BaseExpression, group: str) -> Count | None:
        """Columns of ``GROUP * columns``."""
        other = self._times(self._followed(node), group)
        return self._count(other) if other is not None else None

    def _times(self, node: cst.BaseExpression, factor: str) -> cst.BaseExpression | None:
        """What a product multiplies ``factor`` with."""
        if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Multiply):
            return None
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if self._code(one) == factor:
                return other
        return None

    def _swizzled(self, name: str, call: cst.Call, count: Count, seen: set[str]) -> bool:
        """``row, column = tl.swizzle2d(row, column, rows, columns, GROUP)``."""
        place = next(
            (n for node in walk(self.kernel.node.body)
             if isinstance(node, cst.Assign) and node.value is call
             and isinstance(target := node.targets[0].target, cst.Tuple)
             for n, one in enumerate(target.elements) if self._code(one.value) == name),
            None,
        )  # fmt: skip
        if place is None or len(call.args) < 4:  # noqa: PLR2004 - two numbers, two sizes
            return False
        limits = [self._followed(one.value) for one in call.args[2:4]]
        if self._code(call.args[0].value).startswith("kbs_"):
            limit = limits[place]
            programs = isinstance(limit, cst.Call) and self.kernel.is_tl(limit, "num_programs")
            axis = axis_of(self.kernel.view, limit) if isinstance(limit, cst.Call) else ""
            return programs and self.grids.within(axis, count)
        columns = self._count(limits[1])
        if columns is None or not self._below(call.args[1].value, columns, seen):
            return False
        if place == 1:
            return columns == count
        shared = self._whole_rows(limits[0], count) or self._count(limits[0]) == count
        return shared and self._below(call.args[0].value, count, seen)

    def _whole_rows(self, node: cst.BaseExpression, rows: Count) -> bool:
        """``num_programs // columns`` on a grid of rows times columns."""
        if not isinstance(node, cst.BinaryOperation):
            return False
        programs, columns = node.left, self._count(node.right)
        if not isinstance(programs, cst.Call) or columns is None:
            return False
        axis = axis_of(self.kernel.view, programs)
        return self.kernel.is_tl(programs, "num_programs") and self.grids.within(
            axis, rows, columns
        )

    def _followed(self, node: cst.BaseExpression) -> cst.BaseExpression:
        for _ in range(_DEPTH):
            value = self.flow.single(node.value) if isinstance(node, cst.Name) else None
            if value is None or self._code(node) in self.flow.loop_names:
                break
            node = value
        return node

    def _whole(self, node: cst.BaseExpression) -> str:
        return self._code(self._followed(node))

    def _code(self, node: cst.CSTNode) -> str:
        return self.kernel.view.code(node)

"""How far a launch's grid reaches: axes read as ``cdiv(size, block)`` of what the launch gives."""

from __future__ import annotations

import re

import libcst as cst

from kbs_backends.rewrites.triton.copies import assigned_once
from kbs_backends.rewrites.triton.view import Kernel, Launch, argument, names_in, walk

Count = tuple[str, str]
"""Tiles of a size: the kernel's parameters (or numbers) for the size and the block."""


class Grids:
    """Grids of all launches of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        """Collect them."""
        self.kernel = kernel
        self.launches = kernel.view.launches_of(kernel)
        self.known = bool(self.launches) and not _named_elsewhere(kernel)

    def within(self, axis: str, *counts: Count) -> bool:
        """Return whether no launch has more programs along an axis than the counts multiply to."""
        return self.known and all(self._fits(launch, axis, counts) for launch in self.launches)

    def _fits(self, launch: Launch, axis: str, counts: tuple[Count, ...]) -> bool:
        parts, meta = axes_of(launch)
        if not parts or not axis.isdigit():
            return False
        if int(axis) >= len(parts):
            return True  # one program along an axis that the grid does not have
        left = list(counts)
        for factor in _factors(parts[int(axis)]):
            found = next((one for one in left if self._is(launch, factor, one, meta)), None)
            if found is None:
                return False
            left.remove(found)
        return True

    def _is(self, launch: Launch, node: cst.BaseExpression, count: Count, meta: str) -> bool:
        divided = quotient(node)
        if divided is None:
            return False
        size, block = divided
        wanted = self._given(launch, count[0])
        if wanted is None or not _same(launch, size, wanted):
            return False
        if isinstance(block, cst.Subscript) and meta and self._code(block.value) == meta:
            return re.fullmatch(rf"""{meta}\[["']{count[1]}["']\]""", self._code(block)) is not None
        given = self._given(launch, count[1])
        return self._code(block) == count[1] if given is None else _same(launch, block, given)

    def _given(self, launch: Launch, name: str) -> cst.BaseExpression | None:
        if name not in self.kernel.params:
            return None
        stars = [n for n, one in enumerate(launch.call.args) if one.star == "*"]
        place: int | None = list(self.kernel.params).index(name)
        if place is not None and stars and place >= stars[0]:
            place = None  # one of those that * unpacks
        found = argument(launch.call, name, place)
        return found.value if found is not None else None

    def _code(self, node: cst.CSTNode) -> str:
        return self.kernel.view.code(node)


def quotient(node: cst.BaseExpression) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """Size and block of ``cdiv(size, block)``, also written out, or of ``size // block``."""
    if isinstance(node, cst.Call):
        func = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
        named = isinstance(func, cst.Name) and func.value == "cdiv"
        return (node.args[0].value, node.args[1].value) if named and len(node.args) > 1 else None
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.FloorDivide):
        return None
    return rounded_up(node) or (node.left, node.right)


def rounded_up(node: cst.BinaryOperation) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """Size and block of ``(size + block - 1) // block``."""
    less = node.left
    if not isinstance(less, cst.BinaryOperation) or not isinstance(less.operator, cst.Subtract):
        return None
    total, one = less.left, less.right
    if not isinstance(one, cst.Integer) or one.value != "1":
        return None
    if not isinstance(total, cst.BinaryOperation) or not isinstance(total.operator, cst.Add):
        return None
    return (total.left, node.right) if total.right.deep_equals(node.right) else None


def _factors(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Multiply):
        return _factors(node.left) + _factors(node.right)
    return [node]


def axes_of(launch: Launch) -> tuple[list[cst.BaseExpression], str]:
    """Axes of the grid and the name of a lambda's argument; none where it cannot be told."""
    func = launch.call.func
    slices = func.slice if isinstance(func, cst.Subscript) else []
    if len(slices) > 1:
        indices = [one.slice.value for one in slices if isinstance(one.slice, cst.Index)]
        return (indices if len(indices) == len(slices) else []), ""
    grid: cst.CSTNode | None = launch.grid
    if isinstance(grid, cst.Name):
        grid = assigned_once(launch.function, grid.value) or _function(launch, grid.value)
    if isinstance(grid, cst.Lambda | cst.FunctionDef) and len(grid.params.params) == 1:
        name = grid.params.params[0].name.value
        body = grid.body if isinstance(grid, cst.Lambda) else _returned(grid)
        return [one.value for one in body.elements] if isinstance(body, cst.Tuple) else [], name
    if isinstance(grid, cst.Tuple | cst.List):
        return [one.value for one in grid.elements], ""
    return ([grid] if isinstance(grid, cst.Call | cst.BinaryOperation) else []), ""


def _function(launch: Launch, name: str) -> cst.FunctionDef | None:
    """The only function of a name that the launching function defines."""
    inside = walk(launch.function.body) if launch.function is not None else ()
    found = [one for one in inside if isinstance(one, cst.FunctionDef) and one.name.value == name]
    return found[0] if len(found) == 1 else None


def _returned(function: cst.FunctionDef) -> cst.BaseExpression | None:
    """What a function of one statement returns."""
    lines = function.body.body
    line = lines[0] if len(lines) == 1 else None
    small = line.body[0] if isinstance(line, cst.SimpleStatementLine) else line
    return small.value if isinstance(small, cst.Return) else None


def _same(launch: Launch, first: cst.BaseExpression, second: cst.BaseExpression) -> bool:
    """Return whether two host expressions have one value, names given once followed."""
    return bool(_spellings(launch, first) & _spellings(launch, second))


def _spellings(launch: Launch, node: cst.BaseExpression) -> set[str]:
    blank = cst.Module([])
    found = set()
    value = assigned_once(launch.function, node.value) if isinstance(node, cst.Name) else None
    for one in (node, value):
        if one is not None and not any(_changes(launch, name) for name in names_in(one)):
            bare = one.with_changes(lpar=[], rpar=[]) if hasattr(one, "lpar") else one
            found.add(re.sub(r"\s+", "", blank.code_for_node(bare)))
    return found


def _changes(launch: Launch, name: str) -> bool:
    """Return whether the launching function may give a name more than one value."""
    if launch.function is None:
        return False
    params = launch.function.params
    times = sum(
        one.name.value == name
        for one in (*params.params, *params.kwonly_params, *params.posonly_params)
    )
    for node in walk(launch.function.body):
        if isinstance(node, cst.Assign):
            times += any(name in names_in(one.target) for one in node.targets)
        elif isinstance(node, cst.AnnAssign | cst.NamedExpr):
            times += name in names_in(node.target)
        elif isinstance(node, cst.AugAssign | cst.For) and name in names_in(node.target):
            return True
    return times > 1


def _named_elsewhere(kernel: Kernel) -> bool:
    """Return whether the host uses a kernel otherwise than in the launches that were read."""
    view = kernel.view
    launched = {id(call.func.value) for launch in view.launches
                if isinstance((call := launch.call).func, cst.Subscript)}  # fmt: skip
    for node in walk(view.tree.module):
        if not isinstance(node, cst.Name) or node.value != kernel.name or id(node) in launched:
            continue
        above = view.tree.ancestors(node)
        other = isinstance(above[0], cst.Attribute) and above[0].attr is node
        other = other or (isinstance(above[0], cst.Arg) and above[0].keyword is node)
        if not other and not any(
            isinstance(one, cst.FunctionDef) and one.name.value in view.kernels for one in above
        ):
            return True
    return False

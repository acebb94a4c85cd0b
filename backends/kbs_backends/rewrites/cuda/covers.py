"""Whether a launch has a thread for every element below a size: its grid read as a division."""

from __future__ import annotations

import re

from tree_sitter import Node

from kbs_backends.rewrites.cuda.constants import value_of
from kbs_backends.rewrites.cuda.names import named_children
from kbs_backends.rewrites.cuda.reach import called_name, parameters
from kbs_backends.rewrites.cuda.view import LISTS, Launch, View

_DEEPEST = 6


def covers(view: View, launch: Launch, place: int) -> bool:
    """Return whether blocks times threads along x are no less than argument number ``place``."""
    if place >= len(launch.arguments):
        return False
    grid, block = (_along_x(view, one, launch.host) for one in (launch.grid, launch.block))
    if grid is None or block is None:
        return False
    return _Division(view, launch, block).covers(grid, launch.arguments[place])


def _along_x(view: View, part: Node | None, host: Node | None) -> Node | None:
    """The first size of ``dim3 g(x, y)``, or what stands in its place."""
    if part is not None and part.type == "identifier":
        value = view.constant(view.code(part), host)
        part = value if value is not None and _sizes(view, value) is not None else part
    if part is None:
        return None
    sizes = _sizes(view, part)
    return part if sizes is None else next(iter(sizes), None)


def _sizes(view: View, node: Node) -> list[Node] | None:
    if node.type in LISTS or node.type == "initializer_list":
        return list(named_children(node))
    if node.type == "call_expression" and called_name(view, node) == "dim3":
        listed = node.child_by_field_name("arguments")
        return list(named_children(listed)) if listed is not None else None
    return None


class _Division:
    """Blocks of a launch, given its threads."""

    def __init__(self, view: View, launch: Launch, block: Node) -> None:
        self.view = view
        self.host = launch.host
        self.block = block

    def covers(self, grid: Node, size: Node, depth: int = 0) -> bool:
        """``(n + t - 1) / t``, ``n / t + 1``, ``cdiv(n, t)``, or a name set to one of them."""
        grid = self._bare(grid)
        if grid.type == "identifier" and depth < _DEEPEST:
            value = self.view.constant(self.view.code(grid), self.host)
            return value is not None and self.covers(value, size, depth + 1)
        if grid.type == "call_expression":
            return self._is_cdiv(grid) and self._given(grid, size)
        sides = [grid.child_by_field_name(field) for field in ("left", "right")]
        sign = grid.child_by_field_name("operator")
        if grid.type != "binary_expression" or sign is None or None in sides:
            return False
        left, right = (side for side in sides if side is not None)
        if self.view.code(sign) == "/":
            return self._is_block(right) and self._enough(left, size, 1)
        return self.view.code(sign) == "+" and any(
            self._more(one, other, size) for one, other in ((left, right), (right, left))
        )

    def _more(self, division: Node, one: Node, size: Node) -> bool:
        """``(n - 1) / t`` with ``1`` more."""
        division = self._bare(division)
        parts = [division.child_by_field_name(field) for field in ("left", "operator", "right")]
        number = value_of(self.view, one, self.host)
        if division.type != "binary_expression" or None in parts or number != 1:
            return False
        left, sign, right = (part for part in parts if part is not None)
        whole = self.view.code(sign) == "/" and self._is_block(right)
        return whole and self._enough(left, size, 1, blocks=1)

    def _enough(self, top: Node, size: Node, less: int, blocks: int = 0) -> bool:
        """Return whether a dividend is at least the size, a block more, and ``less`` less."""
        terms = list(self._terms(top, 1))
        own = [term for term in terms if self._same(term[0], size)]
        if len(own) != 1 or own[0][1] != 1:
            return False
        rest = [term for term in terms if term is not own[0]]
        block = value_of(self.view, self.block, self.host)
        numbers = [(value_of(self.view, one, self.host), sign) for one, sign in rest]
        known = [number * sign for number, sign in numbers if number is not None]
        if block is not None and len(known) == len(rest):
            return sum(known) >= block * (1 - blocks) - less
        wholes = sum(sign for one, sign in rest if self._is_block(one))
        plain = [number for (one, _), number in zip(rest, numbers, strict=True)
                 if not self._is_block(one)]  # fmt: skip
        if any(number is None for number, _ in plain):
            return False
        return wholes + blocks >= 1 and sum((n or 0) * s for n, s in plain) >= -less

    def _terms(self, node: Node, sign: int) -> list[tuple[Node, int]]:
        node = self._bare(node)
        operator = node.child_by_field_name("operator")
        text = self.view.code(operator) if operator is not None else ""
        left, right = (node.child_by_field_name(field) for field in ("left", "right"))
        if node.type != "binary_expression" or text not in {"+", "-"} or not left or not right:
            return [(node, sign)]
        other = sign if text == "+" else -sign
        return [*self._terms(left, sign), *self._terms(right, other)]

    def _is_block(self, node: Node) -> bool:
        node = self._bare(node)
        value = value_of(self.view, node, self.host)
        if value is not None:
            return value == value_of(self.view, self.block, self.host)
        return self._same(node, self.block)

    def _same(self, node: Node, other: Node) -> bool:
        """Return whether two expressions are spelled alike, of names that nothing changes."""
        texts = {"".join(self.view.code(self._bare(one)).split()) for one in (node, other)}
        names = {self.view.code(n) for n in self.view.tree.walk(node, "identifier")}
        return len(texts) == 1 and not any(self._is_set(name) for name in names)

    def _is_set(self, name: str) -> bool:
        """Return whether a name is set again somewhere in the host's function."""
        sets = self.view.tree.walk(self.host, "assignment_expression", "update_expression")
        targets = (
            one.child_by_field_name("left") or one.child_by_field_name("argument") for one in sets
        )
        return any(one is not None and self.view.code(one) == name for one in targets)

    def _bare(self, node: Node) -> Node:
        while node.type in {"parenthesized_expression", "cast_expression"}:
            inner = node.child_by_field_name("value") or next(iter(named_children(node)), None)
            if inner is None:
                return node
            node = inner
        return node

    def _given(self, call: Node, size: Node) -> bool:
        listed = call.child_by_field_name("arguments")
        given = named_children(listed) if listed is not None else []
        return len(given) == 2 and self._same(given[0], size) and self._is_block(given[1])  # noqa: PLR2004

    def _is_cdiv(self, call: Node) -> bool:
        """Return whether the file says of a function or macro that it is ``(a + b - 1) / b``."""
        name = called_name(self.view, call)
        found = []
        for function in self.view.functions.get(name, ()):
            names = [self.view.code(n) for one in parameters(function)
                     for n in list(self.view.tree.walk(one, "identifier"))[-1:]]  # fmt: skip
            returned = [named_children(one) for one in
                        self.view.tree.walk(function, "return_statement")]  # fmt: skip
            found.append((names, self.view.code(returned[0][0]) if len(returned) == 1 else ""))
        for macro in self.view.tree.walk(None, "preproc_function_def"):
            named, listed, value = (
                macro.child_by_field_name(field) for field in ("name", "parameters", "value")
            )
            if named is not None and self.view.code(named) == name and listed and value:
                names = [self.view.code(one) for one in named_children(listed)]
                found.append((names, self.view.code(value)))
        return bool(found) and all(_rounds_up(names, text) for names, text in found)


def _rounds_up(names: list[str], text: str) -> bool:
    bare = re.sub(r"[\s()]", "", text)
    return len(names) == 2 and bare in {  # noqa: PLR2004
        f"{names[0]}+{names[1]}-1/{names[1]}",
        f"{names[0]}-1+{names[1]}/{names[1]}",
    }

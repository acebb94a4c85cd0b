"""What goes with the number of threads of a launch: in its grid, its shared memory, its template.

A number of the host that happens to be the same is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tree_sitter import Node

from kbs_backends.rewrites.base import NotApplicableError
from kbs_backends.rewrites.cuda.constants import value_of
from kbs_backends.rewrites.cuda.names import named_children, plain_name
from kbs_backends.rewrites.cuda.reach import called_name
from kbs_backends.rewrites.cuda.view import LISTS, Kernel, Launch, View
from kbs_backends.variants.literals import read_c
from kbs_backends.variants.ranges import is_tile_name

_DIVIDES = re.compile(r"div|ceil|blocks|grid|parts", re.IGNORECASE)
"""Names of functions that share the first argument out into parts of the second."""
_AXES = ("x", "y", "z")


@dataclass
class Following:
    """The numbers and names that are the number of threads, and how the grid depends on it."""

    number: int
    literals: dict[int, Node] = field(default_factory=dict)
    """Literals of the number by their place."""
    less_one: dict[int, Node] = field(default_factory=dict)
    """Literals of one less, as a division that rounds up has them."""
    names: set[str] = field(default_factory=set)
    axes: set[str] = field(default_factory=set)
    """Axes along which the number of blocks follows the number of threads."""
    floors: bool = False
    """Whether a division rounds down, so that only sizes that divide leave nothing out."""
    known: dict[str, int | None] = field(default_factory=dict)
    """Template parameters of the kernel with their values; None where they follow."""


def following(view: View, launch: Launch, literal: Node, names: set[str]) -> Following:
    """Find what must change with ``literal``, the number of threads of ``launch``.

    Raises:
        NotApplicableError: The grid or the shared memory has the number in a form that is not
            understood.
    """
    number = read_c(view.code(literal))
    if not isinstance(number, int):
        raise NotApplicableError(f"{launch.kernel} is launched with no single number of threads")
    found = Following(number, {literal.start_byte: literal}, names=set(names))
    for axis, node in zip(_AXES, _axes(view, launch), strict=False):
        _read_axis(view, launch, found, axis, node)
    _read_shared(view, launch, found)
    return found


def on_which(view: View, launch: Launch) -> list[Node]:
    """Every expression on which the configuration of a launch depends."""
    parts = [one for one in (launch.grid, launch.block, launch.shared) if one is not None]
    return [node for part in parts for node in _expanded(view, part, launch.host, set())]


def _axes(view: View, launch: Launch) -> list[Node]:
    """The number of blocks along each axis."""
    grid = launch.grid
    if grid is not None and grid.type == "identifier":
        grid = view.constant(view.code(grid), launch.host) or grid
    if grid is not None and (grid.type in LISTS or view.code(grid).startswith("dim3")):
        listed = grid if grid.type in LISTS else grid.child_by_field_name("arguments")
        return named_children(listed) if listed is not None else []
    return [grid] if grid is not None else []


def _expanded(view: View, node: Node, host: Node | None, names: set[str]) -> list[Node]:
    """An expression and the values of the names in it, which are not of ``names``."""
    found, seen = [node], set(names)
    for here in found:
        for name in view.tree.walk(here, "identifier"):
            text = view.code(name)
            if text not in seen:
                seen.add(text)
                found += _values(view, text, host)
    return found


def _values(view: View, name: str, host: Node | None) -> list[Node]:
    found = list(view.values(name, host)) if host is not None else []
    for node in view.tree.walk(host, "assignment_expression"):
        left, right = (node.child_by_field_name(f) for f in ("left", "right"))
        if left is not None and right is not None and view.code(left) == name:
            found.append(right)
    return found or list(view.values(name, None))


def _read_axis(view: View, launch: Launch, found: Following, axis: str, node: Node) -> None:
    parts: list[int] = []
    expressions = _expanded(view, node, launch.host, found.names)
    for expression in expressions:
        for divided, divisor in _divisions(view, expression):
            if _mentions(view, found, divisor, launch.host):
                found.axes.add(axis)
                _take(view, found, divisor)
                found.floors |= divided is not None and not _take(view, found, divided, less=True)
            else:
                parts.append(_part(view, divisor, launch.host))
    if axis in found.axes:
        return
    for part in parts:
        if part > 1 and (part % found.number == 0 or found.number % part == 0):
            raise NotApplicableError(f"the grid of {launch.kernel} counts in parts of {part}")


def _divisions(view: View, expression: Node) -> Iterator[tuple[Node | None, Node]]:
    """Numerator and divisor of every division; ``CEIL_DIV(n, 256)`` shows its divisor alone."""
    for node in view.tree.walk(expression, "binary_expression", "call_expression"):
        if node.type == "call_expression":
            arguments = node.child_by_field_name("arguments")
            listed = named_children(arguments) if arguments is not None else []
            if len(listed) == 2 and _DIVIDES.search(called_name(view, node)):  # noqa: PLR2004
                yield None, listed[1]
            continue
        left, sign, right = (node.child_by_field_name(f) for f in ("left", "operator", "right"))
        divides = sign is not None and view.code(sign) in {"/", ">>"}
        if divides and left is not None and right is not None:
            yield left, right


def _mentions(view: View, found: Following, divisor: Node, host: Node | None) -> bool:
    """Return whether a divisor is made of the number; a constant of its value is taken along."""
    if divisor.prev_sibling is not None and view.code(divisor.prev_sibling) == ">>":
        return False
    for node in view.tree.walk(divisor, "identifier"):
        name = view.code(node)
        value = view.constant(name, host)
        if value is not None and value.type in {"number_literal", "preproc_arg"}:
            same = read_c(view.code(value)) == found.number
            found.literals |= {value.start_byte: value} if same else {}
            found.names |= {name} if same else set()
        if name in found.names:
            return True
    literals = view.tree.walk(divisor, "number_literal")
    return any(read_c(view.code(one)) == found.number for one in literals)


def _part(view: View, divisor: Node, host: Node | None) -> int:
    value = value_of(view, divisor, host)
    shifted = divisor.prev_sibling is not None and view.code(divisor.prev_sibling) == ">>"
    if value is None or value < 0:
        return 1
    return 1 << min(value, 31) if shifted else value


def _take(view: View, found: Following, node: Node, *, less: bool = False) -> bool:
    """Note the literals of the number, and of one ``less``; return whether it stands there."""
    taken = any(view.code(one) in found.names for one in view.tree.walk(node, "identifier"))
    for literal in view.tree.walk(node, "number_literal"):
        value = read_c(view.code(literal))
        if value == found.number:
            found.literals[literal.start_byte] = literal
        elif less and value == found.number - 1:
            found.less_one[literal.start_byte] = literal
        else:
            continue
        taken = True
    return taken


def _read_shared(view: View, launch: Launch, found: Following) -> None:
    """``256 * sizeof(float)``: bytes of shared memory that go with the threads."""
    if launch.shared is None:
        return
    expressions = _expanded(view, launch.shared, launch.host, found.names)
    if any([_take(view, found, expression) for expression in expressions]):  # noqa: C419 - all
        return
    names = {view.code(n) for e in expressions for n in view.tree.walk(e, "identifier")}
    fixed = all(view.constant(name, launch.host) is not None for name in names)
    if fixed and value_of(view, launch.shared, launch.host) != 0:
        raise NotApplicableError(
            f"the shared memory of {launch.kernel} is one number of bytes for any number of threads"
        )


def read_template(view: View, launch: Launch, kernel: Kernel, found: Following) -> None:
    """Give the template parameters of a kernel their values in this launch."""
    above = kernel.node.parent
    declared = above.child_by_field_name("parameters") if above is not None else None
    if above is None or above.type != "template_declaration" or declared is None:
        return
    called = launch.called
    listed = called.child_by_field_name("arguments") if called is not None else None
    given = named_children(listed) if listed is not None and called != launch.grid else []
    for place, param in enumerate(named_children(declared)):
        target = param.child_by_field_name("declarator")
        value = given[place] if place < len(given) else param.child_by_field_name("default_value")
        if target is None or value is None:
            continue
        name = plain_name(view.tree, target)
        text = view.code(value)
        same = value.type == "number_literal" and read_c(text) == found.number
        if text in found.names or (same and place < len(given) and is_tile_name(name)):
            found.known[name] = None
            if same:
                found.literals[value.start_byte] = value
        else:
            found.known[name] = value_of(view, value, launch.host)

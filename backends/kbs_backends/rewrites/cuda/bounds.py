"""Bounds of the integers that a CUDA source computes, from the sizes of the task and its launches.

Every number here lies from 0 to below 2^31 with all that it is computed from; for others there is
no bound.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from tree_sitter import Node

from kbs_backends.rewrites.base import Dim
from kbs_backends.rewrites.cuda.constants import value_of
from kbs_backends.rewrites.cuda.locals import Local, below, changes, local_of
from kbs_backends.rewrites.cuda.names import named_children
from kbs_backends.rewrites.cuda.origins import parameter_name
from kbs_backends.rewrites.cuda.reach import called_name, parameters
from kbs_backends.rewrites.cuda.view import LISTS, Launch, View
from kbs_backends.variants.cuda_tree import enclosing_function, function_name

LIMIT = 2**31
Bound = tuple[int, int]
_ENTRY = "solve"
_DEEPEST = 24
_BITS = 32
_INTEGER = re.compile(
    r"(?:const |std::|unsigned |signed )*(?:int|unsigned|long|long long|size_t|ptrdiff_t"
    r"|long int|long long int|u?int(?:32|64)_t|kbs_index<.*>)\Z"
)
_AXES = ("x", "y", "z")


class Bounds:
    """Bounds in one source, for a task whose sizes are ``dims``."""

    def __init__(self, view: View, dims: Mapping[str, Dim]) -> None:
        """Nothing is computed yet."""
        self.view = view
        self.dims = {k: v for k, v in dims.items() if type(v) is int}
        self._depth = 0
        self._rules: dict[str, Callable[[Node], Bound | None]] = {
            "number_literal": self._of_constant,
            "identifier": self._of_name,
            "cast_expression": self._of_cast,
            "parenthesized_expression": self._of_last,
            "argument_list": self._of_last,
            "binary_expression": self._of_binary,
            "conditional_expression": self._of_choice,
            "call_expression": self._of_call,
            "field_expression": self._of_field,
        }

    def of(self, node: Node | None) -> Bound | None:
        """Smallest and largest value of an expression where it stands; None where unknown."""
        if node is None or self._depth > _DEEPEST:
            return None
        rule = self._rules.get(node.type)
        if rule is None:
            return None
        self._depth += 1
        try:
            found = rule(node)
        finally:
            self._depth -= 1
        return _within(found)

    def of_local(self, name: Node) -> Bound | None:
        """Every value that a declared name has in its life, a loop's last one too."""
        local = local_of(self.view, name)
        return self._of_life(local) if local is not None else None

    def _of_constant(self, node: Node) -> Bound | None:
        """A literal, or a name that the file gives one value."""
        value = value_of(self.view, node, None)
        if value is None or (node.type == "identifier" and not _is_fixed(self.view, node)):
            return None
        return value, value

    def _of_last(self, node: Node) -> Bound | None:
        inner = named_children(node)
        return self.of(inner[0]) if len(inner) == 1 else None

    def _of_cast(self, node: Node) -> Bound | None:
        kind = node.child_by_field_name("type")
        integer = kind is not None and _INTEGER.match(self.view.code(kind))
        return self.of(node.child_by_field_name("value")) if integer else None

    def _of_choice(self, node: Node) -> Bound | None:
        return hull(self.of(node.child_by_field_name(f)) for f in ("consequence", "alternative"))

    def _of_binary(self, node: Node) -> Bound | None:
        left, right = (self.of(node.child_by_field_name(f)) for f in ("left", "right"))
        sign = node.child_by_field_name("operator")
        if left is None or right is None or sign is None:
            return None
        return _computed(self.view.code(sign), left, right)

    def _of_call(self, node: Node) -> Bound | None:
        """``min(a, b)``, ``max(a, b)``, ``static_cast<T>(a)``, ``int(a)``."""
        called, listed = (node.child_by_field_name(f) for f in ("function", "arguments"))
        if called is None or listed is None:
            return None
        name, text = called_name(self.view, node), self.view.code(called)
        given = [self.of(one) for one in named_children(listed)]
        kind = text.split("<", 1)[-1].rsplit(">", 1)[0] if name == "static_cast" else text
        if len(given) == 1 and _INTEGER.match(kind):
            return given[0]
        known = [one for one in given if one is not None]
        if name not in {"min", "max"} or name in self.view.functions or len(known) != len(given):
            return None
        choose = min if name == "min" else max
        return choose(low for low, _ in known), choose(high for _, high in known)

    def _of_field(self, node: Node) -> Bound | None:
        """``blockIdx.x`` over all launches; ``block.y`` of a ``dim3``."""
        owner, axis = self.view.code(node).partition(".")[::2]
        function = enclosing_function(node)
        if axis not in _AXES or function is None:
            return None
        if owner not in {"blockIdx", "gridDim", "threadIdx", "blockDim"}:
            value = self.view.constant(owner, function)
            return self._of_axis(value, axis, function)
        name = function_name(self.view.tree, function)
        launches = [one for one in self.view.launches if one.kernel == name]
        sizes = hull(self._of_launch(one, owner, axis) for one in launches)
        counts = owner in {"blockIdx", "threadIdx"}
        return (0, max(sizes[1] - 1, 0)) if sizes is not None and counts else sizes

    def _of_launch(self, launch: Launch, owner: str, axis: str) -> Bound | None:
        part = launch.grid if owner in {"blockIdx", "gridDim"} else launch.block
        return self._of_axis(part, axis, launch.host)

    def _of_axis(self, part: Node | None, axis: str, host: Node | None) -> Bound | None:
        if part is not None and part.type == "identifier":
            value = self.view.constant(self.view.code(part), host)
            listed = value is not None and (value.type in LISTS or _is_dim3(self.view, value))
            part = value if listed else part
        if part is None:
            return None
        if part.type not in LISTS and not _is_dim3(self.view, part):
            return self.of(part) if axis == "x" else (1, 1)
        plain = part.type in LISTS or part.type == "initializer_list"
        listed_sizes = part if plain else part.child_by_field_name("arguments")
        sizes = named_children(listed_sizes) if listed_sizes is not None else []
        place = _AXES.index(axis)
        return self.of(sizes[place]) if place < len(sizes) else (1, 1)

    def _of_name(self, node: Node) -> Bound | None:
        local = local_of(self.view, node)
        if local is not None:
            found = self._of_life(local)
        elif _is_parameter(self.view, node):
            found = self._of_parameter(node)
        else:
            found = self._of_constant(node)
        if found is None:
            return None
        low, high = found
        for guard, less in below(self.view, node):
            limit = self.of(guard)
            high = min(high, limit[1] - less) if limit is not None else high
        return low, max(low, high)

    def _of_life(self, local: Local) -> Bound | None:
        start = self.of(local.value)
        plain = local.kind == "auto" or _INTEGER.match(local.kind)
        if start is None or local.changed or not plain:
            return None
        if local.limit is None:
            return start
        limit, step = self.of(local.limit), self.of(local.step) if local.step else (1, 1)
        if limit is None or step is None:
            return None
        return _within((start[0], max(start[1], limit[1] - local.less + step[1])))

    def _of_parameter(self, node: Node) -> Bound | None:
        function, name = enclosing_function(node), self.view.code(node)
        if function is None or changes(self.view, function, name):
            return None
        listed = [parameter_name(self.view, one) for one in parameters(function)]
        own = function_name(self.view.tree, function)
        if self.view.passed_on(own):
            return None
        place = listed.index(name)
        kind = list(parameters(function))[place].child_by_field_name("type")
        if kind is None or not _INTEGER.match(self.view.code(kind)):
            return None
        given = self._given(own)
        size = self.dims.get(name)
        outside = (size, size) if size is not None else None
        if not given:
            return outside
        known = hull(self.of(one[place]) if place < len(one) else None for one in given)
        return hull((known, outside)) if own == _ENTRY else known

    def _given(self, name: str) -> list[list[Node]]:
        """Arguments of every launch and call of a function."""
        found = [one.arguments for one in self.view.launches if one.kernel == name]
        for call in self.view.tree.walk(None, "call_expression"):
            listed = call.child_by_field_name("arguments")
            launched = any(child.type == "kernel_call_syntax" for child in call.children)
            if called_name(self.view, call) == name and listed is not None and not launched:
                found.append(named_children(listed))
        return found


def hull(every: Iterable[Bound | None]) -> Bound | None:
    """The bound that holds all of these; None where one is unknown, or there is none."""
    known = list(every)
    if not known or None in known:
        return None
    bounds = [one for one in known if one is not None]
    return min(low for low, _ in bounds), max(high for _, high in bounds)


def _is_parameter(view: View, node: Node) -> bool:
    function = enclosing_function(node)
    listed = parameters(function) if function is not None else ()
    return view.code(node) in {parameter_name(view, one) for one in listed}


def _is_fixed(view: View, node: Node) -> bool:
    """Return whether a name of the file is a macro, an enumerator or a constant."""
    above = view.constant(view.code(node), None)
    while above is not None and above.type not in {"declaration", "preproc_def", "enumerator"}:
        above = above.parent
    constant = above is not None and re.search(r"\bconst(?:expr)?\b", view.code(above))
    return above is not None and (above.type != "declaration" or bool(constant))


def _is_dim3(view: View, node: Node) -> bool:
    return node.type == "initializer_list" or (
        node.type == "call_expression" and called_name(view, node) == "dim3"
    )


def _within(bound: Bound | None) -> Bound | None:
    return bound if bound is not None and 0 <= bound[0] <= bound[1] < LIMIT else None


def _computed(sign: str, left: Bound, right: Bound) -> Bound | None:
    """As of whole numbers that are not negative; what may be is given no bound."""
    if sign in {"+", "*"}:
        ends = [a + b if sign == "+" else a * b for a, b in zip(left, right, strict=True)]
        return ends[0], ends[1]
    if sign == "-":
        return left[0] - right[1], left[1] - right[0]
    if sign in {"/", "%"} and right[0] > 0:
        return (left[0] // right[1], left[1] // right[0]) if sign == "/" else (0, right[1] - 1)
    if sign in {"<<", ">>"} and right[1] < _BITS:
        shifted = (left[0] << right[0], left[1] << right[1])
        return shifted if sign == "<<" else (left[0] >> right[1], left[1] >> right[0])
    return (0, min(left[1], right[1])) if sign == "&" else None

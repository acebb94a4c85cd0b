"""Numbers that the host computes from numbers, and what it takes from the shapes of tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import libcst as cst

from kbs_backends.rewrites.triton.copies import assigned_once
from kbs_backends.rewrites.triton.view import Launch, View, names_in, walk

_DEPTH = 12
_MOST_BITS = 128
_OPERATORS: dict[type[cst.BaseBinaryOp], Callable[[int, int], int]] = {
    cst.Add: lambda a, b: a + b,
    cst.Subtract: lambda a, b: a - b,
    cst.Multiply: lambda a, b: a * b,
    cst.FloorDivide: lambda a, b: a // b if b else 0,
    cst.Modulo: lambda a, b: a % b if b else 0,
    cst.LeftShift: lambda a, b: a << min(max(b, 0), _MOST_BITS),
    cst.RightShift: lambda a, b: a >> max(b, 0),
    cst.Power: lambda a, b: a ** min(max(b, 0), _MOST_BITS),
}
_SHAPES = frozenset({"shape", "stride", "size", "numel"})


def followed(view: View, launch: Launch | None, node: cst.BaseExpression) -> cst.BaseExpression:
    """What a name of the host or the file is set to, if it is set once; else the node itself."""
    for _ in range(_DEPTH):
        if not isinstance(node, cst.Name):
            break
        inside = assigned_once(launch.function, node.value) if launch is not None else None
        value = inside or assigned_once(view.tree.module, node.value)
        if value is None:
            break
        node = value
    return node


def number_of(  # noqa: PLR0911 - one a kind
    view: View,
    launch: Launch | None,
    node: cst.BaseExpression,
    dims: Mapping[str, object],
    depth: int = 0,
) -> int | None:
    """A number, one computed from numbers, or a size of the task by its name; None if neither."""
    if depth > _DEPTH:
        return None
    node = followed(view, launch, node)
    if isinstance(node, cst.Integer):
        return int(node.evaluated_value)
    if isinstance(node, cst.Name):
        size = dims.get(node.value)
        set_plainly = launch is not None and _set(launch, node.value)
        return size if isinstance(size, int) and not set_plainly else None
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        inner = number_of(view, launch, node.expression, dims, depth + 1)
        return -inner if inner is not None else None
    if isinstance(node, cst.Call) and view.code(node.func) in {f"{view.tl}.constexpr", "int"}:
        return number_of(view, launch, node.args[0].value, dims, depth + 1) if node.args else None
    if not isinstance(node, cst.BinaryOperation) or type(node.operator) not in _OPERATORS:
        return None
    left = number_of(view, launch, node.left, dims, depth + 1)
    right = number_of(view, launch, node.right, dims, depth + 1)
    if left is None or right is None or left.bit_length() > _MOST_BITS:
        return None
    return _OPERATORS[type(node.operator)](left, right)


def of_a_shape(view: View, launch: Launch | None, node: cst.BaseExpression) -> bool:
    """Return whether the host reads a value from a tensor's shape or strides, as it stands."""
    node = followed(view, launch, node)
    if isinstance(node, cst.Name):
        scope = launch.function if launch is not None else None
        return scope is not None and any(
            isinstance(one, cst.Assign)
            and isinstance(one.targets[0].target, cst.Tuple)
            and node.value in names_in(one.targets[0].target)
            and of_a_shape(view, launch, one.value)
            for one in walk(scope)
        )
    if isinstance(node, cst.Subscript):
        node = node.value
    if isinstance(node, cst.Call):
        node = node.func
    return isinstance(node, cst.Attribute) and node.attr.value in _SHAPES


def _set(launch: Launch, name: str) -> bool:
    """Return whether the launching function sets a name otherwise than from a tuple."""
    return launch.function is not None and any(
        (isinstance(one, cst.AugAssign | cst.AnnAssign) and name in names_in(one.target))
        or (
            isinstance(one, cst.Assign)
            and any(isinstance(t.target, cst.Name) and t.target.value == name for t in one.targets)
        )
        for one in walk(launch.function.body)
    )

"""Arrays that launches give a kernel: which of its parameters may be the same memory."""

from __future__ import annotations

import libcst as cst

from kbs_backends.rewrites.triton.copies import assigned_once
from kbs_backends.rewrites.triton.view import Kernel, Launch, argument

_DEPTH = 12
_NEW = ("empty", "empty_like", "zeros", "zeros_like", "ones", "ones_like", "full", "full_like")


def may_share(kernel: Kernel, one: str, other: str) -> bool:
    """Return whether a launch may give two parameters memory of one array.

    Arguments of the launching function are apart, as buffers of a task are; views, slices and
    names of them belong to their array.
    """
    return one == other or any(
        _root(kernel, launch, one) in {_root(kernel, launch, other), None}
        or _root(kernel, launch, other) is None
        for launch in kernel.view.launches_of(kernel)
    )


def _root(kernel: Kernel, launch: Launch, param: str) -> str | None:
    """Name, or making call, at which what a launch gives begins; None if it does not show."""
    if any(one.star for one in launch.call.args) or param not in kernel.params:
        return None
    given = argument(launch.call, param, list(kernel.params).index(param))
    node: cst.BaseExpression | None = given.value if given is not None else None
    for _ in range(_DEPTH):
        if isinstance(node, cst.Name):
            value = assigned_once(launch.function, node.value)
            if value is None:
                return node.value if _is_argument(launch, node.value) else None
            node = value
        elif isinstance(node, cst.Subscript):
            node = node.value
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            if node.func.attr.value in _NEW:
                return f"@{kernel.view.tree.span(node)[0]}"
            node = node.func.value
        elif isinstance(node, cst.Attribute) and node.attr.value in {"T", "mT", "data"}:
            node = node.value
        else:
            return None
    return None


def _is_argument(launch: Launch, name: str) -> bool:
    function = launch.function
    return isinstance(function, cst.FunctionDef) and any(
        one.name.value == name for one in function.params.params
    )

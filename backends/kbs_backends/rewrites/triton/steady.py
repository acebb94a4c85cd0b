"""Names that still mean at a load what they meant where its address was computed."""

from __future__ import annotations

import libcst as cst

from kbs_backends.rewrites.base import NotApplicableError
from kbs_backends.rewrites.triton.dataflow import Flow
from kbs_backends.rewrites.triton.view import Kernel, names_in


class Range:
    """``for name in range(start, end, step)``, counting upwards."""

    def __init__(self, kernel: Kernel, loop: cst.For) -> None:
        """Read the parts.

        Raises:
            NotApplicableError: The loop is of another form.
        """
        call = loop.iter
        plain = isinstance(call, cst.Call) and kernel.view.code(call.func) == "range"
        known = plain or kernel.is_tl(call, "range", "static_range")
        if not isinstance(call, cst.Call) or not known or not isinstance(loop.target, cst.Name):
            raise NotApplicableError(f"{kernel.name} loads in a loop over no range")
        given = [one.value for one in call.args if one.keyword is None and not one.star]
        self.node = loop
        self.name = loop.target.value
        self.ends = given
        """Start, if it has one, and end."""
        self.start = kernel.view.code(given[0]) if len(given) > 1 else "0"
        self.end = kernel.view.code(given[min(1, len(given) - 1)])
        self.step = kernel.view.code(given[2]) if len(given) > 2 else "1"  # noqa: PLR2004
        if not self.step.isdigit() and self.step not in kernel.params:
            raise NotApplicableError(f"{kernel.name} loads in a loop whose steps may go back")


def loop_of(kernel: Kernel, node: cst.CSTNode) -> cst.For | cst.While | None:
    """Innermost loop around a node."""
    above = kernel.view.tree.ancestors(node)
    return next((one for one in above if isinstance(one, cst.For | cst.While)), None)


def require_steady(kernel: Kernel, flow: Flow, call: cst.Call, moved: str) -> None:
    """No name of a load's address or mask changes once it was read for them.

    ``moved`` is the pointer that the loop moves on, which its reader follows by itself.

    Raises:
        NotApplicableError: One may.
    """
    tree = kernel.view.tree
    for node in flow.sources(call):
        for name in (names_in(node) & flow.assigned) - {moved}:
            if name in flow.loop_names:
                _require_own_loop(kernel, flow, call, node, name)
                continue
            if any(node is one for one in _changes(flow, name)):
                continue  # a step of what it becomes in the end
            if tree.span(node)[0] < last_change(kernel, flow, name):
                raise NotApplicableError(f"{kernel.name} changes {name} between its tiles")


def last_change(kernel: Kernel, flow: Flow, name: str) -> int:
    """Byte offset at which the last assignment to a name ends."""
    return max(kernel.view.tree.span(one)[1] for one in _changes(flow, name))


def _changes(flow: Flow, name: str) -> list[cst.CSTNode]:
    return [*flow.values.get(name, []), *flow.augmented.get(name, [])]


def known_before(kernel: Kernel, flow: Flow, node: cst.CSTNode, place: cst.CSTNode) -> bool:
    """Return whether a value can be computed at ``place`` and stays what it is there."""
    tree = kernel.view.tree
    around = {
        kernel.view.code(one.target) for one in tree.ancestors(place) if isinstance(one, cst.For)
    }
    for name in names_in(node) & flow.assigned:
        if name in flow.loop_names:
            if name not in around:
                return False
        elif last_change(kernel, flow, name) > tree.span(place)[0]:
            return False
    return True


def _require_own_loop(
    kernel: Kernel, flow: Flow, call: cst.Call, node: cst.CSTNode, name: str
) -> None:
    """A loop variable is that of a loop around the load, wherever the address reads it."""
    tree = kernel.view.tree
    above = [one for one in tree.ancestors(call) if isinstance(one, cst.For)]
    loop = next((one for one in above if kernel.view.code(one.target) == name), None)
    loops = [one for one in kernel.loops() if kernel.view.code(one.target) == name]
    only_loops = len(flow.values[name]) == len(loops) and name not in flow.augmented
    if loop is None or not only_loops:
        raise NotApplicableError(f"{kernel.name} changes {name} between its tiles")
    start, end = tree.span(loop)
    if not start <= tree.span(node)[0] < end:
        raise NotApplicableError(f"{kernel.name} changes {name} between its tiles")

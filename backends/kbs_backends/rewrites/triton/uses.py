"""Where the values of a kernel go: uses followed forward to addresses, masks and results."""

from __future__ import annotations

import libcst as cst

from kbs_backends.rewrites.triton.view import Kernel, argument, walk

_LINEAR = (cst.Add, cst.Subtract, cst.Multiply, cst.AddAssign, cst.SubtractAssign)
_MEMORY = ("load", "store", "atomic_add", "atomic_max", "atomic_min", "atomic_and", "atomic_or",
           "atomic_xor", "atomic_xchg", "atomic_cas")  # fmt: skip
_SAME = ("multiple_of", "max_contiguous", "max_constancy", "expand_dims", "broadcast_to")
_CHOICE = ("minimum", "maximum", "where")


class Uses:
    """Reads of every name of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        """Collect them."""
        self.kernel = kernel
        self.reads: dict[str, list[cst.Name]] = {}
        for node in kernel.walk():
            if isinstance(node, cst.Name) and self._is_read(node):
                self.reads.setdefault(node.value, []).append(node)

    def ends(self, node: cst.BaseExpression, *, casts: bool = True) -> set[str]:
        """Return where a value ends: ``address``, ``mask``, ``compared``, ``stored``, ``value``.

        A value is followed through names, sums, products and choices. ``stored`` is one that is
        stored as it is; ``value`` is every other use. Without ``casts`` a cast is one of these.
        """
        found: set[str] = set()
        waiting: list[tuple[cst.BaseExpression, bool]] = [(node, True)]
        seen = set()
        while waiting:
            here, plain = waiting.pop()
            if (here, plain) not in seen:
                seen.add((here, plain))
                waiting += self._above(here, found, plain=plain, casts=casts)
        return found

    def _above(  # noqa: PLR0911 - one a kind
        self, node: cst.BaseExpression, found: set[str], *, plain: bool, casts: bool
    ) -> list[tuple[cst.BaseExpression, bool]]:
        """Expressions that hold this value next, and whether it is still as it was."""
        tree = self.kernel.view.tree
        above = tree.parent(node)
        if isinstance(above, cst.BinaryOperation):
            if isinstance(above.operator, _LINEAR):
                return [(above, False)]
            if plain and isinstance(above.operator, cst.FloorDivide | cst.Modulo):
                return [(above, True)]
        elif isinstance(above, cst.Subscript | cst.IfExp) and not _asks(above, node):
            return [(above, plain)]
        elif isinstance(above, cst.Attribute) and above.attr.value == "to" and casts:
            call = tree.parent(above)
            if isinstance(call, cst.Call) and call.func is above:
                return [(call, plain)]
        elif isinstance(above, cst.Arg):
            return self._argument(above, found, plain=plain)
        elif isinstance(above, cst.Comparison | cst.ComparisonTarget):
            found.add("compared")
            return []
        elif (names := self._targets(above, node)) is not None:
            kept = plain and not isinstance(above, cst.AugAssign)
            return [(read, kept) for name in names for read in self.reads.get(name, [])]
        found.add("value")
        return []

    def _argument(
        self, given: cst.Arg, found: set[str], *, plain: bool
    ) -> list[tuple[cst.BaseExpression, bool]]:
        tree, kernel = self.kernel.view.tree, self.kernel
        call = tree.parent(given)
        if not isinstance(call, cst.Call):
            found.add("value")
            return []
        name = call.func.value if isinstance(call.func, cst.Name) else ""
        if kernel.is_tl(call, *_SAME) and given is call.args[0]:
            return [(call, plain)]
        if name in {"min", "max"} or kernel.is_tl(call, *_CHOICE):
            return [(call, plain)]
        loop = tree.parent(call)
        if isinstance(loop, cst.For) and isinstance(loop.target, cst.Name):
            return [(read, False) for read in self.reads.get(loop.target.value, [])]
        found.add(self._end(call, given, plain=plain))
        return []

    def _end(self, call: cst.Call, given: cst.Arg, *, plain: bool) -> str:
        kernel = self.kernel
        if kernel.is_tl(call, *_MEMORY):
            load = kernel.is_tl(call, "load")
            if given is argument(call, "pointer", 0):
                return "address"
            if given is argument(call, "mask", 1 if load else 2):
                return "mask"
            if kernel.is_tl(call, "store") and given is argument(call, "value", 1) and plain:
                return "stored"
        bases = kernel.is_tl(call, "make_block_ptr", "make_tensor_descriptor")
        return "address" if bases and given is argument(call, "base", 0) else "value"

    def _targets(self, above: cst.CSTNode | None, node: cst.CSTNode) -> list[str] | None:
        """Names that an assignment gives the value; None where it is no such assignment."""
        if isinstance(above, cst.Assign):
            return _names([one.target for one in above.targets])
        changed = isinstance(above, cst.AugAssign) and isinstance(above.operator, _LINEAR)
        if isinstance(above, cst.AnnAssign) or (changed and isinstance(above, cst.AugAssign)):
            return _names([above.target])
        return self._matched(above, node) if isinstance(above, cst.Element) else None

    def _matched(self, above: cst.Element, node: cst.CSTNode) -> list[str] | None:
        """Names that stand where a value stands in ``a, b = value, other``."""
        tree = self.kernel.view.tree
        listed = tree.parent(above)
        holder = tree.parent(listed) if listed is not None else None
        if not isinstance(listed, cst.Tuple) or not isinstance(holder, cst.Assign):
            return None
        place = next(n for n, one in enumerate(listed.elements) if one.value is node)
        found = []
        for one in holder.targets:
            if not isinstance(one.target, cst.Tuple) or len(one.target.elements) <= place:
                return None
            found.append(one.target.elements[place].value)
        return _names(found)

    def _is_read(self, node: cst.Name) -> bool:
        tree = self.kernel.view.tree
        above = tree.parent(node)
        if isinstance(above, cst.Attribute):
            return above.value is node
        if isinstance(above, cst.Arg):
            return above.keyword is not node
        if isinstance(above, cst.Element):
            holder = tree.parent(above)
            return not isinstance(tree.parent(holder) if holder else None, cst.AssignTarget)
        written = isinstance(above, cst.AssignTarget | cst.For | cst.AnnAssign | cst.AugAssign)
        return not written or getattr(above, "target", None) is not node


def _asks(above: cst.Subscript | cst.IfExp, node: cst.CSTNode) -> bool:
    """Return whether a value is the condition of a choice."""
    return isinstance(above, cst.IfExp) and above.test is node


def _names(targets: list[cst.BaseExpression]) -> list[str] | None:
    """Names, or None where one target is none."""
    found = [one.value for one in targets if isinstance(one, cst.Name)]
    return found if len(found) == len(targets) else None


def data_in(nodes: list[cst.CSTNode]) -> bool:
    """Return whether one of the nodes reads memory, or calls what may read it."""
    for node in nodes:
        for call in walk(node):
            if not isinstance(call, cst.Call):
                continue
            func = call.func
            if isinstance(func, cst.Attribute):
                last = func.attr.value
                if last == "load" or last.startswith("atomic_"):
                    return True
            elif isinstance(func, cst.Name) and func.value not in {"min", "max", "range"}:
                return True
    return False

"""A kernel that is one matrix product: a loop over the inner dimension, then one store."""

from __future__ import annotations

import libcst as cst

from kbs_backends.rewrites.base import NotApplicableError
from kbs_backends.rewrites.triton.dataflow import Flow, pointer_of
from kbs_backends.rewrites.triton.masks import only_bounds
from kbs_backends.rewrites.triton.view import Kernel, argument, names_in, walk


class Product:
    """Parts of such a kernel.

    ``steps`` is the number of iterations; ``size`` and ``stride`` are set where the loop counts
    elements (``range(0, K, BK)``), and empty where it counts tiles.
    """

    def __init__(self, kernel: Kernel) -> None:
        """Read the parts.

        Raises:
            NotApplicableError: The kernel has another form.
        """
        self.kernel = kernel
        self.flow = Flow(kernel)
        loops = kernel.loops()
        if len(loops) != 1 or not kernel.calls("dot"):
            raise NotApplicableError(f"{kernel.name} is not one loop of tl.dot")
        if kernel.autotuned or not kernel.body or loops[0] not in kernel.body:
            raise NotApplicableError(f"{kernel.name} is autotuned, or its loop stands in a branch")
        self.loop = loops[0]
        self._adds: cst.AugAssign | cst.Assign
        self._require_one_result()
        self._read_bounds()
        self.sum = self._accumulator()
        self._require_one_sum()
        self._require_ends_with_loop()
        self.out, self.casts = self._store()
        self.moves = self._pointer_moves()

    def _require_one_result(self) -> None:
        """Nothing but one store that every program reaches, and no state but sum and pointers."""
        kernel = self.kernel
        for node in kernel.walk():
            atomic = isinstance(node, cst.Attribute) and node.attr.value.startswith("atomic_")
            if atomic or isinstance(node, cst.Return | cst.While):
                raise NotApplicableError(f"{kernel.name} returns early or has atomics")
        for call in kernel.calls("store"):
            above = kernel.view.tree.ancestors(call)
            if any(isinstance(one, cst.If | cst.For) for one in above[: above.index(kernel.node)]):
                raise NotApplicableError(f"{kernel.name} stores in a branch or loop")
            mask = argument(call, "mask", 2)
            if mask is not None and not only_bounds(kernel, self.flow, mask.value):
                raise NotApplicableError(f"{kernel.name} masks its store by more than its bounds")

    def _read_bounds(self) -> None:
        view, call = self.kernel.view, self.loop.iter
        name = self.kernel.name
        if not isinstance(call, cst.Call):
            raise NotApplicableError(f"{name} does not loop over a range")
        plain = isinstance(call.func, cst.Name) and call.func.value == "range"
        positional = [one for one in call.args if one.keyword is None]
        texts = [view.code(one.value) for one in positional]
        if not (plain or self.kernel.is_tl(call, "range")) or not texts:
            raise NotApplicableError(f"{name} does not loop over a range")
        if len(texts) > 1 and texts[0] != "0":
            raise NotApplicableError(f"{name} does not begin at 0")
        if len(texts) > 2 and "-" in texts[2]:  # noqa: PLR2004
            raise NotApplicableError(f"{name} may count backwards")
        last = positional[min(1, len(texts) - 1)]
        self.bounds = (view.tree.span(positional[0])[0], view.tree.span(last.value)[1])
        self.size = self.stride = ""
        self.steps = texts[min(1, len(texts) - 1)]
        if len(texts) > 2:  # noqa: PLR2004 - start, end, step
            self.size, self.stride = texts[1], texts[2]
            self.steps = f"{view.tl}.cdiv({self.size}, {self.stride})"

    def _accumulator(self) -> str:
        for node in walk(self.loop.body):
            if isinstance(node, cst.AugAssign):
                target, plain = node.target, self.kernel.is_tl(node.value, "dot")
            elif isinstance(node, cst.Assign):
                target = node.targets[0].target
                plain = self._adds_product(target, node.value)
            else:
                continue
            if plain and isinstance(target, cst.Name) and self._starts_at_zero(target.value):
                self._adds = node
                return target.value
        raise NotApplicableError(f"{self.kernel.name} does not sum products from zero in fp32")

    def _adds_product(self, target: cst.BaseExpression, value: cst.BaseExpression) -> bool:
        """``acc = tl.dot(a, b, acc)`` or ``acc = acc + tl.dot(a, b)``."""
        name = self.kernel.view.code(target)
        if isinstance(value, cst.Call) and self.kernel.is_tl(value, "dot"):
            third = argument(value, "acc", 2)
            return third is not None and self.kernel.view.code(third.value) == name
        return (
            isinstance(value, cst.BinaryOperation)
            and isinstance(value.operator, cst.Add)
            and self.kernel.view.code(value.left) == name
            and self.kernel.is_tl(value.right, "dot")
        )

    def _starts_at_zero(self, name: str) -> bool:
        code = self.kernel.view.code
        zeros = [
            value
            for value in self.flow.values.get(name, [])
            if self.kernel.is_tl(value, "zeros") and "float32" in code(value)
        ]
        inside = [
            node
            for node in walk(self.loop.body)
            if isinstance(node, cst.Assign) and code(node.targets[0].target) == name
        ]
        return len(zeros) == 1 and len(self.flow.values[name]) == 1 + len(inside) <= 1 + 1

    def _require_one_sum(self) -> None:
        """Nothing changes the sum but its zeros and the addition, and the loop reads it nowhere.

        A decay between the tiles, or what is added after them, every part would do by itself.
        """
        name, walked = self.sum, walk(self.kernel.node.body)
        changes = [
            node
            for node in walked
            if (isinstance(node, cst.AugAssign) and name in names_in(node.target))
            or (isinstance(node, cst.Assign) and any(name in names_in(t) for t in node.targets))
            or (isinstance(node, cst.AnnAssign) and name in names_in(node.target))
        ]
        inside = isinstance(self._adds, cst.AugAssign) and name in names_in(self._adds.value)
        elsewhere = self._times_named(self.loop.body) != self._times_named(self._adds)
        once = len(changes) == len(("zeros", "addition")) and not elsewhere and not inside
        if not once or self._times_named(self._adds) > len(("target", "value")):
            raise NotApplicableError(f"{self.kernel.name} changes its sum by more than products")

    def _times_named(self, node: cst.CSTNode) -> int:
        """How often the sum stands below a node; a keyword of its name is none."""
        parent = self.kernel.view.tree.parent
        names = [n for n in walk(node) if isinstance(n, cst.Name) and n.value == self.sum]
        keywords = [n for n in names if isinstance(a := parent(n), cst.Arg) and a.keyword is n]
        return len(names) - len(keywords)

    def _require_ends_with_loop(self) -> None:
        """What follows the loop reads nothing of it but the sum: the last tile is one part's."""
        changed = self._changed_in_loop() - {self.sum}
        body = self.kernel.body
        for statement in body[body.index(self.loop) + 1 :]:
            for name in sorted(names_in(statement) & changed):
                raise NotApplicableError(f"{self.kernel.name} reads {name} after its loop")

    def _store(self) -> tuple[str, list[cst.BaseExpression]]:
        """Parameter stored to, and the casts between the sum and the store."""
        kernel, stores = self.kernel, self.kernel.calls("store")
        pointer = pointer_of(stores[0]) if len(stores) == 1 else None
        out = self.flow.base(pointer) if pointer is not None else None
        value = argument(stores[0], "value", 1) if len(stores) == 1 else None
        loads = [self.flow.base(p) for c in kernel.calls("load") if (p := pointer_of(c))]
        if value is None or out is None or out in loads:
            raise NotApplicableError(f"{kernel.name} does not store one result that it never reads")
        casts: list[cst.BaseExpression] = []
        node: cst.BaseExpression | None = value.value
        while node is not None and not (isinstance(node, cst.Name) and node.value == self.sum):
            if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
                if node.func.attr.value != "to" or len(node.args) != 1:
                    break
                if kernel.view.code(node.args[0].value).startswith(f"{kernel.view.tl}."):
                    casts.append(node.args[0].value)
                node = node.func.value
            elif isinstance(node, cst.Name):
                node = self.flow.single(node.value)
            else:
                break
        if not isinstance(node, cst.Name) or node.value != self.sum:
            raise NotApplicableError(
                f"{kernel.name} computes on its sum before the store, which every part would do"
            )
        return out, casts

    def _pointer_moves(self) -> list[tuple[str, str]]:
        """``pointer += step`` in the loop."""
        moves = []
        for node in walk(self.loop.body):
            if isinstance(node, cst.Assign):
                self._require_within(node)
            if not isinstance(node, cst.AugAssign) or not isinstance(node.target, cst.Name):
                continue
            name = node.target.value
            if name == self.sum:
                continue
            changing = names_in(node.value) & self._changed_in_loop()
            if not isinstance(node.operator, cst.AddAssign) or changing:
                raise NotApplicableError(f"{self.kernel.name} changes {name} by varying steps")
            moves.append((name, self.kernel.view.code(node.value)))
        return moves

    def _require_within(self, node: cst.Assign) -> None:
        """A name of the loop begins anew in every iteration."""
        for one in node.targets:
            for name in names_in(one.target) - {self.sum}:
                if len(self.flow.values.get(name, [])) > 1 or name in self.flow.closure(node.value):
                    raise NotApplicableError(f"{self.kernel.name} carries {name} from tile to tile")

    def _changed_in_loop(self) -> set[str]:
        changed = names_in(self.loop.target)
        for node in walk(self.loop.body):
            if isinstance(node, cst.Assign):
                for one in node.targets:
                    changed |= names_in(one.target)
            elif isinstance(node, cst.AugAssign):
                changed |= names_in(node.target)
        return changed

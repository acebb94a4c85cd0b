"""From what the values of a kernel come: assignments followed back to their roots."""

from __future__ import annotations

import libcst as cst

from kbs_backends.rewrites.triton.view import Kernel, argument, names_in, walk

Target = tuple[str, cst.BaseExpression]


class Flow:
    """Assignments of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        """Collect every assignment and loop variable."""
        self.kernel = kernel
        self.values: dict[str, list[cst.BaseExpression]] = {}
        self._parts: dict[tuple[str, cst.BaseExpression], cst.BaseExpression] = {}
        self.augmented: dict[str, list[cst.AugAssign]] = {}
        self.loop_names: set[str] = set()
        for node in kernel.walk():
            if isinstance(node, cst.Assign):
                for one in node.targets:
                    self._assign(one.target, node.value)
            elif isinstance(node, cst.AnnAssign) and node.value is not None:
                self._assign(node.target, node.value)
            elif isinstance(node, cst.AugAssign) and isinstance(node.target, cst.Name):
                self.augmented.setdefault(node.target.value, []).append(node)
            elif isinstance(node, cst.For) and isinstance(node.target, cst.Name):
                self.loop_names.add(node.target.value)
                self.values.setdefault(node.target.value, []).append(node.iter)

    def _assign(self, target: cst.BaseExpression, value: cst.BaseExpression) -> None:
        if isinstance(target, cst.Name):
            self.values.setdefault(target.value, []).append(value)
        elif isinstance(target, cst.Tuple):
            for one in target.elements:
                self._assign(one.value, value)
            if isinstance(value, cst.Tuple):
                for one, part in zip(target.elements, value.elements, strict=False):
                    if isinstance(one.value, cst.Name):
                        self._parts[one.value.value, value] = part.value

    @property
    def assigned(self) -> set[str]:
        """Names that the kernel gives a value."""
        return set(self.values) | set(self.augmented)

    def single(self, name: str) -> cst.BaseExpression | None:
        """Only value that a name is ever given, None where there are several or none."""
        found = self.values.get(name, [])
        if len(found) != 1 or name in self.augmented or name in self.kernel.params:
            return None
        return self.given(name)[0]

    def given(self, name: str) -> list[cst.BaseExpression]:
        """Values of a name; of a tuple given to a tuple of names, the one at its place."""
        return [self._parts.get((name, one), one) for one in self.values.get(name, [])]

    def closure(self, node: cst.CSTNode) -> set[str]:
        """Names on which a node depends, directly or through assignments."""
        seen: set[str] = set()
        waiting = list(names_in(node))
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            for value in self.values.get(name, []):
                waiting += names_in(value)
            for change in self.augmented.get(name, []):
                waiting += names_in(change.value)
        return seen

    def sources(self, node: cst.CSTNode) -> list[cst.CSTNode]:
        """Return ``node`` and every value on which it depends."""
        found: list[cst.CSTNode] = [node]
        for name in self.closure(node):
            found += self.values.get(name, [])
            found += self.augmented.get(name, [])
        return found

    def axes(self, node: cst.CSTNode) -> set[str]:
        """Axes (as written) of ``tl.program_id`` on which a node depends."""
        found = set()
        for source in self.sources(node):
            for call in walk(source):
                if isinstance(call, cst.Call) and self.kernel.is_tl(call, "program_id"):
                    axis = argument(call, "axis", 0)
                    found.add("0" if axis is None else self.kernel.view.code(axis.value))
        return found

    def uses(self, node: cst.CSTNode, *names: str) -> bool:
        """Return whether a node depends on a call of ``tl.<name>``."""
        return any(
            self.kernel.is_tl(call, *names)
            for source in self.sources(node)
            for call in walk(source)
        )

    def base(self, node: cst.CSTNode, depth: int = 0) -> str | None:
        """Pointer parameter at which an address starts, None where it cannot be told."""
        if depth > 20:  # noqa: PLR2004 - assignments that go round in a circle
            return None
        if isinstance(node, cst.Name):
            if node.value in self.kernel.params:
                return None if self.kernel.params[node.value].constexpr else node.value
            values = self.values.get(node.value, [])
            return next((b for v in values if (b := self.base(v, depth + 1)) is not None), None)
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
            return self.base(node.left, depth + 1) or self.base(node.right, depth + 1)
        inner = node.body if isinstance(node, cst.IfExp) else None
        if isinstance(node, cst.Call) and node.args:
            inner = node.args[0].value
        return self.base(inner, depth + 1) if inner is not None else None


def pointer_of(call: cst.Call) -> cst.BaseExpression | None:
    """Address of a load, store or atomic."""
    found = argument(call, "pointer", 0)
    return found.value if found is not None else None

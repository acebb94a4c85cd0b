"""Loops over the pieces of a row: whether one turn over the whole row gives the same."""

from __future__ import annotations

import libcst as cst

from kbs_backends.rewrites.base import NotApplicableError
from kbs_backends.rewrites.triton.pieces import NEUTRAL, SAME, Pieces, Value, reduced
from kbs_backends.rewrites.triton.view import Kernel, argument, names_in, walk


class RowLoops:
    """The statements of a kernel, read in order."""

    def __init__(self, kernel: Kernel, size: str, block: str) -> None:
        """Refuse what may depend on how the row is cut into pieces.

        Raises:
            NotApplicableError: A value of the loop reaches memory or a later statement otherwise
                than lane by lane, or as a sum, maximum or minimum over the row.
        """
        self.kernel = kernel
        self.pieces = Pieces(kernel, size, block)
        self._statements(kernel.body)

    def _statements(self, statements: list[cst.BaseStatement]) -> None:
        for statement in statements:
            if isinstance(statement, cst.SimpleStatementLine):
                for small in statement.body:
                    self._small(small)
            elif isinstance(statement, cst.For):
                self._loop(statement)
            elif isinstance(statement, cst.If):
                self._branch(statement)
            else:
                raise self.pieces.refuse(statement)

    def _branch(self, statement: cst.If) -> None:
        if self.pieces.of(statement.test).kind != "same":
            raise self.pieces.refuse(statement.test)
        before = dict(self.pieces.names)
        self._statements(_body(statement.body))
        first, self.pieces.names = self.pieces.names, before
        if isinstance(statement.orelse, cst.If):
            self._branch(statement.orelse)
        elif statement.orelse is not None:
            self._statements(_body(statement.orelse.body))
        names = self.pieces.names
        for name in {*first, *names}:
            one = first.get(name, SAME)
            names[name] = one.joined(names.get(name, SAME)) if one is not None else None

    def _small(self, small: cst.BaseSmallStatement) -> None:
        pieces = self.pieces
        if isinstance(small, cst.Assign) and len(small.targets) == 1:
            self._assign(small.targets[0].target, small.value)
        elif isinstance(small, cst.AnnAssign) and small.value is not None:
            self._assign(small.target, small.value)
        elif isinstance(small, cst.AugAssign) and isinstance(small.target, cst.Name):
            given = [pieces.of(small.target), pieces.of(small.value)]
            if any(one.kind != "same" for one in given):
                raise pieces.refuse(small)
            pieces.names[small.target.value] = SAME
        elif isinstance(small, cst.Expr):
            self._effect(small.value)
        elif not isinstance(small, cst.Return | cst.Pass) or getattr(small, "value", None):
            raise pieces.refuse(small)

    def _assign(self, target: cst.BaseExpression, value: cst.BaseExpression) -> None:
        if isinstance(target, cst.Name):
            self.pieces.names[target.value] = self.pieces.of(value)
            return
        both = isinstance(target, cst.Tuple) and isinstance(value, cst.Tuple)
        if not both or not isinstance(target, cst.Tuple) or not isinstance(value, cst.Tuple):
            raise self.pieces.refuse(value)
        for one, part in zip(target.elements, value.elements, strict=True):
            self._assign(one.value, part.value)

    def _effect(self, node: cst.BaseExpression) -> None:
        """A store, or an atomic of values that are the same for all pieces."""
        pieces, kernel = self.pieces, self.kernel
        if isinstance(node, cst.SimpleString | cst.ConcatenatedString):
            return
        if not isinstance(node, cst.Call):
            raise pieces.refuse(node)
        if kernel.is_tl(node, "debug_barrier", "static_assert", "device_assert", "assume"):
            return
        if not kernel.is_tl(node, "store", "atomic_add", "atomic_max", "atomic_min"):
            raise pieces.refuse(node)
        pointer, value = pieces.of(node.args[0].value), pieces.of(node.args[1].value)
        atomic = not kernel.is_tl(node, "store")
        known = value.kind in {"same", "index", "piece", "bound"}
        if not known or (pointer.kind == "same" and value.kind != "same"):
            raise pieces.refuse(node)
        if atomic and (pointer.kind, value.kind) != ("same", "same"):
            raise pieces.refuse(node)
        pieces.require_masked(node, pointer, argument(node, "mask", 2))

    def _loop(self, loop: cst.For) -> None:
        pieces = self.pieces
        before = dict(pieces.names)
        name = pieces.kernel.view.code(loop.target)
        pieces.names[name] = Value("begin", pure=True)
        sums = _Carried(self.kernel, pieces, loop)
        for statement in _body(loop.body):
            if not isinstance(statement, cst.SimpleStatementLine):
                raise pieces.refuse(statement)
            for small in statement.body:
                if isinstance(small, cst.Expr):
                    if isinstance(small.value, cst.Call) and self._same_place(small.value):
                        raise pieces.refuse(small)
                    self._effect(small.value)
                elif not sums.take(small):
                    self._small(small)
        sums.end()
        after = pieces.names
        pieces.names = before
        for changed, value in after.items():
            if changed in sums.ends:
                pieces.names[changed] = sums.ends[changed]
            elif before.get(changed) != value:
                pieces.names[changed] = None if value is None or value.kind != "same" else SAME

    def _same_place(self, call: cst.Call) -> bool:
        """A store that every piece does at one address, or an atomic that every piece repeats."""
        return bool(call.args) and self.pieces.of(call.args[0].value).kind == "same"


class _Carried:
    """Names that a loop hands from piece to piece."""

    def __init__(self, kernel: Kernel, pieces: Pieces, loop: cst.For) -> None:
        self.kernel = kernel
        self.pieces = pieces
        self.starts = {name: pieces.names.get(name, SAME) for name in _handed_on(loop)}
        self.ends: dict[str, Value] = {}
        self._next: dict[str, str] = {}
        for name in self.starts:
            pieces.names[name] = None  # read by its own sum only

    def take(self, small: cst.BaseSmallStatement) -> bool:
        """Read a statement that carries a name on; False where it is none."""
        if isinstance(small, cst.AugAssign) and isinstance(small.target, cst.Name):
            name = small.target.value
            if name not in self.starts:
                return False
            if not isinstance(small.operator, cst.AddAssign):
                raise self.pieces.refuse(small)
            self._fold(name, "sum", small.value)
            return True
        if not isinstance(small, cst.Assign) or not isinstance(small.targets[0].target, cst.Name):
            return False
        name, value = small.targets[0].target.value, small.value
        if name not in self.starts:
            return self._maximum_ahead(name, value)
        if isinstance(value, cst.Name) and self._next.get(name) == value.value:
            self.ends[name] = reduced("max")
            return True
        how, added = self._parts(name, value)
        if added is None:
            raise self.pieces.refuse(small)
        self._fold(name, how, added)
        return True

    def end(self) -> None:
        """Refuse a maximum that was looked ahead and never carried on."""
        if any(name not in self.ends for name in self._next):
            raise NotApplicableError(f"{self.kernel.name} does not carry its maximum on")

    def _fold(self, name: str, how: str, value: cst.BaseExpression) -> None:
        """One more piece in a sum, maximum or minimum."""
        start, given = self.starts[name], self.pieces.of(value)
        known = start is not None and (start.kind == "same" or start == Value("block", how=how))
        part = given.kind == "part" and given.how == how
        lanes = given.kind == "piece" and given.masked == NEUTRAL[how]
        again = name in self.ends
        if not known or again or not (part or lanes):
            raise self.pieces.refuse(value)
        if lanes and start is not None and start.kind == "same" and not self._blank(name):
            raise self.pieces.refuse(value)
        self.ends[name] = Value("block", how=how) if lanes else reduced(how)

    def _blank(self, name: str) -> bool:
        """Whether a block begins with the same neutral value in all lanes."""
        start = self.starts[name]
        return start is not None and start.masked in NEUTRAL.values()

    def _parts(self, name: str, value: cst.BaseExpression) -> tuple[str, cst.BaseExpression | None]:
        """The operation and what is added in ``c = c + x`` or ``c = tl.maximum(c, x)``."""
        if isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.Add):
            for one, other in ((value.left, value.right), (value.right, value.left)):
                if self._is(one, name):
                    return "sum", other
                if self._rescaled(one, name) and self._below_maximum(other):
                    return "sum", other
        for call, how in (("maximum", "max"), ("minimum", "min")):
            if isinstance(value, cst.Call) and self.kernel.is_tl(value, call):
                first, second = value.args[0].value, value.args[1].value
                if self._is(first, name):
                    return how, second
                if self._is(second, name):
                    return how, first
        return "", None

    def _maximum_ahead(self, name: str, value: cst.BaseExpression) -> bool:
        """``new = tl.maximum(old, tl.max(x))``: the maximum with this piece."""
        old = next((one for one in self.starts if names_in(value) >= {one}), None)
        how, added = self._parts(old, value) if old is not None else ("", None)
        if how != "max" or added is None or old is None:
            return False
        if self.pieces.of(added) != Value("part", how="max"):
            raise self.pieces.refuse(value)
        self._next[old] = name
        self.pieces.names[name] = reduced("max")
        return True

    def _rescaled(self, node: cst.BaseExpression, name: str) -> bool:
        """``c * tl.exp(old - new)``."""
        if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Multiply):
            return False
        code = self.kernel.view.code
        for one, other in ((node.left, node.right), (node.right, node.left)):
            scale = isinstance(other, cst.Call) and self.kernel.is_tl(other, "exp", "exp2")
            if self._is(one, name) and scale and isinstance(other, cst.Call):
                return any(
                    code(other.args[0].value).replace(" ", "") == f"{old}-{new}"
                    for old, new in self._next.items()
                )
        return False

    def _below_maximum(self, node: cst.BaseExpression) -> bool:
        """``tl.sum(tl.exp(x - new), 0)``: rescaled as the sum before it is."""
        if not isinstance(node, cst.Call) or not self.kernel.is_tl(node, "sum"):
            return False
        inner = node.args[0].value
        if not isinstance(inner, cst.Call) or not self.kernel.is_tl(inner, "exp", "exp2"):
            return False
        less = inner.args[0].value
        minus = isinstance(less, cst.BinaryOperation) and isinstance(less.operator, cst.Subtract)
        return (
            minus
            and isinstance(less, cst.BinaryOperation)
            and self.kernel.view.code(less.right) in self._next.values()
        )

    def _is(self, node: cst.BaseExpression, name: str) -> bool:
        return isinstance(node, cst.Name) and node.value == name


def _body(block: cst.BaseSuite) -> list[cst.BaseStatement]:
    return [one for one in block.body if isinstance(one, cst.BaseStatement)]


def _handed_on(loop: cst.For) -> set[str]:
    """Names that a turn of the loop reads before it gives them a value, and then changes."""
    written: set[str] = set()
    early: set[str] = set()
    for node in walk(loop.body):
        if isinstance(node, cst.Assign):
            early |= names_in(node.value) - written
            for one in node.targets:
                written |= names_in(one.target)
        elif isinstance(node, cst.AugAssign):
            early |= (names_in(node.value) | names_in(node.target)) - written
            written |= names_in(node.target)
        elif isinstance(node, cst.AnnAssign) and node.value is not None:
            early |= names_in(node.value) - written
            written |= names_in(node.target)
        elif isinstance(node, cst.Expr):
            early |= names_in(node.value) - written
    return early & written

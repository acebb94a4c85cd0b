"""Names with literal values, and comments, of a Python source (LibCST)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache

import libcst as cst
import msgspec
from libcst.metadata import ByteSpanPositionProvider, MetadataWrapper, ParentNodeProvider

from kbs_backends.variants.literals import read_python
from kbs_backends.variants.records import Binding, Comment, Form, UnreadableSourceError

_BLANK = cst.Module([])
_NEWLINE = re.compile(rb"\r\n?|\n")


class Tree:
    """A parsed source with the place of every node."""

    def __init__(self, text: str, where: str = "source") -> None:
        """Parse ``text``.

        Raises:
            UnreadableSourceError: ``text`` is not Python, with the line at which it stops being so.
        """
        try:
            module = cst.parse_module(text)
        except cst.ParserSyntaxError as problem:
            raise UnreadableSourceError(
                f"not valid Python: {problem.message}",
                where=f"{where}:{problem.raw_line}",
                remedy="correct the source",
            ) from problem
        wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
        self.text = text
        self.data = text.encode()
        self.module = wrapper.module
        self._wrapper = wrapper
        self._spans = wrapper.resolve(ByteSpanPositionProvider)
        counted = text.removeprefix("\ufeff").encode()  # LibCST counts bytes after the mark
        self._before = len(self.data) - len(counted)
        self._line_starts = [found.end() for found in _NEWLINE.finditer(counted)]

    @cached_property
    def _parents(self) -> Mapping[cst.CSTNode, cst.CSTNode]:
        """Holders of nodes; a tree that is only scanned for marks never asks for them."""
        return self._wrapper.resolve(ParentNodeProvider)

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        """Byte offsets of a node with its parentheses, without the whitespace around it."""
        span = self._spans[node]
        start = self._before + span.start
        end = start + span.length
        for left in getattr(node, "lpar", ()):
            start -= 1 + len(_BLANK.code_for_node(left.whitespace_after).encode())
        for right in getattr(node, "rpar", ()):
            end += 1 + len(_BLANK.code_for_node(right.whitespace_before).encode())
        return start, end

    def code(self, node: cst.CSTNode) -> str:
        """Text of a node."""
        start, end = self.span(node)
        return self.data[start:end].decode()

    def line(self, node: cst.CSTNode) -> int:
        """Line on which a node starts, from 1."""
        return self._line_of(self._spans[node].start)

    def end_line(self, node: cst.CSTNode) -> int:
        """Line on which a node ends, from 1."""
        span = self._spans[node]
        return self._line_of(span.start + span.length)

    def _line_of(self, offset: int) -> int:
        return bisect_right(self._line_starts, offset) + 1

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """Node that holds ``node``, None for the module."""
        return self._parents.get(node)

    def ancestors(self, node: cst.CSTNode) -> list[cst.CSTNode]:
        """Nodes that hold ``node``, nearest first."""
        found = []
        while (above := self.parent(node)) is not None:
            found.append(above)
            node = above
        return found


@lru_cache(maxsize=1 << 16)
def children_of(node: cst.CSTNode) -> tuple[cst.CSTNode, ...]:
    """Return ``node.children``, which LibCST finds by visiting the node anew on every call."""
    return tuple(node.children)


@lru_cache(maxsize=32)
def parse(text: str, where: str = "source") -> Tree:
    """Parse a source once; the tree is never changed."""
    return Tree(text, where)


class _Place(msgspec.Struct, frozen=True):
    """In which function a node stands."""

    scope: str = ""
    within_kernel: bool = False

    def named(self, scope: str) -> _Place:
        return _Place(scope, within_kernel=self.within_kernel)


class PythonScan:
    """Collects ``bindings`` and ``comments`` in the order of the source."""

    def __init__(self, tree: Tree) -> None:
        """Scan the whole tree."""
        self.tree = tree
        self.bindings: list[Binding] = []
        self.comments: list[Comment] = []
        self._lines = tree.text.split("\n")
        stack: list[tuple[cst.CSTNode, _Place]] = [(tree.module, _Place())]
        while stack:
            node, place = stack.pop()
            if isinstance(node, cst.FunctionDef):
                place = _Place(node.name.value, within_kernel=place.within_kernel or is_jit(node))
            self._read(node, place)
            stack.extend((child, place) for child in reversed(children_of(node)))
        self.bindings.sort(key=lambda binding: binding.start)

    def _read(self, node: cst.CSTNode, place: _Place) -> None:
        if isinstance(node, cst.Comment):
            self._comment(node)
        elif isinstance(node, cst.Call):
            within = place.named(launched_name(node) or place.scope)
            for argument in node.args:
                if argument.keyword is not None:
                    self._bind(argument.keyword.value, argument.value, "keyword", within)
        elif isinstance(node, cst.Assign | cst.AnnAssign):
            self._assign(node, place)
        elif isinstance(node, cst.Param) and node.default is not None:
            self._bind(node.name.value, node.default, "default", place)
        elif isinstance(node, cst.DictElement) and isinstance(node.key, cst.SimpleString):
            key = node.key.evaluated_value
            if isinstance(key, str) and key.isidentifier():
                self._bind(key, node.value, "entry", place)

    def _assign(self, node: cst.Assign | cst.AnnAssign, place: _Place) -> None:
        if isinstance(node, cst.AnnAssign):
            if isinstance(node.target, cst.Name) and node.value is not None:
                self._bind(node.target.value, node.value, "constant", place)
            return
        if len(node.targets) != 1:
            return
        target = node.targets[0].target
        if isinstance(target, cst.Name):
            self._bind(target.value, node.value, "constant", place)
        elif isinstance(target, cst.Tuple) and isinstance(node.value, cst.Tuple):
            for one, value in zip(target.elements, node.value.elements, strict=False):
                if isinstance(one.value, cst.Name):
                    self._bind(one.value.value, value.value, "constant", place)

    def _comment(self, node: cst.Comment) -> None:
        line = self.tree.line(node)
        before = self._lines[line - 1].split("#", 1)[0]
        text = node.value.lstrip("#").strip()
        self.comments.append(Comment(line=line, text=text, alone=not before.strip()))

    def _bind(self, name: str, value: cst.BaseExpression, form: Form, place: _Place) -> None:
        literal = inner_literal(value)
        if literal is None:
            return
        read = read_python(self.tree.code(literal))
        if read is None:
            return
        start, end = self.tree.span(literal)
        self.bindings.append(
            Binding(
                name=name,
                value=read,
                start=start,
                end=end,
                line=self.tree.end_line(literal),
                form=form,
                scope=place.scope,
                within_kernel=place.within_kernel,
            )
        )


def inner_literal(value: cst.BaseExpression) -> cst.BaseExpression | None:
    """Return the literal that a value is, looking into ``tl.constexpr(literal)``."""
    if isinstance(value, cst.Call) and len(value.args) == 1 and name_ends(value.func, "constexpr"):
        return inner_literal(value.args[0].value)
    if isinstance(value, cst.UnaryOperation):
        return value if isinstance(value.expression, cst.Integer | cst.Float) else None
    if isinstance(value, cst.Name):
        return value if value.value in {"True", "False"} else None
    return value if isinstance(value, cst.Integer | cst.Float | cst.SimpleString) else None


def launched_name(node: cst.Call) -> str:
    """Name of the kernel that ``kernel[grid](...)`` launches, empty for other calls."""
    if isinstance(node.func, cst.Subscript) and isinstance(node.func.value, cst.Name):
        return node.func.value.value
    return ""


def name_ends(node: cst.CSTNode, *names: str) -> bool:
    """Return whether ``node`` is one of ``names``, or an attribute of that name."""
    if isinstance(node, cst.Attribute):
        node = node.attr
    return isinstance(node, cst.Name) and node.value in names


def decorator_call(node: cst.FunctionDef, names: Sequence[str]) -> cst.Decorator | None:
    """Return the decorator with one of these last names, called or not."""
    for decorator in node.decorators:
        plain = decorator.decorator
        if name_ends(plain.func if isinstance(plain, cst.Call) else plain, *names):
            return decorator
    return None


def is_jit(node: cst.FunctionDef) -> bool:
    """Return whether a function is compiled for the GPU."""
    return decorator_call(node, ("jit", "kernel")) is not None

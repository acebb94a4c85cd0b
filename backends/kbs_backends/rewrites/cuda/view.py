"""A CUDA C++ source as rewrites look at it: kernels, parameters, accesses and launches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import msgspec
from tree_sitter import Node

from kbs_backends.rewrites.base import NotApplicableError
from kbs_backends.rewrites.cuda.names import (
    declared_name,
    declares,
    is_called,
    is_special,
    named_children,
    plain_name,
)
from kbs_backends.variants.cuda_tree import CTree, enclosing_function

_OWN_MACROS = re.compile(
    r"KBS_RESTRICT\b|KBS_CONST\b|KBS_BOUNDS\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
)
_GIVE_VALUES = ("init_declarator", "preproc_def", "function_declarator", "enumerator")
LISTS = frozenset({"argument_list", "parameter_list"})
"""Nodes that hold the sizes of ``dim3 name(...)``."""


class Param(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter of a kernel."""

    name: str
    element: str
    """Type as written, without qualifiers and stars."""
    stars: int
    const: bool
    restrict: bool
    array: bool = False
    """Written ``x[]``, a pointer all the same."""
    volatile: bool = False
    start: int
    """Byte offset of the declaration."""
    name_start: int


class Kernel:
    """A ``__global__`` function."""

    def __init__(self, view: View, node: Node, name: str) -> None:
        """Read the parameters."""
        self.view = view
        self.node = node
        self.name = name
        body = node.child_by_field_name("body")
        if body is None:
            raise NotApplicableError(f"{name} has no body")
        self.body: Node = body
        self.params = {one.name: one for one in _params(view, node)}

    @property
    def name_start(self) -> int:
        """Byte offset of the name in the definition."""
        here = self.node.child_by_field_name("declarator")
        while here is not None and here.type != "identifier":
            here = here.child_by_field_name("declarator")
        return here.start_byte if here is not None else self.node.start_byte

    def walk(self, *types: str) -> Iterator[Node]:
        """Nodes of the body."""
        return self.view.tree.walk(self.body, *types)

    def uses(self, name: str) -> list[Node]:
        """Places of the body where a name stands."""
        code = self.view.code
        return [node for node in self.walk("identifier") if code(node) == name]

    def launches(self) -> list[Launch]:
        """Launches of this kernel in the file."""
        return [one for one in self.view.launches if one.kernel == self.name]


class Launch:
    """``kernel<<<grid, block>>>(...)``."""

    def __init__(self, view: View, node: Node) -> None:
        """Read the parts of the call."""
        called = node.prev_sibling
        self.kernel = plain_name(view.tree, called) if called is not None else ""
        parts = named_children(node)
        self.grid: Node | None = parts[0] if parts else None
        self.block: Node | None = parts[1] if len(parts) > 1 else None
        self.shared: Node | None = parts[2] if len(parts) > 2 else None  # noqa: PLR2004
        self.called = called
        self.host = enclosing_function(node)
        given = node.next_sibling
        self.arguments = named_children(given) if given is not None else []


class View:
    """Kernels and launches of a source."""

    def __init__(self, text: str) -> None:
        """Parse, with the macros that rewrites put into declarations read as what they are."""
        self.text = text
        self.data = text.encode()
        self.tree = CTree(_OWN_MACROS.sub(_plain, text))
        self._constants: dict[tuple[str, int], Node | None] = {}
        self.kernels: list[Kernel] = []
        self.functions: dict[str, list[Node]] = {}
        """Definitions by plain name; overloads and specialisations stand beside each other."""
        self.macros: dict[str, list[str]] = {}
        """What stands for a macro's name, one text a definition."""
        for node in self.tree.walk(None, "function_definition"):
            head = self.tree.code(node).split("{", 1)[0]
            name = declared_name(self.tree, node)
            self.functions.setdefault(name, []).append(node)
            if "__global__" in head and name and not node.has_error and not is_special(node):
                self.kernels.append(Kernel(self, node, name))
        for node in self.tree.walk(None, "preproc_def", "preproc_function_def"):
            named, value = (node.child_by_field_name(field) for field in ("name", "value"))
            if named is not None:
                text = self.code(value) if value is not None else ""
                self.macros.setdefault(self.code(named), []).append(text)
        self.launches = [Launch(self, one) for one in self.tree.walk(None, "kernel_call_syntax")]

    def code(self, node: Node) -> str:
        """Text of a node."""
        return self.data[node.start_byte : node.end_byte].decode()

    def told_again(self, name: str) -> bool:
        """Return whether a function stands a second time: declared, overloaded or specialised."""
        told = self.tree.walk(None, "function_declarator")
        names = [
            plain_name(self.tree, one.child_by_field_name("declarator") or one) for one in told
        ]
        return names.count(name) > 1

    def passed_on(self, name: str) -> bool:
        """Return whether a function is used other than by a call, so that others may call it."""
        for node in self.tree.walk(None, "identifier"):
            if (
                self.code(node) == name
                and not is_called(self.tree, node)
                and not self._is_own(node)
            ):
                return True
        texts = (text for listed in self.macros.values() for text in listed)
        return any(re.search(rf"\b{name}\b", text) for text in texts)

    def _is_own(self, node: Node) -> bool:
        """Return whether a name is that of a parameter or local of its function."""
        function, name = enclosing_function(node), self.code(node)
        return function is not None and any(
            self.code(one) == name and declares(one)
            for one in self.tree.walk(function, "identifier")
        )

    def span(self, node: Node) -> tuple[int, int]:
        """Byte offsets of a node."""
        return node.start_byte, node.end_byte

    def line_start(self, node: Node) -> int:
        """Byte offset at which the line of a node starts."""
        return self.data.rfind(b"\n", 0, node.start_byte) + 1

    def first_on_line(self, node: Node) -> bool:
        """Return whether only blanks stand before a node on its line."""
        return not self.data[self.line_start(node) : node.start_byte].strip()

    def indent(self, node: Node) -> str:
        """Blanks before the first thing on a node's line."""
        line = self.data[self.line_start(node) : node.start_byte].decode()
        return line[: len(line) - len(line.lstrip())]

    def constant(self, name: str, scope: Node | None) -> Node | None:
        """Value of a name that is set once: a local of ``scope``, a global or a macro."""
        key = (name, scope.start_byte if scope is not None else -1)
        if key not in self._constants:
            self._constants[key] = self._constant(name, scope)
        return self._constants[key]

    def _constant(self, name: str, scope: Node | None) -> Node | None:
        for place in (scope, None):
            if place is None or scope is not None:
                found = list(self.values(name, place))
                if found:
                    return found[0] if len(found) == 1 and not self._changed(name, scope) else None
        return None

    def values(self, name: str, place: Node | None) -> Iterator[Node]:
        """Values that a name is declared with in a function, or at file level."""
        for node in self.tree.walk(place, *_GIVE_VALUES):
            if node.type == "function_declarator" and place is not None:
                yield from self._seeming_function(name, node)
            field = "declarator" if node.type == "init_declarator" else "name"
            target = node.child_by_field_name(field)
            value = node.child_by_field_name("value")
            if target is None or value is None or self.code(target) != name:
                continue
            if place is not None or enclosing_function(node) is None:
                yield value

    def _seeming_function(self, name: str, node: Node) -> Iterator[Node]:
        """``dim3 block(THREADS);`` reads as the declaration of a function."""
        target, given = (node.child_by_field_name(f) for f in ("declarator", "parameters"))
        declared = node.parent is not None and node.parent.type == "declaration"
        if declared and target is not None and given is not None and self.code(target) == name:
            yield given

    def _changed(self, name: str, scope: Node | None) -> bool:
        return scope is not None and any(
            self.code(left) == name
            for node in self.tree.walk(scope, "assignment_expression", "update_expression")
            if (left := node.child_by_field_name("left") or node.child_by_field_name("argument"))
        )


@lru_cache(maxsize=16)
def _view(text: str) -> View:
    return View(text)


def view_of(text: str) -> View:
    """Return the view of a source that has CUDA kernels.

    Raises:
        NotApplicableError: It has none that can be read.
    """
    view = _view(text)
    if not view.kernels:
        raise NotApplicableError("the file has no __global__ function that can be read")
    return view


def _plain(match: re.Match[str]) -> str:
    text = match[0]
    if text == "KBS_RESTRICT":
        return "__restrict__"
    return ("const" if text == "KBS_CONST" else "").ljust(len(text))


def _params(view: View, node: Node) -> Iterator[Param]:
    for declared in view.tree.walk(node.child_by_field_name("declarator"), "parameter_declaration"):
        here = declared.child_by_field_name("declarator")
        kind = declared.child_by_field_name("type")
        stars, restrict, array = 0, False, False
        while here is not None and here.type != "identifier":
            stars += here.type in {"pointer_declarator", "array_declarator"}
            array |= here.type == "array_declarator"
            restrict |= any("restrict" in view.tree.code(child) for child in here.children[:2])
            inner = here.child_by_field_name("declarator")
            here = inner
        if here is None or kind is None:
            continue
        qualifiers = [c for c in declared.children if c.type == "type_qualifier"]
        yield Param(
            name=view.code(here),
            element=view.code(kind),
            stars=stars,
            const=any(view.tree.code(one).strip() == "const" for one in qualifiers),
            restrict=restrict,
            array=array,
            volatile=any(view.tree.code(one).strip() == "volatile" for one in qualifiers),
            start=declared.start_byte,
            name_start=here.start_byte,
        )


def base_name(view: View, node: Node) -> str | None:
    """Array of ``x[i]`` or ``x[i][j]``; None for other expressions."""
    while node.type == "subscript_expression":
        inner = node.child_by_field_name("argument")
        if inner is None:
            return None
        node = inner
    return view.code(node) if node.type == "identifier" else None

"""A Triton source as rewrites look at it: kernels, launches, loads, stores and loops."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import libcst as cst
import msgspec

from kbs_backends.rewrites.base import NotApplicableError
from kbs_backends.variants.python_scan import Tree, children_of, decorator_call, is_jit, parse


class Launch:
    """``kernel[grid](...)`` on the host."""

    def __init__(self, view: View, call: cst.Call, target: cst.Subscript) -> None:
        """Read the parts of the call."""
        self.call = call
        self.kernel = view.tree.code(target.value)
        first, last = target.slice[0].slice, target.slice[-1].slice
        self.grid = first.value if isinstance(first, cst.Index) else first
        ends = last.value if isinstance(last, cst.Index) else last
        self.grid_span = (view.tree.span(self.grid)[0], view.tree.span(ends)[1])
        above = view.tree.ancestors(call)
        self.function = next((n for n in above if isinstance(n, cst.FunctionDef)), None)
        self.statement = next((n for n in above if isinstance(n, cst.SimpleStatementLine)), None)

    def keyword(self, name: str) -> cst.Arg | None:
        """Argument given by this name."""
        for argument in self.call.args:
            if argument.keyword is not None and argument.keyword.value == name:
                return argument
        return None

    @property
    def starred(self) -> bool:
        """Whether arguments are given by ``*`` or ``**``."""
        return any(argument.star for argument in self.call.args)


class Param(msgspec.Struct, frozen=True):
    """A parameter of a kernel."""

    name: str
    constexpr: bool


class Kernel:
    """A function compiled for the GPU."""

    def __init__(self, view: View, node: cst.FunctionDef) -> None:
        """Read name and parameters."""
        self.view = view
        self.node = node
        self.name = node.name.value
        listed = (*node.params.params, *node.params.kwonly_params)
        self.params = {
            one.name.value: Param(one.name.value, _is_constexpr(view, one)) for one in listed
        }
        starts = [view.tree.span(one)[0] for one in node.decorators]
        self.span = (min(starts, default=view.tree.span(node)[0]), view.tree.span(node)[1])

    @property
    def body(self) -> list[cst.BaseStatement]:
        """Statements, the docstring left out."""
        statements = [s for s in self.node.body.body if isinstance(s, cst.BaseStatement)]
        if statements and self.node.get_docstring() is not None:
            return statements[1:]
        return statements

    @property
    def autotuned(self) -> bool:
        """Whether configurations choose its constants and warps."""
        return decorator_call(self.node, ("autotune",)) is not None

    def walk(self) -> Iterator[cst.CSTNode]:
        """Every node of the body."""
        return walk(self.node.body)

    def calls(self, *names: str) -> list[cst.Call]:
        """Calls of ``tl.<name>``, in source order."""
        return [
            node for node in self.walk() if isinstance(node, cst.Call) and self.is_tl(node, *names)
        ]

    def is_tl(self, node: cst.CSTNode, *names: str) -> bool:
        """Return whether a node is a call of ``tl.<name>``."""
        if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
            return False
        module = self.view.tree.code(node.func.value)
        return module in self.view.tl_modules and node.func.attr.value in names

    def loops(self) -> list[cst.For]:
        """``for`` loops, in source order."""
        return [node for node in self.walk() if isinstance(node, cst.For)]


class View:
    """Kernels and launches of a source."""

    def __init__(self, text: str) -> None:
        """Parse and look."""
        self.tree: Tree = parse(text)
        self.text = text
        self.data = self.tree.data
        self.tl = _alias(self.tree, "triton.language") or ""
        self.triton = _alias(self.tree, "triton") or "triton"
        self.tl_modules = {self.tl, f"{self.tl}.math", f"{self.triton}.language"}
        nodes = list(walk(self.tree.module))
        self.kernels = {
            node.name.value: Kernel(self, node)
            for node in nodes
            if isinstance(node, cst.FunctionDef) and is_jit(node)
        }
        self.launches = [
            Launch(self, node, node.func)
            for node in nodes
            if isinstance(node, cst.Call)
            and isinstance(node.func, cst.Subscript)
            and isinstance(node.func.value, cst.Name)
            and node.func.value.value in self.kernels
        ]

    def code(self, node: cst.CSTNode) -> str:
        """Text of a node."""
        return self.tree.code(node)

    def launched(self) -> list[Kernel]:
        """Kernels that the file itself launches."""
        names = {launch.kernel for launch in self.launches}
        return [kernel for kernel in self.kernels.values() if kernel.name in names]

    def launches_of(self, kernel: Kernel) -> list[Launch]:
        """Launches of one kernel."""
        return [launch for launch in self.launches if launch.kernel == kernel.name]

    def indent(self, node: cst.CSTNode) -> str:
        """Whitespace before the line on which a node starts."""
        line = self.text.split("\n")[self.tree.line(node) - 1]
        return line[: len(line) - len(line.lstrip())]

    def line_start(self, node: cst.CSTNode) -> int:
        """Byte offset at which the line of a node starts."""
        return self.data.rfind(b"\n", 0, self.tree.span(node)[0]) + 1

    def line_end(self, node: cst.CSTNode) -> int:
        """Byte offset after the newline that ends the last line of a node."""
        found = self.data.find(b"\n", self.tree.span(node)[1])
        return len(self.data) if found < 0 else found + 1


@lru_cache(maxsize=16)
def _view(text: str) -> View:
    return View(text)


def view_of(text: str) -> View:
    """Return the view of a source that has Triton kernels.

    Raises:
        NotApplicableError: It has none, or does not import ``triton.language``.
    """
    view = _view(text)
    if not view.tl:
        raise NotApplicableError("the file does not import triton.language under a name")
    if not view.kernels:
        raise NotApplicableError("the file has no @triton.jit kernel")
    return view


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield a node and all below it, in source order."""
    stack = [node]
    while stack:
        here = stack.pop()
        yield here
        stack.extend(reversed(children_of(here)))


def argument(call: cst.Call, name: str, place: int | None = None) -> cst.Arg | None:
    """Return the argument given by name, or at a place among those given by place."""
    for one in call.args:
        if one.keyword is not None and one.keyword.value == name:
            return one
    positional = [one for one in call.args if one.keyword is None and not one.star]
    return positional[place] if place is not None and place < len(positional) else None


def axis_of(view: View, call: cst.Call) -> str:
    """Axis (as written) of a call of ``tl.program_id`` or ``tl.num_programs``."""
    found = argument(call, "axis", 0)
    return view.code(found.value) if found is not None else "0"


def names_in(node: cst.CSTNode) -> set[str]:
    """Names read or written below a node; attributes and keywords are none."""
    found = set()
    stack = [node]
    while stack:
        here = stack.pop()
        if isinstance(here, cst.Name):
            found.add(here.value)
        elif isinstance(here, cst.Attribute | cst.Arg):
            stack.append(here.value)
        else:
            stack.extend(children_of(here))
    return found


def _is_constexpr(view: View, param: cst.Param) -> bool:
    return param.annotation is not None and "constexpr" in view.code(param.annotation.annotation)


def _alias(tree: Tree, module: str) -> str | None:
    """Name under which a module is imported at file level."""
    parent, _, last = module.rpartition(".")
    for node in walk(tree.module):
        if isinstance(node, cst.Import):
            for one in node.names:
                if tree.code(one.name) == module:
                    return tree.code(one.asname.name) if one.asname is not None else module
        elif isinstance(node, cst.ImportFrom) and node.module is not None and parent:
            if tree.code(node.module) != parent or isinstance(node.names, cst.ImportStar):
                continue
            for one in node.names:
                if tree.code(one.name) == last:
                    return tree.code(one.asname.name) if one.asname is not None else last
    return None

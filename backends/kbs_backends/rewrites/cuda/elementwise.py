"""Kernels in which every thread works on elements of its own index, provably."""

from __future__ import annotations

import re
from typing import Final

from tree_sitter import Node

from kbs_backends.rewrites.base import NotApplicableError
from kbs_backends.rewrites.cuda.elements import is_read, reached_always
from kbs_backends.rewrites.cuda.names import declares
from kbs_backends.rewrites.cuda.reach import called_name, macro_words, strange_call, words_of
from kbs_backends.rewrites.cuda.view import Kernel, Param, View
from kbs_backends.variants.records import Edit, apply_edits

SIZES: Final = {
    "float": 4, "int": 4, "unsigned": 4, "unsigned int": 4, "double": 8, "half": 2, "__half": 2,
    "__nv_bfloat16": 2, "short": 2, "unsigned short": 2, "char": 1, "unsigned char": 1,
    "int8_t": 1, "uint8_t": 1, "int32_t": 4, "uint32_t": 4,
}  # fmt: skip
_OF_THREAD = re.compile(
    r"threadIdx|blockIdx|gridDim|asm|__asm\w*|static|volatile|__shared__|extern|goto"
    r"|\w*lane_?id|lanemask\w*|this_\w+|cooperative_groups|cg|tiled_partition|coalesced_threads"
    r"|__(?:shfl|ballot|any|all|activemask|match|reduce|sync|nanosleep|threadfence)\w*"
    r"|_*clock(?:64)?|_*globaltimer\w*|atomic\w*|curand\w*",
    re.IGNORECASE,
)
"""Names by which work hangs on its thread, warp or block, and not only on its element."""
_LEAVES = frozenset({"return", "goto", "break", "continue"})
_BREAKS = frozenset({"return_statement", "goto_statement", "break_statement", "continue_statement"})


class Elementwise:
    """Such a kernel: ``if (i < n) { … x[i] … }``, an early return, or a grid-stride loop."""

    def __init__(self, kernel: Kernel) -> None:
        """Read the form.

        Raises:
            NotApplicableError: The kernel has another form, with the reason.
        """
        self.kernel = kernel
        self.view = kernel.view
        self.stride = ""
        self.work: list[Node] = []
        statements = [c for c in kernel.body.children if c.is_named and c.type != "comment"]
        if not statements:
            raise NotApplicableError(f"{kernel.name} is empty")
        if statements[0].type == "for_statement" and len(statements) == 1:
            self._read_loop(statements[0])
        else:
            self._read_guarded(statements)
        self._require_no_thread()
        self._read_arrays()
        self._require_work_of_one_element()

    def _other(self, why: str) -> NotApplicableError:
        return NotApplicableError(f"{self.kernel.name} {why}")

    def _read_index(self, declaration: Node) -> None:
        declared = declaration.child_by_field_name("declarator")
        kind = declaration.child_by_field_name("type")
        if declared is None or kind is None or declared.type != "init_declarator":
            raise self._other("does not begin with its thread's index")
        if len(declaration.children_by_field_name("declarator")) > 1:
            raise self._other("declares more than its index at its beginning")
        name, value = (declared.child_by_field_name(f) for f in ("declarator", "value"))
        if name is None or value is None or name.type != "identifier":
            raise self._other("does not begin with its thread's index")
        text = "".join(self.view.code(value).split())
        parts = {part.replace("blockIdx.x*blockDim.x", "block*size") for part in text.split("+")}
        parts = {part.replace("blockDim.x*blockIdx.x", "block*size") for part in parts}
        if parts != {"block*size", "threadIdx.x"}:
            raise self._other("numbers its threads in another way than along x")
        self.index, self.first = self.view.code(name), self.view.code(value)
        self.index_type = self.view.code(kind)

    def _require_no_thread(self) -> None:
        """Several elements will share a thread: nothing may tell the threads apart."""
        for word in sorted(words_of(self.view, self.work)):
            if _OF_THREAD.fullmatch(word):
                raise self._other(f"uses {word} in its work, which is not its element's alone")

    def _require_work_of_one_element(self) -> None:
        """No call may know more than its arguments, and index and size must stay what they are."""
        called = strange_call(self.view, self.work)
        if called is not None:
            raise self._other(f"calls {called}, which may hang on the thread")
        kept = {self.index, self.bound}
        for statement in self.work:
            for node in self.view.tree.walk(statement, "identifier"):
                if self.view.code(node) in kept and (declares(node) or _may_change(node)):
                    raise self._other(f"changes {self.view.code(node)} in its work")

    def _read_guarded(self, statements: list[Node]) -> None:
        self._read_index(statements[0])
        rest = statements[1:]
        if not rest or rest[0].type != "if_statement":
            raise self._other("does not guard its index by the size")
        condition = rest[0].child_by_field_name("condition")
        branch = rest[0].child_by_field_name("consequence")
        if condition is None or branch is None or rest[0].child_by_field_name("alternative"):
            raise self._other("does not guard its index by the size")
        returns = branch.type == "return_statement" or (
            branch.type == "compound_statement"
            and [c.type for c in branch.children if c.is_named] == ["return_statement"]
        )
        self.bound = self._compared(condition, ">=" if returns else "<")
        self.work = rest[1:] if returns else self._block(branch)
        if not returns and len(rest) > 1:
            raise self._other("goes on behind its guard")

    def _read_loop(self, loop: Node) -> None:
        start = loop.child_by_field_name("initializer")
        condition, body = (loop.child_by_field_name(f) for f in ("condition", "body"))
        step = loop.child_by_field_name("update")
        if start is None or condition is None or body is None or step is None:
            raise self._other("has a loop of another form")
        self._read_index(start)
        self.bound = self._compared(condition, "<")
        left, right = (step.child_by_field_name(f) for f in ("left", "right"))
        plain = "".join(self.view.code(right).split()) if right is not None else ""
        strides = {"blockDim.x*gridDim.x", "gridDim.x*blockDim.x"}
        if left is None or self.view.code(left) != self.index or plain not in strides:
            raise self._other("does not stride by its grid")
        if "+=" not in self.view.code(step):
            raise self._other("does not stride by its grid")
        self.stride = self.view.code(right) if right is not None else ""
        self.work = self._block(body)

    def _block(self, node: Node) -> list[Node]:
        if node.type != "compound_statement":
            return [node]
        return [child for child in node.children if child.is_named]

    def _compared(self, condition: Node, operator: str) -> str:
        node = condition
        while node.type in {"condition_clause", "parenthesized_expression"}:
            node = next(child for child in node.children if child.is_named)
        parts = [node.child_by_field_name(f) for f in ("left", "operator", "right")]
        if node.type != "binary_expression" or None in parts:
            raise self._other("does not guard its index by the size")
        left, sign, right = (self.view.code(part) for part in parts if part is not None)
        if left != self.index or sign != operator or right not in self.kernel.params:
            raise self._other("does not guard its index by a parameter")
        return right

    def _read_arrays(self) -> None:
        pointers = {p.name: p for p in self.kernel.params.values() if p.stars}
        self._require_plain_macros(set(pointers))
        touched: dict[str, Param] = {}
        self.loaded: set[str] = set()
        self.stored: set[str] = set()
        self._always: set[str] = set()
        self._always_stored: set[str] = set()
        for statement in self.work:
            for node in self.view.tree.walk(statement):
                if node.type in _BREAKS:
                    raise self._other("leaves its work early")
                name = self.view.code(node) if node.type == "identifier" else ""
                if name in pointers:
                    self._access(node, pointers[name], statement)
                    touched[name] = pointers[name]
        self.arrays = list(touched.values())
        self._require_whole_groups()
        sizes = {SIZES.get(param.element, 0) for param in self.arrays}
        if len(sizes) != 1 or 0 in sizes or any(param.stars != 1 for param in self.arrays):
            raise self._other("has arrays of unlike or unknown element sizes")
        if any(param.volatile for param in self.arrays):
            raise self._other("has a volatile array, of which every access counts")
        self.bytes_per_element = sizes.pop()
        if not self.stored:
            raise self._other("stores to no array by its index")

    def _require_plain_macros(self, pointers: set[str]) -> None:
        """No macro may leave the work, or reach an array beside what is seen here."""
        for word in sorted(macro_words(self.view, self.work)):
            if word in _LEAVES:
                raise self._other(f"leaves its work early, by {word} in a macro")
            if word in pointers:
                raise self._other(f"reaches {word} in a macro")

    def _require_whole_groups(self) -> None:
        """A pack is loaded and stored whole, whatever a condition says of one element."""
        for name in (param.name for param in self.arrays):
            if name not in self._always:
                raise self._other(
                    f"reaches {name} only under a condition, beyond which it may not go so far"
                )
            if name in self.stored - self._always_stored:
                raise self._other(f"stores to {name} only under a condition")

    def _access(self, node: Node, param: Param, statement: Node) -> None:
        access = node.parent
        indices = access.child_by_field_name("indices") if access is not None else None
        if access is None or indices is None or access.child_by_field_name("argument") != node:
            hint = self._hinted(node)
            if hint:
                raise self._other(
                    f"reaches {param.name} through {hint} of an earlier rewrite: one of the two"
                )
            raise self._other(f"uses {param.name} other than by an index")
        if self.view.code(indices)[1:-1].strip() != self.index:
            raise self._other(f"reads or writes {param.name} at another place than its own index")
        user = access.parent
        if user is not None and user.type == "pointer_expression":
            raise self._other(f"takes an address in {param.name}")
        always = reached_always(self.view, access, statement)
        if always:
            self._always.add(param.name)
        sign = _written_by(self.view, access)
        if sign:
            self.stored.add(param.name)
            if always:
                self._always_stored.add(param.name)
        elif not is_read(self.view, node):
            raise self._other(f"may change an element of {param.name} otherwise than by setting it")
        if sign != "=" or not always:
            self.loaded.add(param.name)

    def _hinted(self, node: Node) -> str:
        """Name of the helper of another rewrite whose call a node stands in."""
        here: Node | None = node
        while here is not None and here.type != "compound_statement":
            if here.type == "call_expression" and called_name(self.view, here).startswith("kbs_"):
                return called_name(self.view, here)
            here = here.parent
        return ""

    def statements(self, *, packed: bool) -> list[str]:
        """Text of the work, with ``x[i]`` read from its pack where ``packed``."""
        lines = []
        for statement in self.work:
            text, edits = self.view.code(statement), []
            for node in self.view.tree.walk(statement, "subscript_expression"):
                array = node.child_by_field_name("argument")
                name = self.view.code(array) if array is not None else ""
                if packed and any(name == param.name for param in self.arrays):
                    start, end = node.start_byte, node.end_byte
                    offset = statement.start_byte
                    edits.append(Edit(start - offset, end - offset, f"kbs_{name}.v[kbs_lane]"))
            lines += apply_edits(text, edits).split("\n")
        return lines


def _written_by(view: View, access: Node) -> str:
    """Operator by which an element is set: ``=``, ``+=``, ``++``; empty where it is not."""
    user = access.parent
    sign = user.child_by_field_name("operator") if user is not None else None
    if user is None or sign is None:
        return ""
    assigned = user.type == "assignment_expression" and user.child_by_field_name("left") == access
    return view.code(sign) if assigned or user.type == "update_expression" else ""


def _may_change(name: Node) -> bool:
    """Return whether a name is assigned, counted up or down, or its address is taken."""
    above = name.parent
    if above is None:
        return False
    if above.type == "assignment_expression":
        return above.child_by_field_name("left") == name
    return above.type in {"update_expression", "pointer_expression", "reference_declarator"}

"""Names with literal values, and comments, of a CUDA C++ source (tree-sitter)."""

from __future__ import annotations

import re

from tree_sitter import Node

from kbs_backends.variants.cuda_launch import launch_literals
from kbs_backends.variants.cuda_tree import CTree, enclosing_function, function_name
from kbs_backends.variants.literals import read_c
from kbs_backends.variants.records import Binding, Comment, Form

_DEFINE_VALUE = re.compile(
    rb"\s*(?P<value>[^/\s](?:[^/]|/(?![/*]))*?)\s*(?P<comment>//.*|/\*.*)?\Z"
)
_LITERALS = frozenset({"number_literal", "true", "false", "unary_expression", "identifier"})


class CudaScan:
    """Collects ``bindings`` and ``comments`` in the order of the source."""

    def __init__(self, tree: CTree) -> None:
        """Scan the whole tree."""
        self.tree = tree
        self.bindings: list[Binding] = []
        self.comments: list[Comment] = []
        self._lines = tree.data.split(b"\n")
        self.bindings += launch_literals(tree)
        for node in tree.walk():
            if node.type == "comment":
                self._comment(node.start_byte, node.end_byte, node.start_point.row)
            elif node.type == "preproc_def":
                self._define(node)
            elif node.type == "init_declarator":
                self._declarator(node)
        self.bindings.sort(key=lambda binding: binding.start)

    def _comment(self, start: int, end: int, row: int) -> None:
        text = self.tree.data[start:end].decode()
        text = text.removeprefix("//").removeprefix("/*").removesuffix("*/")
        before = self._lines[row].split(b"//", 1)[0].split(b"/*", 1)[0]
        self.comments.append(
            Comment(line=row + 1, text=text.lstrip("/").strip(), alone=not before.strip())
        )

    def _define(self, node: Node) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or value is None:
            return
        raw = self.tree.data[value.start_byte : value.end_byte]
        match = _DEFINE_VALUE.match(raw)
        if match is None:
            return
        if match["comment"] is not None:
            start = value.start_byte + match.start("comment")
            self._comment(start, value.end_byte, value.end_point.row)
        span = (value.start_byte + match.start("value"), value.start_byte + match.end("value"))
        self._bind(self.tree.code(name), span, value.start_point.row + 1, "define", "")

    def _declarator(self, node: Node) -> None:
        name, value = node.child_by_field_name("declarator"), node.child_by_field_name("value")
        if name is None or value is None or name.type != "identifier":
            return
        if value.type not in _LITERALS:
            return
        if value.type == "identifier":  # a variable's start value, not a choice of words
            return
        span = (value.start_byte, value.end_byte)
        scope = function_name(self.tree, enclosing_function(node))
        self._bind(self.tree.code(name), span, value.end_point.row + 1, "constant", scope)

    def _bind(self, name: str, span: tuple[int, int], line: int, form: Form, scope: str) -> None:
        value = read_c(self.tree.data[span[0] : span[1]].decode())
        if value is None:
            return
        self.bindings.append(
            Binding(
                name=name,
                value=value,
                start=span[0],
                end=span[1],
                line=line,
                form=form,
                scope=scope,
            )
        )

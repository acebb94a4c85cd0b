"""A CUDA C++ source as a concrete syntax tree (tree-sitter)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from tree_sitter import Language, Node, Parser


@lru_cache(maxsize=1)
def _parser() -> Parser:
    import tree_sitter_cuda

    return Parser(Language(tree_sitter_cuda.language()))


class CTree:
    """A parsed source. A fragment that is no C++ leaves an error node and the rest is read."""

    def __init__(self, text: str) -> None:
        """Parse ``text``."""
        self.text = text
        self.data = text.encode()
        self.root = _parser().parse(self.data).root_node

    def code(self, node: Node) -> str:
        """Text of a node."""
        return self.data[node.start_byte : node.end_byte].decode()

    def walk(self, node: Node | None = None, *types: str) -> Iterator[Node]:
        """Yield every node under ``node`` (the whole file) of these types, in source order."""
        stack = [node or self.root]
        while stack:
            here = stack.pop()
            if not types or here.type in types:
                yield here
            stack.extend(reversed(here.children))


@lru_cache(maxsize=64)
def parse(text: str) -> CTree:
    """Parse a source once; the tree is never changed."""
    return CTree(text)


def enclosing_function(node: Node) -> Node | None:
    """Function definition that holds ``node``."""
    here: Node | None = node
    while here is not None and here.type != "function_definition":
        here = here.parent
    return here


def function_name(tree: CTree, function: Node | None) -> str:
    """Name of a function definition, empty for None."""
    here = function.child_by_field_name("declarator") if function is not None else None
    while here is not None and here.type != "identifier":
        here = here.child_by_field_name("declarator")
    return tree.code(here) if here is not None else ""

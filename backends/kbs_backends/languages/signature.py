"""``extern "C" void solve(...)`` of a .cu file, parsed, never guessed from text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kbs_backends.languages.base import Parameter, Signature
from kbs_engine.errors import InputError

if TYPE_CHECKING:
    from tree_sitter import Node

ENTRY = "solve"
_POINTERS = frozenset({"pointer_declarator", "abstract_pointer_declarator", "array_declarator"})
_QUALIFIERS = frozenset({"const", "volatile", "restrict", "__restrict__", "__restrict", "struct"})


def solve_signature(text: str, where: str) -> Signature:
    """The signature of ``solve`` in ``text``; ``where`` names the file in errors.

    Raises:
        InputError: No ``solve``, not ``extern "C"``, not ``void``, or a parameter that can be
            neither a device pointer nor a scalar.
    """
    found = [(node, linked) for node, linked in _functions(text) if _name(node) == ENTRY]
    if not found:
        raise InputError(
            "no function solve", where=where,
            remedy='add extern "C" void solve(...) that launches the kernel',
        )  # fmt: skip
    node, linked = next((pair for pair in found if pair[1]), found[0])
    line = node.start_point[0] + 1
    place = f"{where}:{line}"
    if not linked:
        raise InputError(
            'solve is not extern "C", so its name is mangled and cannot be found', where=place,
            remedy='write extern "C" void solve(...)',
        )  # fmt: skip
    kind = node.child_by_field_name("type")
    if kind is None or _text(kind) != "void":
        raise InputError("solve returns a value", where=place, remedy="make it return void")
    return Signature(parameters=tuple(_parameters(node, where)), line=line)


def _functions(text: str) -> Iterator[tuple[Node, bool]]:
    """Every function with a body, and whether it has C linkage."""
    import tree_sitter
    import tree_sitter_cuda

    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_cuda.language()))
    stack = [(parser.parse(text.encode()).root_node, False)]
    while stack:
        node, linked = stack.pop()
        if node.type == "function_definition":
            yield node, linked
            continue
        inside = linked or (node.type == "linkage_specification" and '"C"' in _text(node)[:16])
        stack.extend((child, inside) for child in reversed(node.children))


def _declarator(node: Node) -> Node | None:
    """The function_declarator of a definition, under pointers of its return type."""
    current = node.child_by_field_name("declarator")
    while current is not None and current.type != "function_declarator":
        current = current.child_by_field_name("declarator")
    return current


def _name(node: Node) -> str:
    declarator = _declarator(node)
    name = declarator.child_by_field_name("declarator") if declarator is not None else None
    return _text(name) if name is not None else ""


def _parameters(node: Node, where: str) -> Iterator[Parameter]:
    declarator = _declarator(node)
    listed = declarator.child_by_field_name("parameters") if declarator is not None else None
    children = listed.named_children if listed is not None else []
    if listed is not None and any(child.type == "..." for child in listed.children):
        raise _unusual(listed, where)
    for number, child in enumerate(children):
        if child.type == "comment" or _text(child) == "void":
            continue
        if child.type not in ("parameter_declaration", "optional_parameter_declaration"):
            raise _unusual(child, where)
        yield _parameter(child, number, where)


def _parameter(node: Node, number: int, where: str) -> Parameter:
    kind = node.child_by_field_name("type")
    current = node.child_by_field_name("declarator")
    stars = 0
    while current is not None and current.type != "identifier":
        if current.type in _POINTERS:
            stars += 1
        elif current.type != "parenthesized_declarator":
            raise _unusual(node, where)
        current = current.child_by_field_name("declarator")
    if kind is None or stars > 1:
        raise _unusual(node, where)
    qualifiers = {_text(child) for child in node.children if child.type == "type_qualifier"}
    words = [word for word in _text(kind).split() if word not in _QUALIFIERS]
    return Parameter(
        name=_text(current) if current is not None else f"argument{number}",
        type=" ".join(words),
        pointer=stars == 1,
        const="const" in qualifiers,
    )


def _unusual(node: Node, where: str) -> InputError:
    return InputError(
        f"solve takes {_text(node)!r}, which is neither one pointer nor a scalar",
        where=f"{where}:{node.start_point[0] + 1}",
        remedy="take device pointers and scalars (int, long, size_t, float, double, bool)",
    )


def _text(node: Node) -> str:
    return (node.text or b"").decode()

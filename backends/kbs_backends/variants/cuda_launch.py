"""Numbers of threads that stand as literals in a CUDA launch."""

from __future__ import annotations

from tree_sitter import Node

from kbs_backends.variants.cuda_tree import CTree, enclosing_function, function_name
from kbs_backends.variants.literals import read_c
from kbs_backends.variants.records import Binding


def launch_literals(tree: CTree) -> list[Binding]:
    """Return block sizes written as a literal in ``<<<grid, 256>>>`` or ``dim3 block(256)``.

    One that stands a second time in the launching function (``(n + 255) / 256``) or in a kernel
    is left out: changing one of the two alone would be wrong.
    """
    found = []
    for call in tree.walk(None, "kernel_call_syntax"):
        parts = [child for child in call.children if child.is_named]
        kernel = call.prev_sibling
        if len(parts) <= 1 or kernel is None:
            continue
        literal = _literal(tree, parts[1], call)
        if literal is None or _stands_elsewhere(tree, literal, call):
            continue
        value = read_c(tree.code(literal))
        if isinstance(value, int):
            name = tree.code(kernel).split("<", 1)[0]
            found.append(_binding(literal, f"{name}.block", value))
    return list({binding.start: binding for binding in found}.values())


def _binding(literal: Node, name: str, value: int) -> Binding:
    return Binding(
        name=name,
        value=value,
        start=literal.start_byte,
        end=literal.end_byte,
        line=literal.end_point.row + 1,
        form="argument",
    )


def _literal(tree: CTree, block: Node, call: Node) -> Node | None:
    if block.type == "number_literal":
        return block
    if block.type != "identifier":
        return None
    name = tree.code(block)
    for declarator in tree.walk(enclosing_function(call), "init_declarator"):
        target = declarator.child_by_field_name("declarator")
        value = declarator.child_by_field_name("value")
        if target is None or value is None or tree.code(target) != name:
            continue
        sizes = [child for child in value.children if child.is_named]
        one_dimensional = all(tree.code(size) == "1" for size in sizes[1:])
        if value.type == "argument_list" and sizes and one_dimensional:
            return sizes[0] if sizes[0].type == "number_literal" else None
    return None


def _stands_elsewhere(tree: CTree, literal: Node, call: Node) -> bool:
    size = read_c(tree.code(literal))
    host = enclosing_function(call)
    for function in tree.walk(None, "function_definition"):
        kernel = "__global__" in tree.code(function).split("(", 1)[0]
        if not kernel and function != host:
            continue
        for number in tree.walk(function, "number_literal"):
            same = read_c(tree.code(number))
            beside = isinstance(size, int) and same in (size, size - 1)
            if beside and number.start_byte != literal.start_byte:
                return True
    return bool(function_name(tree, host) == "")

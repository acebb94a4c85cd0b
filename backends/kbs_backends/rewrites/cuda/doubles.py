"""Doubles of a kernel that are more than numbers: their bytes, their addresses, their range."""

from __future__ import annotations

import re

from tree_sitter import Node

from kbs_backends.rewrites.cuda.names import declares
from kbs_backends.rewrites.cuda.reach import called_name, parameters
from kbs_backends.rewrites.cuda.view import Kernel, View

_BITS = re.compile(
    r"__double_as_longlong|__longlong_as_double|__double2(?:hi|lo)int|__hiloint2double"
    r"|mem(?:cpy|cmp|set|move)|\w*bit_cast|reinterpret_cast"
)
_LARGEST, _SMALLEST = 3.4028234663852886e38, 1.1754943508222875e-38
"""Of the normal numbers of fp32."""
_SAME_TYPES = frozenset({"min", "max", "clamp", "swap", "exchange"})
"""Templates of ``std`` that want their arguments of one type."""


def more_than_numbers(view: View, kernel: Kernel) -> str:
    """Say what single precision would break in a kernel; empty where nothing is found."""
    if _is_given_doubles(view, kernel):
        return f"{kernel.name} is given doubles"
    for node in kernel.walk(*_LOOKED_AT):
        reason = _LOOKED_AT[node.type](view, kernel, node)
        if reason:
            return f"{kernel.name} {reason}"
    for name in wide_names(view, kernel):
        if any(_address_leaves(view, use) for use in kernel.uses(name)):
            return f"{kernel.name} takes the address of {name}, a double"
    return ""


def beyond_single(text: str) -> bool:
    """Return whether a literal is no normal number in fp32."""
    value = abs(float(text))
    return value > _LARGEST or 0 < value < _SMALLEST


def wide_names(view: View, kernel: Kernel) -> list[str]:
    """Locals of a kernel that are declared double."""
    found = []
    for node in kernel.walk("declaration"):
        kind = node.child_by_field_name("type")
        if kind is not None and view.code(kind) == "double":
            found += [view.code(n) for n in view.tree.walk(node, "identifier") if declares(n)]
    return list(dict.fromkeys(found))


def in_pasting_macro(view: View, node: Node) -> bool:
    """Return whether a node is an argument of a macro of the file that works on its spelling."""
    here = node.parent
    while here is not None and here.type != "function_definition":
        if here.type == "call_expression" and _pastes(view, called_name(view, here), ()):
            return True
        here = here.parent
    return False


def _pastes(view: View, name: str, seen: tuple[str, ...]) -> bool:
    texts = view.macros.get(name, []) if name not in seen else []
    return any(
        "#" in text or any(_pastes(view, word, (*seen, name)) for word in re.findall(r"\w+", text))
        for text in texts
    )


def _is_given_doubles(view: View, kernel: Kernel) -> bool:
    kinds = {param.element for param in kernel.params.values()}
    if "double" in kinds:
        return True
    for node in view.tree.walk(None, "struct_specifier", "class_specifier"):
        name = node.child_by_field_name("name")
        known = name is not None and view.code(name) in kinds
        if known and re.search(r"\bdouble\s*(?:const\s*)?\*", view.code(node)):
            return True
    for node in view.tree.walk(None, "template_function"):
        name, given = (node.child_by_field_name(field) for field in ("name", "arguments"))
        own = name is not None and view.code(name) == kernel.name
        if own and given is not None and re.search(r"\bdouble\b", view.code(given)):
            return True
    return False


def _is_wide(view: View, kernel: Kernel, node: Node) -> bool:
    words = set(re.findall(r"\w+", view.code(node)))
    return bool(words & {"double", *wide_names(view, kernel)})


def _of_bytes(view: View, kernel: Kernel, node: Node) -> str:
    wide = _is_wide(view, kernel, node)
    return f"looks at the bytes of a double: {_short(view, node)}" if wide else ""


def _of_assembly(view: View, _: Kernel, node: Node) -> str:
    wide = re.search(r'"[=+]?d"', view.code(node))
    return "gives assembly a double" if wide else ""


def _of_type(view: View, _: Kernel, node: Node) -> str:
    wide = view.code(node) == "double" and _points(view, node)
    return "has a pointer to double or memory that others lay out" if wide else ""


def _of_call(view: View, kernel: Kernel, call: Node) -> str:
    name, text = called_name(view, call), view.code(call)
    if _BITS.fullmatch(name) and _is_wide(view, kernel, call):
        return f"looks at the bytes of a double: {_short(view, call)}"
    listed = call.child_by_field_name("arguments")
    if not text.startswith("std::") or name not in _SAME_TYPES or listed is None:
        return ""
    own = {view.code(n) for n in kernel.walk("identifier") if declares(n)} | set(kernel.params)
    for node in view.tree.walk(listed, "identifier"):
        if view.code(node) not in own:
            return f"calls std::{name} with {view.code(node)}, which may stay a double"
    return ""


def _points(view: View, kind: Node) -> bool:
    """``double* p``, ``(double*)q``, ``extern __shared__ double s[]``."""
    above = kind.parent
    if above is None or above.type not in {"declaration", "type_descriptor"}:
        return False
    text = view.code(above)
    types = ("pointer_declarator", "abstract_pointer_declarator")
    return any(view.tree.walk(above, *types)) or text.startswith("extern")


def _address_leaves(view: View, use: Node) -> bool:
    """Return whether a double is used by its address, or bound where a double is wanted."""
    here = use
    while here.parent is not None and here.parent.type == "subscript_expression":
        here = here.parent
    above = here.parent
    by_address = above is not None and above.type == "pointer_expression"
    if above is not None and by_address:
        if not view.code(above).startswith("&"):
            return False
        here, above = above, above.parent
    call = above.parent if above is not None and above.type == "argument_list" else None
    if call is None or call.type != "call_expression" or above is None:
        return by_address
    functions = view.functions.get(called_name(view, call), [])
    place = [child for child in above.children if child.is_named].index(here)
    for function in functions:
        text = "".join(view.code(one) for one in list(parameters(function))[place : place + 1])
        if "double" in text and set(text) & set("*&["):
            return True
    return by_address and not functions


def _short(view: View, node: Node) -> str:
    return " ".join(view.code(node).split())[:40]


_LOOKED_AT = {
    "union_specifier": _of_bytes,
    "sizeof_expression": _of_bytes,
    "alignof_expression": _of_bytes,
    "gnu_asm_expression": _of_assembly,
    "call_expression": _of_call,
    "primitive_type": _of_type,
}

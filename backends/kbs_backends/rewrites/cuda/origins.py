"""Arrays that an expression of the host may lead to: followed through names, fields and calls."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tree_sitter import Node

from kbs_backends.rewrites.cuda.names import declares, named_children, plain_name
from kbs_backends.rewrites.cuda.reach import called_name, parameters, takes_by_value
from kbs_backends.rewrites.cuda.view import View
from kbs_backends.variants.cuda_tree import enclosing_function, function_name

UNKNOWN = "?"
PLAIN = frozenset(
    {"float", "double", "int", "unsigned", "unsigned int", "long", "long long", "size_t", "bool"}
    | {"unsigned long long", "half", "__half", "__nv_bfloat16", "char", "unsigned char", "short"}
    | {"int32_t", "int64_t", "uint32_t", "uint64_t", "unsigned long", "dim3"}
)
_LOOKED_THROUGH = {
    "parenthesized_expression": (),
    "cast_expression": ("value",),
    "pointer_expression": ("argument",),
    "subscript_expression": ("argument",),
    "conditional_expression": ("consequence", "alternative"),
    "initializer_list": (),
    "argument_list": (),
    "compound_literal_expression": ("value",),
}
"""Expressions whose array is among those of their parts; all parts where none is named."""
_FRESH = re.compile(
    r"(?:empty|zeros|ones|full|rand|randn|arange)(?:_like)?\Z|[mc]alloc\Z|new_\w+\Z"
)
_GIVES_POINTERS = frozenset({"data_ptr", "data", "get", "mutable_data_ptr", "const_data_ptr"})
_ALLOCATES = re.compile(r"cuda\w*(?:Malloc|Alloc|Free)\w*\Z|printf\Z")
_OF_SYMBOL = re.compile(r"cudaGetSymbolAddress\Z")
_NO_ARRAYS = frozenset({"number_literal", "null", "true", "false", "sizeof_expression", "comment"})


def parameter_name(view: View, declared: Node) -> str:
    """Name of a declared parameter; empty where it has none."""
    named = [n for n in view.tree.walk(declared, "identifier") if declares(n)]
    return view.code(named[0]) if named else ""


def origins(
    view: View, node: Node, host: Node | None, seen: frozenset[str] = frozenset()
) -> frozenset[str]:
    """Arrays that an expression may lead to: ``@x`` for a parameter, others by their name."""
    if node.type in _NO_ARRAYS:
        return frozenset()
    if node.type == "new_expression":
        return frozenset({f"new {node.start_byte}"})
    if node.type == "identifier":
        return _of_name(view, view.code(node), host, seen)
    if node.type in _FOLLOWED:
        return _FOLLOWED[node.type](view, node, host, seen)
    return _of_parts(view, node, host, seen)


def _of_parts(view: View, node: Node, host: Node | None, seen: frozenset[str]) -> frozenset[str]:
    if node.type not in _LOOKED_THROUGH:
        return frozenset({UNKNOWN})
    fields = _LOOKED_THROUGH[node.type]
    parts: Iterable[Node | None] = (
        (node.child_by_field_name(field) for field in fields)
        if fields
        else (child for child in node.children if child.is_named)
    )
    return frozenset().union(
        *(origins(view, part, host, seen) for part in parts if part is not None)
    )


def _of_sum(view: View, node: Node, host: Node | None, seen: frozenset[str]) -> frozenset[str]:
    """``x + n`` and ``n + x``: the pointer among them, both sides where none is known to be one."""
    sides = [side for f in ("left", "right") if (side := node.child_by_field_name(f)) is not None]
    pointers = [side for side in sides if _is_pointer(view, side, host)]
    return frozenset().union(*(origins(view, one, host, seen) for one in pointers or sides))


def _is_pointer(view: View, node: Node, host: Node | None) -> bool:
    if node.type in {"parenthesized_expression", "binary_expression"}:
        return any(_is_pointer(view, part, host) for part in named_children(node))
    if node.type == "cast_expression":
        kind = node.child_by_field_name("type")
        return kind is not None and "*" in view.code(kind)
    if node.type == "call_expression":
        return called_name(view, node) in _GIVES_POINTERS
    declared = _declared(view, view.code(node), host) if node.type == "identifier" else []
    return bool(declared) and all(
        one.parent is not None and one.parent.type == "pointer_declarator" for one in declared
    )


def _of_field(view: View, node: Node, host: Node | None, seen: frozenset[str]) -> frozenset[str]:
    """``p.x``: an array of its own where the entry is given ``p``."""
    owner, field = (node.child_by_field_name(f) for f in ("argument", "field"))
    if owner is None or field is None:
        return frozenset({UNKNOWN})
    atoms = origins(view, owner, host, seen)
    given = f"@{view.code(owner)}"
    if given not in atoms or _is_changed(view, view.code(owner), host):
        return atoms
    name = plain_name(view.tree, field)
    return frozenset(f"{atom}.{name}" if atom == given else atom for atom in atoms)


def _is_changed(view: View, owner: str, host: Node | None) -> bool:
    """Return whether a struct's fields may be set in a function, or by its own methods."""
    methods = (
        called.child_by_field_name("argument")
        for call in view.tree.walk(host, "call_expression")
        if (called := call.child_by_field_name("function")) is not None
        and called.type == "field_expression"
    )
    called_on = any(one is not None and view.code(one) == owner for one in methods)
    return called_on or bool(given_to(view, owner, host))


def _of_call(view: View, node: Node, host: Node | None, seen: frozenset[str]) -> frozenset[str]:
    """``static_cast<T*>(x)``, ``x.data_ptr<T>()``, ``torch::empty_like(x)``."""
    called, arguments = (node.child_by_field_name(f) for f in ("function", "arguments"))
    if _FRESH.match(name := called_name(view, node)) and name not in view.functions:
        return frozenset({f"new {node.start_byte}"})
    if called is not None and called.type == "field_expression":
        return origins(view, called, host, seen)
    if arguments is not None and name.endswith("_cast"):
        return origins(view, arguments, host, seen)
    return frozenset({UNKNOWN})


def _of_name(view: View, name: str, host: Node | None, seen: frozenset[str]) -> frozenset[str]:
    if name in seen:
        return frozenset()
    own = _declared(view, name, host) if host is not None else []
    if host is not None and own:
        if not all(_is_plainly(one, host) for one in own):
            return frozenset({UNKNOWN})
    elif not any(enclosing_function(one) is None for one in _declared(view, name, None)):
        return frozenset({UNKNOWN})
    place = host if own else None
    if _is_lent(view, name, place):
        return frozenset({UNKNOWN})
    found: frozenset[str] = frozenset().union(
        *(origins(view, one, place or host, seen | {name}) for one in given_to(view, name, place))
    )
    if host is not None and name in {parameter_name(view, p) for p in parameters(host)}:
        return found | {f"@{name}"}
    return found or frozenset({f"{function_name(view.tree, place)} {name}"})


def _declared(view: View, name: str, place: Node | None) -> list[Node]:
    names = view.tree.walk(place, "identifier")
    return [one for one in names if view.code(one) == name and declares(one)]


def _is_plainly(name: Node, host: Node) -> bool:
    """Return whether a name is a local or a parameter of ``host``, not of a lambda or a range."""
    here = name.parent
    while here is not None and here != host:
        if here.type in {"lambda_expression", "for_range_loop"}:
            return False
        here = here.parent
    return True


def given_to(view: View, name: str, place: Node | None) -> list[Node]:
    """Every value that a name is set to in a function, or anywhere; a call that may set it too."""
    found = []
    for node in view.tree.walk(place, "init_declarator", "assignment_expression"):
        target = node.child_by_field_name("declarator") or node.child_by_field_name("left")
        value = node.child_by_field_name("value") or node.child_by_field_name("right")
        if target is None or value is None or _base(view, target) != name:
            continue
        element = target.type in {"subscript_expression", "pointer_expression"}
        if not element or _has_addresses(view, name, place):
            found.append(value)
    for call in view.tree.walk(place, "call_expression"):
        found += _set_by(view, call, name)
    return found


def _has_addresses(view: View, name: str, place: Node | None) -> bool:
    """Return whether the elements of an array may be addresses: they are no plain numbers."""
    for one in _declared(view, name, place) or _declared(view, name, None):
        above, depth = one.parent, 0
        while above is not None and above.child_by_field_name("type") is None:
            depth += above.type in {"pointer_declarator", "array_declarator"}
            above = above.parent
        kind = above.child_by_field_name("type") if above is not None else None
        if depth > 1 or kind is None or view.code(kind) not in PLAIN:
            return True
    return False


def _set_by(view: View, call: Node, name: str) -> list[Node]:
    """What a call may set a name to: the other one of ``swap(a, b)``, or the call's own doing."""
    listed = call.child_by_field_name("arguments")
    arguments = named_children(listed) if listed is not None else []
    called = called_name(view, call)
    for place, argument in enumerate(arguments):
        given = _within_casts(argument)
        if _base(view, given) != name or called.endswith("_cast"):
            continue
        address = _is_address(view, given)
        if called == "swap":
            return arguments
        if address and _OF_SYMBOL.match(called):
            return arguments[1:2]
        if address and not _ALLOCATES.match(called):
            return [call]
        own = called in view.functions or called in view.macros
        whole = given.type in {"identifier", "field_expression"}
        if own and whole and not takes_by_value(view, call, place):
            return [call]
    return []


def _is_lent(view: View, name: str, place: Node | None) -> bool:
    """Return whether a name may be set through a reference or a pointer to it."""
    for node in view.tree.walk(place, "pointer_expression"):
        if _is_address(view, node) and _base(view, node) == name:
            here = node.parent
            while here is not None and _casts(view, here):
                here = here.parent
            if here is None or here.type != "argument_list":
                return True
    for node in view.tree.walk(place, "init_declarator"):
        declared, value = (node.child_by_field_name(f) for f in ("declarator", "value"))
        bound = declared is not None and "&" in view.code(declared)
        constant = node.parent is not None and view.code(node.parent).startswith("const ")
        if bound and not constant and value is not None and _base(view, value) == name:
            return True
    return False


def _casts(view: View, node: Node) -> bool:
    """Return whether a node is a cast, brackets, or the arguments of ``…_cast<T>(…)``."""
    if node.type == "argument_list" and node.parent is not None:
        node = node.parent
    if node.type == "call_expression":
        return called_name(view, node).endswith("_cast")
    return node.type in {"cast_expression", "parenthesized_expression"}


def _within_casts(node: Node) -> Node:
    """What is cast or stands in brackets."""
    here = node
    while True:
        arguments = here.child_by_field_name("arguments")
        called = here.child_by_field_name("function")
        inner = [here.child_by_field_name("value")] if here.type == "cast_expression" else []
        if here.type == "parenthesized_expression":
            inner = list(named_children(here))
        elif called is not None and arguments is not None and b"_cast" in (called.text or b""):
            inner = list(named_children(arguments))
        if len(inner) != 1 or inner[0] is None:
            return here
        here = inner[0]


def _is_address(view: View, node: Node) -> bool:
    """``&p`` and ``&s.p``, the place of a pointer; ``&p[0]`` is a place in its array."""
    inner = node.child_by_field_name("argument")
    if node.type != "pointer_expression" or inner is None:
        return False
    return view.code(node).startswith("&") and inner.type != "subscript_expression"


def _base(view: View, target: Node) -> str:
    """Name of what is declared or assigned: ``p`` of ``p.x`` and of ``*p``."""
    here: Node | None = target
    while here is not None and here.type != "identifier":
        inner = here.child_by_field_name("declarator") or here.child_by_field_name("argument")
        here = inner or next((child for child in here.children if child.type == "identifier"), None)
    return view.code(here) if here is not None else ""


_FOLLOWED = {
    "call_expression": _of_call,
    "field_expression": _of_field,
    "binary_expression": _of_sum,
}

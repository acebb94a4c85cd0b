"""Whether two arrays of a kernel may be one: arguments followed through the host's functions."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tree_sitter import Node

from kbs_backends.rewrites.cuda.names import declares, named_children, plain_name
from kbs_backends.rewrites.cuda.reach import called_name, parameters
from kbs_backends.rewrites.cuda.view import Kernel, Launch, Param, View
from kbs_backends.variants.cuda_tree import enclosing_function, function_name

_UNKNOWN = "?"
_DEEPEST = 8
"""Calls behind each other; more, or a function that calls itself, is not followed."""
_PLAIN = frozenset(
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
    "binary_expression": ("left",),
    "initializer_list": (),
    "argument_list": (),
    "compound_literal_expression": ("value",),
}
"""Expressions whose array is among those of their parts; all parts where none is named."""
_FRESH = re.compile(
    r"(?:empty|zeros|ones|full|rand|randn|arange)(?:_like)?\Z|[mc]alloc\Z|new_\w+\Z"
)
_ALLOCATES = re.compile(r"cuda\w*(?:Malloc|Alloc|Free|GetSymbolAddress)\w*\Z|printf\Z")
_NO_ARRAYS = frozenset({"number_literal", "null", "true", "false", "sizeof_expression", "comment"})


def aliased(view: View, kernel: Kernel) -> str:
    """Say why two arrays of a kernel may be the same, empty where they are not.

    Buffers that the caller gives to the entry of the file are distinct; no others are taken to be.
    """
    if sum(_may_hold(param) for param in kernel.params.values()) < 2:  # noqa: PLR2004
        return ""
    if any(param.stars > 1 for param in kernel.params.values()):
        return f"{kernel.name} is given pointers to pointers, which may lead to one array"
    if view.passed_on(kernel.name):
        return f"{kernel.name} is launched through a pointer, with arrays that cannot be followed"
    for launch in kernel.launches():
        given = [
            origins(view, argument, launch.host)
            for param, argument in zip(kernel.params.values(), launch.arguments, strict=False)
            if _may_hold(param)
        ]
        if _meet(view, launch.host, given, ()):
            return _told(view, kernel, launch, given)
    return ""


def _may_hold(param: Param) -> bool:
    """Return whether a parameter is a pointer or may hold one."""
    return param.stars > 0 or param.element not in _PLAIN


def _told(view: View, kernel: Kernel, launch: Launch, given: list[frozenset[str]]) -> str:
    if any(_UNKNOWN in one for one in given):
        return f"an argument of {kernel.name} cannot be followed to its array"
    if _shared(given):
        return f"{kernel.name} is given one array twice"
    host = function_name(view.tree, launch.host)
    return f"{kernel.name} is given one array twice by a caller of {host}"


def _shared(given: list[frozenset[str]]) -> bool:
    return any(one & other for at, one in enumerate(given) for other in given[at + 1 :])


def _meet(
    view: View, host: Node | None, given: list[frozenset[str]], seen: tuple[str, ...]
) -> bool:
    """Return whether two of these sets share an array in a call of ``host``."""
    name = function_name(view.tree, host)
    if any(_UNKNOWN in one for one in given) or _shared(given):
        return len(given) > 1
    if len(given) < 2 or not any(atom.startswith("@") for one in given for atom in one):  # noqa: PLR2004
        return False
    if host is None or name in seen or len(seen) > _DEEPEST or view.passed_on(name):
        return True
    names = [_parameter_name(view, one) for one in parameters(host)]
    for call in _calls(view, name):
        arguments = call.child_by_field_name("arguments")
        listed = named_children(arguments) if arguments is not None else []
        above = enclosing_function(call)
        bound = {
            f"@{param}": origins(view, argument, above)
            for param, argument in zip(names, listed, strict=False)
        }
        passed = [
            frozenset().union(*(bound.get(a.split(".", 1)[0], frozenset({a})) for a in one))
            for one in given
        ]
        if _meet(view, above, passed, (*seen, name)):
            return True
    return False


def _calls(view: View, name: str) -> list[Node]:
    return [
        one for one in view.tree.walk(None, "call_expression") if called_name(view, one) == name
    ]


def _parameter_name(view: View, declared: Node) -> str:
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
        return frozenset({_UNKNOWN})
    fields = _LOOKED_THROUGH[node.type]
    parts: Iterable[Node | None] = (
        (node.child_by_field_name(field) for field in fields)
        if fields
        else (child for child in node.children if child.is_named)
    )
    return frozenset().union(
        *(origins(view, part, host, seen) for part in parts if part is not None)
    )


def _of_field(view: View, node: Node, host: Node | None, seen: frozenset[str]) -> frozenset[str]:
    """``p.x``: an array of its own where the entry is given ``p``."""
    owner, field = (node.child_by_field_name(f) for f in ("argument", "field"))
    if owner is None or field is None:
        return frozenset({_UNKNOWN})
    atoms = origins(view, owner, host, seen)
    name = plain_name(view.tree, field)
    given = f"@{view.code(owner)}"
    return frozenset(f"{atom}.{name}" if atom == given else atom for atom in atoms)


def _of_call(view: View, node: Node, host: Node | None, seen: frozenset[str]) -> frozenset[str]:
    """``static_cast<T*>(x)``, ``x.data_ptr<T>()``, ``torch::empty_like(x)``."""
    called, arguments = (node.child_by_field_name(f) for f in ("function", "arguments"))
    if _FRESH.match(called_name(view, node)):
        return frozenset({f"new {node.start_byte}"})
    if called is not None and called.type == "field_expression":
        return origins(view, called, host, seen)
    if arguments is not None and called_name(view, node).endswith("_cast"):
        return origins(view, arguments, host, seen)
    return frozenset({_UNKNOWN})


def _of_name(view: View, name: str, host: Node | None, seen: frozenset[str]) -> frozenset[str]:
    if name in seen:
        return frozenset()
    own = _declared(view, name, host) if host is not None else []
    if host is not None and own:
        if not all(_is_plainly(one, host) for one in own):
            return frozenset({_UNKNOWN})
    elif not any(enclosing_function(one) is None for one in _declared(view, name, None)):
        return frozenset({_UNKNOWN})
    place = host if own else None
    found: frozenset[str] = frozenset().union(
        *(origins(view, one, place or host, seen | {name}) for one in given_to(view, name, place))
    )
    if host is not None and name in {_parameter_name(view, p) for p in parameters(host)}:
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
        if target is not None and value is not None and _base(view, target) == name:
            found.append(value)
    for call in view.tree.walk(place, "call_expression"):
        found += _set_by(view, call, name)
    return found


def _set_by(view: View, call: Node, name: str) -> list[Node]:
    """What a call may set a name to: the other one of ``swap(a, b)``, or the call's own doing."""
    listed = call.child_by_field_name("arguments")
    arguments = named_children(listed) if listed is not None else []
    called = called_name(view, call)
    for place, argument in enumerate(arguments):
        address = view.code(argument).replace(" ", "").endswith(f"&{name}")
        if not address and view.code(argument) != name:
            continue
        if called == "swap":
            return arguments
        functions = view.functions.get(called, ())
        kinds = [list(parameters(one))[place : place + 1] for one in functions]
        if address and not _ALLOCATES.match(called):
            return [call]
        if any("&" in view.code(kind) for listed_there in kinds for kind in listed_there):
            return [call]
    return []


def _base(view: View, target: Node) -> str:
    """Name of what is declared or assigned: ``p`` of ``p.x`` and of ``*p``."""
    here: Node | None = target
    while here is not None and here.type != "identifier":
        inner = here.child_by_field_name("declarator") or here.child_by_field_name("argument")
        here = inner or next((child for child in here.children if child.type == "identifier"), None)
    return view.code(here) if here is not None else ""


_FOLLOWED = {"call_expression": _of_call, "field_expression": _of_field}

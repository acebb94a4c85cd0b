"""Whether two arrays of a kernel may be one: arguments followed through the host's functions."""

from __future__ import annotations

import re

from tree_sitter import Node

from kbs_backends.rewrites.cuda.names import declares, named_children
from kbs_backends.rewrites.cuda.origins import PLAIN, UNKNOWN, origins, parameter_name
from kbs_backends.rewrites.cuda.reach import called_name, parameters, words_of
from kbs_backends.rewrites.cuda.view import Kernel, Launch, Param, View
from kbs_backends.variants.cuda_tree import enclosing_function, function_name

_ON_DEVICE = re.compile(r"__(?:device|managed)__")
_DEEPEST = 8
"""Calls behind each other; more, or a function that calls itself, is not followed."""


def aliased(view: View, kernel: Kernel) -> str:
    """Say why two arrays of a kernel may be the same, empty where they are not.

    Buffers that the caller gives to the entry of the file are distinct; no others are taken to be.
    """
    own = _memory_of_the_file(view, kernel)
    if sum(_may_hold(param) for param in kernel.params.values()) + bool(own) < 2:  # noqa: PLR2004
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
        given += [own] if own else []
        if _meet(view, launch.host, given, ()):
            return _told(view, kernel, launch, given)
    return ""


def _may_hold(param: Param) -> bool:
    """Return whether a parameter is a pointer or may hold one."""
    return param.stars > 0 or param.element not in PLAIN


def _memory_of_the_file(view: View, kernel: Kernel) -> frozenset[str]:
    """Arrays at file level that a kernel reaches by their names, beside its arguments."""
    words = words_of(view, [kernel.body]) - set(kernel.params)
    found = set()
    for declared in view.tree.walk(None, "declaration"):
        if enclosing_function(declared) is None and _ON_DEVICE.search(view.code(declared)):
            names = (n for n in view.tree.walk(declared, "identifier") if declares(n))
            found |= {f" {view.code(name)}" for name in names if view.code(name) in words}
    return frozenset(found)


def _told(view: View, kernel: Kernel, launch: Launch, given: list[frozenset[str]]) -> str:
    if any(UNKNOWN in one for one in given):
        return f"an argument of {kernel.name} cannot be followed to its array"
    if _shared(given):
        return f"{kernel.name} is given one array twice"
    host = function_name(view.tree, launch.host)
    return f"{kernel.name} is given one array twice by a caller of {host}"


def _shared(given: list[frozenset[str]]) -> bool:
    """Return whether two sets hold one array, or one of them a struct and the other its field."""
    return any(
        _is_part(a, b) or _is_part(b, a)
        for at, one in enumerate(given)
        for other in given[at + 1 :]
        for a in one
        for b in other
    )


def _is_part(atom: str, whole: str) -> bool:
    return atom == whole or atom.startswith(f"{whole}.")


def _meet(
    view: View, host: Node | None, given: list[frozenset[str]], seen: tuple[str, ...]
) -> bool:
    """Return whether two of these sets share an array in a call of ``host``."""
    name = function_name(view.tree, host)
    if any(UNKNOWN in one for one in given) or _shared(given):
        return len(given) > 1
    if len(given) < 2 or not any(atom.startswith("@") for one in given for atom in one):  # noqa: PLR2004
        return False
    if host is None or name in seen or len(seen) > _DEEPEST or view.passed_on(name):
        return True
    names = [parameter_name(view, one) for one in parameters(host)]
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

"""Types of a CUDA source that are floating: by name, by alias, by what a launch gives."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from kbs_backends.rewrites.cuda.names import declared_name, declares, named_children
from kbs_backends.rewrites.cuda.view import View

_FLOATING = re.compile(
    r"(?:const )?(?:float|double|half|auto|__half|__nv_bfloat16|nv_bfloat16|kbs_real)[234]?\Z"
)


def is_floating(view: View, function: Node, kind: str) -> bool:
    """Return whether a type as written in ``function`` is known to be floating."""
    kind = kind.strip().rstrip("*& ").strip()
    return bool(_FLOATING.match(kind)) or kind in set(_floating_names(view, function))


def holds_floating(view: View, function: Node, target: Node) -> bool:
    """Return whether what a name of ``function`` holds, or its elements, are floating."""
    name = base_of(view, target)
    for one in view.tree.walk(function, "identifier"):
        if view.code(one) == name and declares(one):
            above = one.parent
            while above is not None and above.child_by_field_name("type") is None:
                above = above.parent
            kind = above.child_by_field_name("type") if above is not None else None
            return kind is not None and is_floating(view, function, view.code(kind))
    return False


def base_of(view: View, node: Node) -> str:
    """First name of an expression: ``a`` of ``a[i]``, ``*a``, ``&a[i]`` and ``a.x``."""
    named = next(iter(view.tree.walk(node, "identifier")), None)
    return view.code(named) if named is not None else ""


def _floating_names(view: View, function: Node) -> Iterator[str]:
    """Names of types that are floating: by ``using``, and templates' that a launch gives."""
    for node in view.tree.walk(None, "alias_declaration", "type_definition"):
        kind = node.child_by_field_name("type")
        named = node.child_by_field_name("name") or node.child_by_field_name("declarator")
        if kind is not None and named is not None and _FLOATING.match(view.code(kind)):
            yield view.code(named)
    above = function.parent
    declared = above.child_by_field_name("parameters") if above is not None else None
    if above is None or above.type != "template_declaration" or declared is None:
        return
    name = declared_name(view.tree, function)
    given = [
        [view.code(kind) for kind in named_children(listed)]
        for call in view.tree.walk(None, "template_function")
        if (called := call.child_by_field_name("name")) is not None and view.code(called) == name
        if (listed := call.child_by_field_name("arguments")) is not None
    ]
    for place, param in enumerate(named_children(declared)):
        kinds = [kind for one in given for kind in one[place : place + 1]]
        known = bool(given) and len(kinds) == len(given)
        if (
            param.type == "type_parameter_declaration"
            and known
            and all(map(_FLOATING.match, kinds))
        ):
            yield view.code(named_children(param)[-1])

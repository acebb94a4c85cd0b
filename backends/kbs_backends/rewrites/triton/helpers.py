"""What a kernel calls beside ``tl``: whether it may depend on which program runs."""

from __future__ import annotations

import builtins

import libcst as cst

from kbs_backends.rewrites.base import NotApplicableError
from kbs_backends.rewrites.triton.dataflow import Flow
from kbs_backends.rewrites.triton.view import Kernel, View, walk

_NUMBERS = ("program_id", "num_programs")


def require_no_reader(kernel: Kernel) -> None:
    """Refuse a kernel that learns the number of its program otherwise than by its own calls.

    Raises:
        NotApplicableError: A helper reads it, or the body of a helper is not in this file.
    """
    for name in _called(kernel.view, kernel.node.body, Flow(kernel).assigned):
        own = "." in name and name.rpartition(".")[2] in _NUMBERS  # looked at below
        reason = "" if own else _reads(kernel.view, name, set())
        if reason:
            raise NotApplicableError(f"{kernel.name} calls {name}, which {reason}")
    for node in kernel.walk():
        if isinstance(node, cst.Name) and node.value in _NUMBERS:
            above = kernel.view.tree.parent(node)
            if not isinstance(above, cst.Attribute):
                raise NotApplicableError(f"{kernel.name} knows tl.{node.value} by another name")
        if isinstance(node, cst.Attribute) and node.attr.value in _NUMBERS:
            call = kernel.view.tree.parent(node)
            if not isinstance(call, cst.Call) or not kernel.is_tl(call, *_NUMBERS):
                raise NotApplicableError(f"{kernel.name} names {kernel.view.code(node)} unusually")
        if isinstance(node, cst.SimpleString) and "ctaid" in node.value:
            raise NotApplicableError(f"{kernel.name} reads the number of its program in assembly")


def _reads(view: View, name: str, seen: set[str]) -> str:
    """Why a call of ``name`` may depend on the program's number; empty where it cannot."""
    if name in seen:
        return ""
    seen.add(name)
    definition = _definition(view, name)
    if definition is None:
        module = _imported(view).get(name.split(".", maxsplit=1)[0], "")
        known = (
            module.split(".")[0] == "triton" and name.rsplit(".", maxsplit=1)[-1] not in _NUMBERS
        )
        return "" if known else "is not in this file: it may read tl.program_id"
    for node in walk(definition.body):
        last = node.attr if isinstance(node, cst.Attribute) else node
        if isinstance(last, cst.Name) and last.value in _NUMBERS:
            return f"reads tl.{last.value}"
        if isinstance(node, cst.SimpleString) and "ctaid" in node.value:
            return "reads the number of its program in assembly"
    params = definition.params
    own = {one.name.value for one in (*params.params, *params.kwonly_params)}
    for inner in _called(view, definition.body, _assigned(definition)):
        reason = "calls its parameter" if inner in own else _reads(view, inner, seen)
        if reason:
            return reason
    return ""


def _called(view: View, body: cst.CSTNode, values: set[str]) -> list[str]:
    """Functions that a body calls or passes on, neither builtin nor methods of a value."""
    found = []
    for node in walk(body):
        if isinstance(node, cst.Call):
            root = node.func
            while isinstance(root, cst.Attribute):
                root = root.value
            if isinstance(root, cst.Name):
                method = isinstance(node.func, cst.Attribute) and root.value not in _imported(view)
                known = root.value in values or hasattr(builtins, root.value)
                if not method and not known:
                    found.append(view.code(node.func))
        elif isinstance(node, cst.Name) and node.value in view.kernels:
            found.append(node.value)
    return list(dict.fromkeys(found))


def _assigned(definition: cst.FunctionDef) -> set[str]:
    return {
        one.target.value
        for one in walk(definition.body)
        if isinstance(one, cst.AssignTarget) and isinstance(one.target, cst.Name)
    }


def _definition(view: View, name: str) -> cst.FunctionDef | None:
    if name in view.kernels:
        return view.kernels[name].node
    found = [
        node
        for node in walk(view.tree.module)
        if isinstance(node, cst.FunctionDef) and node.name.value == name
    ]
    return found[0] if len(found) == 1 else None


def _imported(view: View) -> dict[str, str]:
    """Names that the file imports, and from which module."""
    found = {}
    for node in walk(view.tree.module):
        if isinstance(node, cst.Import):
            for one in node.names:
                module = view.code(one.name)
                name = view.code(one.asname.name) if one.asname else module.split(".")[0]
                found[name] = module
        elif isinstance(node, cst.ImportFrom) and not isinstance(node.names, cst.ImportStar):
            module = view.code(node.module) if node.module is not None else ""
            for one in node.names:
                name = view.code(one.asname.name if one.asname else one.name)
                found[name] = f"{module}.{view.code(one.name)}"
    return found

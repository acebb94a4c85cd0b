"""Results that nothing reads again soon, stored with the streaming policy."""

from __future__ import annotations

from tree_sitter import Node

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.cuda.draft import CudaDraft
from kbs_backends.rewrites.cuda.view import Kernel, Param, View, view_of

METHOD = "streaming_stores"
STREAMED = frozenset(
    {"float", "double", "int", "unsigned", "unsigned int", "short", "unsigned short", "char"}
    | {"signed char", "unsigned char", "long long", "unsigned long long"}
    | {"float2", "float4", "double2", "int2", "int4", "uint2", "uint4"}
)
"""Types that ``__stcs`` and ``__ldcs`` have overloads for."""
_HELPER = """
template <typename T>
__device__ __forceinline__ void kbs_store(T* place, T value) {{
  {store};
}}
"""


def rewrite(source: RewriteSource) -> Rewritten:
    """Store results past the caches; see ``ModuleRewrite``."""
    view = view_of(source.text)
    draft = CudaDraft(view, METHOD)
    reasons: list[str] = []
    for kernel in view.kernels:
        for param in kernel.params.values():
            if param.stars != 1 or param.const:
                continue
            stores = _stores(view, kernel, param)
            reason = _refusal(view, kernel, param, stores)
            if reason:
                reasons.append(reason)
                continue
            for statement, index, value in stores:
                place = f"{param.name} + ({view.code(index)})"
                call = f"kbs_store<{param.element}>({place}, {view.code(value)});"
                draft.replace(view.span(statement), call)
    if not draft:
        raise NotApplicableError(
            "; ".join(dict.fromkeys(reasons)) or "no kernel stores to an array"
        )
    changed = len(draft.edits)
    draft.either(
        _HELPER.format(store="__stcs(place, value)"), _HELPER.format(store="*place = value")
    )
    return draft.finish(f"{changed} stores stream")


def _stores(view: View, kernel: Kernel, param: Param) -> list[tuple[Node, Node, Node]]:
    """``x[i] = value;`` as statement, index and value."""
    found = []
    for statement in kernel.walk("expression_statement"):
        node = statement.children[0]
        left = node.child_by_field_name("left")
        value = node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if node.type != "assignment_expression" or left is None or value is None:
            continue
        array = left.child_by_field_name("argument")
        indices = left.child_by_field_name("indices")
        if left.type != "subscript_expression" or array is None or indices is None:
            continue
        plain = operator is not None and view.code(operator) == "="
        listed = [child for child in indices.children if child.is_named]
        if plain and view.code(array) == param.name and len(listed) == 1:
            found.append((statement, listed[0], value))
    return found


def _refusal(
    view: View, kernel: Kernel, param: Param, stores: list[tuple[Node, Node, Node]]
) -> str:
    if param.volatile:
        return f"{param.name} of {kernel.name} is volatile, of which every access counts"
    if param.element not in STREAMED:
        return f"{kernel.name} stores {param.element}, which has no streaming form"
    if not stores or len(kernel.uses(param.name)) != len(stores):
        return f"{kernel.name} does more with {param.name} than storing to it"
    if all(
        "blockIdx" in view.code(index) and "threadIdx" not in view.code(index)
        for _, index, _ in stores
    ):
        return f"{kernel.name} stores single values to {param.name}"
    place = list(kernel.params).index(param.name)
    given = {
        view.code(one.arguments[place]) for one in kernel.launches() if len(one.arguments) > place
    }
    for launch in view.launches:
        if launch.kernel != kernel.name and given & {view.code(one) for one in launch.arguments}:
            return f"what {kernel.name} stores to {param.name} another kernel is given"
    return ""

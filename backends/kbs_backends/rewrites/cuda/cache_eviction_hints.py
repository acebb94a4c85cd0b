"""Values that a kernel reads exactly once, loaded so that they leave the caches first."""

from __future__ import annotations

from tree_sitter import Node

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.cuda.draft import CudaDraft
from kbs_backends.rewrites.cuda.streaming_stores import STREAMED
from kbs_backends.rewrites.cuda.view import Kernel, Param, View, view_of

METHOD = "cache_eviction_hints"
_HELPER = """
template <typename T>
__device__ __forceinline__ T kbs_load_once(const T* place) {{
  return {load};
}}
"""
_MORE = frozenset({"pointer_expression", "field_expression", "subscript_expression"})
_LOOPS = frozenset({"for_statement", "while_statement", "do_statement"})


def rewrite(source: RewriteSource) -> Rewritten:
    """Load streams with evict-first; see ``ModuleRewrite``."""
    view = view_of(source.text)
    draft = CudaDraft(view, METHOD)
    for kernel in view.kernels:
        for param in kernel.params.values():
            span = _read_once(view, kernel, param)
            if span is not None:
                start, end, index = span
                place = f"{param.name} + ({index})"
                draft.replace((start, end), f"kbs_load_once<{param.element}>({place})")
    if not draft:
        raise NotApplicableError("no array of which each element is read once, by one thread")
    changed = len(draft.edits)
    draft.either(_HELPER.format(load="__ldcs(place)"), _HELPER.format(load="*place"))
    return draft.finish(f"{changed} loads evict first")


def _read_once(view: View, kernel: Kernel, param: Param) -> tuple[int, int, str] | None:
    """Where a constant array is read, if once, outside of loops, by a thread's own index."""
    if param.stars != 1 or not param.const or param.element not in STREAMED or param.volatile:
        return None
    uses = kernel.uses(param.name)
    if len(uses) != 1:
        return None
    access = uses[0].parent
    above = access.parent if access is not None else None
    if access is None or access.type != "subscript_expression" or above is None:
        return None
    indices = access.child_by_field_name("indices")
    text = view.code(indices)[1:-1] if indices is not None else ""
    if above.type in _MORE or _in_loop(kernel, above) or not _of_one_thread(view, kernel, text):
        return None
    return access.start_byte, access.end_byte, text


def _in_loop(kernel: Kernel, node: Node) -> bool:
    here: Node | None = node
    while here is not None and here != kernel.body:
        if here.type in _LOOPS:
            return True
        here = here.parent
    return False


def _of_one_thread(view: View, kernel: Kernel, index: str) -> bool:
    """A name set to ``blockIdx.x * blockDim.x + threadIdx.x``, or that itself."""
    value = view.constant(index, kernel.body) if index.isidentifier() else None
    text = view.code(value) if value is not None else index
    return "blockIdx" in text and "threadIdx" in text

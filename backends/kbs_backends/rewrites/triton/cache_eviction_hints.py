"""What is read once leaves the cache first, what every program reads stays longest."""

from __future__ import annotations

import libcst as cst

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.triton.dataflow import Flow, pointer_of
from kbs_backends.rewrites.triton.draft import TritonDraft
from kbs_backends.rewrites.triton.view import Kernel, argument, view_of

METHOD = "cache_eviction_hints"


def rewrite(source: RewriteSource) -> Rewritten:
    """Give loads an eviction policy where reuse can be told; see ``ModuleRewrite``."""
    view = view_of(source.text)
    draft = TritonDraft(view, METHOD)
    for kernel in view.launched():
        for call, policy in _policies(kernel):
            span = view.tree.span(call.args[-1].value)
            draft.insert(span[1], f', eviction_policy="{policy}" if {draft.switch} else ""')
    if not draft:
        raise NotApplicableError(
            "no load is read once or read by every program: the reuse of all lies between"
        )
    return draft.finish(f"{len(draft.edits)} loads with an eviction policy")


def _policies(kernel: Kernel) -> list[tuple[cst.Call, str]]:
    flow = Flow(kernel)
    loads = []
    for call in kernel.calls("load"):
        pointer = pointer_of(call)
        base = flow.base(pointer) if pointer is not None else None
        if pointer is not None and base is not None and argument(call, "eviction_policy") is None:
            loads.append((call, base, flow.axes(pointer)))
    every = set().union(*(axes for _, _, axes in loads), *_all_axes(kernel))
    if not every:
        return []
    found = []
    for place, (call, base, axes) in enumerate(loads):
        again = any(base == later for _, later, _ in loads[place + 1 :])
        if not axes or again:
            found.append((call, "evict_last"))
        elif axes == every:
            found.append((call, "evict_first"))
    return found


def _all_axes(kernel: Kernel) -> list[set[str]]:
    axes = []
    for call in kernel.calls("program_id"):
        given = argument(call, "axis", 0)
        axes.append({"0" if given is None else kernel.view.code(given.value)})
    return axes

"""Results that this kernel does not read again are stored with the streaming policy."""

from __future__ import annotations

import libcst as cst

from kbs_backends.rewrites.base import NotApplicableError, RewriteSource, Rewritten
from kbs_backends.rewrites.triton.dataflow import Flow, pointer_of
from kbs_backends.rewrites.triton.draft import TritonDraft
from kbs_backends.rewrites.triton.view import Kernel, Launch, View, argument, names_in, view_of

METHOD = "streaming_stores"


def rewrite(source: RewriteSource) -> Rewritten:
    """Stream stores out of the way of what is read; see ``ModuleRewrite``."""
    view = view_of(source.text)
    draft = TritonDraft(view, METHOD)
    reasons: list[str] = []
    for kernel in view.launched():
        flow = Flow(kernel)
        read = {flow.base(p) for c in kernel.calls("load") if (p := pointer_of(c)) is not None}
        for call in kernel.calls("store"):
            pointer = pointer_of(call)
            base = flow.base(pointer) if pointer is not None else None
            if base is None or argument(call, "cache_modifier") is not None:
                continue
            if base in read:
                reasons.append(f"{kernel.name} reads {base} too")
            elif _read_later(view, kernel, base):
                reasons.append(f"what {kernel.name} stores to {base} another kernel reads")
            elif not flow.uses(pointer or call, "arange"):
                reasons.append(f"{kernel.name} stores single values to {base}")
            else:
                end = view.tree.span(call.args[-1].value)[1]
                draft.insert(end, f', cache_modifier=".cs" if {draft.switch} else ""')
    if not draft:
        reason = "; ".join(dict.fromkeys(reasons))
        raise NotApplicableError(reason or "no store of a block of values")
    return draft.finish(f"{len(draft.edits)} stores stream")


def _read_later(view: View, kernel: Kernel, param: str) -> bool:
    """Return whether a launch of another kernel is given the array stored here."""
    stored = {
        name
        for launch in view.launches_of(kernel)
        if (given := given_for(kernel, launch, param)) is not None
        for name in names_in(given)
    }
    return any(
        stored & names_in(one.value)
        for launch in view.launches
        if launch.kernel != kernel.name and not launch.kernel.startswith(f"{kernel.name}_kbs")
        for one in launch.call.args
    )


def given_for(kernel: Kernel, launch: Launch, param: str) -> cst.BaseExpression | None:
    """Return what a launch gives for a parameter."""
    place = list(kernel.params).index(param)
    found = argument(launch.call, param, place)
    return found.value if found is not None else None

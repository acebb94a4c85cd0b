"""``input_precision`` of ``tl.dot``."""

from __future__ import annotations

import libcst as cst

from kbs_backends.rewrites.base import NotApplicableError, Rewritten
from kbs_backends.rewrites.triton.draft import TritonDraft
from kbs_backends.rewrites.triton.view import View, argument, walk


def set_precision(
    view: View, method: str, value: str, tunable: tuple[str, tuple[str, ...]] | None = None
) -> Rewritten:
    """Use precision ``value`` (an expression) where a product asks for ``"ieee"``.

    Raises:
        NotApplicableError: No product asks for it: Triton then uses TF32 already.
    """
    draft = TritonDraft(view, method)
    for kernel in view.kernels.values():
        for call in kernel.calls("dot"):
            _precision(draft, call, value)
    if not draft:
        raise NotApplicableError('no tl.dot asks for input_precision="ieee": TF32 is the default')
    if tunable is not None:
        draft.tunable(tunable[0], tunable[1][0], tunable[1])
    return draft.finish(f"{len(draft.edits)} products of fp32 on the tensor cores")


def _precision(draft: TritonDraft, call: cst.Call, value: str) -> None:
    tree = draft.view.tree
    given = argument(call, "input_precision")
    if given is not None:
        for node in walk(given.value):
            if isinstance(node, cst.SimpleString) and node.evaluated_value == "ieee":
                draft.replace(tree.span(node), f'({value} if {draft.switch} else "ieee")')
    older = argument(call, "allow_tf32")
    if older is not None and tree.code(older.value) == "False":
        chosen = f'input_precision=({value} if {draft.switch} else "ieee")'
        draft.replace(tree.span(older), chosen)

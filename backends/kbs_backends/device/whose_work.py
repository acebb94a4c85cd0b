"""Whose kernels did the work: noted for every checked candidate, judged where the task asks."""

from __future__ import annotations

from pathlib import Path

import msgspec

from kbs_backends.device.calls import ArmState, Caller
from kbs_backends.device.messages import Seen
from kbs_backends.device.refusal import Refusal
from kbs_backends.device.task import LoadedTask
from kbs_engine.jobs import SourceRef
from kbs_engine.results import OwnWork

_ENDS = (
    "crashed", "hung", "exited", "out_of_memory", "forged_result", "sandbox_violation",
    "late_write",
)  # fmt: skip
"""After these there is no worker to ask further, or what it is asked next says nothing."""


def whose_work(
    task: LoadedTask,
    caller: Caller,
    state: ArmState,
    source: SourceRef,
    library: str | None,
    off: frozenset[str],
) -> OwnWork:
    """What one more call of a candidate that passed its rounds launches and leaves to libraries.

    Raises:
        Refusal: The task forbids libraries (``libraries = False``) and they did the work.
    """
    from kbs_backends.languages.linked import library_calls

    linked = library_calls(Path(library)) if library else ()
    seen, why_not = Seen(), ""
    try:
        seen = caller.call(state, task.fresh(), watch="count").seen or seen
    except Refusal as refusal:
        if refusal.code in _ENDS:
            raise
        why_not = f"the watched call failed: {refusal.code}"
    work = OwnWork(
        launched=seen.launched, operations=seen.operations, linked=linked, why_not=why_not
    )
    if task.libraries_permitted:
        return work
    fault = _fault(task, caller, state, work, source)
    if seen.launched and "work_inventory" not in off and _right_without_own(task, caller, state):
        raise Refusal("decoy_kernel", f"right without {seen.launched[0]}")
    if "no_fallback" in off:
        return work
    if fault and seen.defined and not linked:
        kernel = seen.launched[0] if seen.launched else f"{seen.defined[0]}, which is not launched"
        raise Refusal("fallback_to_reference", f"{fault}; its own kernel is {kernel}")
    if fault:
        raise Refusal("library_only", fault)
    return msgspec.structs.replace(work, without_libraries=True)


def note(work: OwnWork) -> str:
    """One line for people where libraries took part; empty where nothing was seen of them."""
    names = (*work.operations, *work.linked)
    if not names:
        return ""
    own = f"own kernels {', '.join(work.launched)}" if work.launched else "no own kernel was seen"
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""  # noqa: PLR2004 - one line
    return f"library operations in a call: {', '.join(names[:4])}{more}; {own}"


def _fault(
    task: LoadedTask, caller: Caller, state: ArmState, work: OwnWork, source: SourceRef
) -> str:
    """Why the work is not the candidate's own; empty when it is right without libraries."""
    if work.linked:
        return f"it calls {', '.join(work.linked[:4])}"
    try:
        caller.call(state, task.fresh(), watch="refuse")
    except Refusal as refusal:
        if refusal.code in _ENDS:
            raise
        used = ", ".join(work.operations[:4]) or work.why_not or refusal.code
        return f"not right without {used}"
    if source.language == "triton" and not work.launched:
        return work.why_not or "no launch of a kernel of its own was seen"
    return ""


def _right_without_own(task: LoadedTask, caller: Caller, state: ArmState) -> bool:
    """Whether the result is right while the candidate's own launches do nothing."""
    try:
        caller.call(state, task.fresh(), watch="skip")
    except Refusal as refusal:
        if refusal.code in _ENDS:
            raise
        return False
    return True

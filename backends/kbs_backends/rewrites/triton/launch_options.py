"""Options of a launch (``num_warps``, ``num_stages``, ``maxnreg``) turned into tunables."""

from __future__ import annotations

from collections.abc import Callable

from kbs_backends.rewrites.base import NotApplicableError, Rewritten
from kbs_backends.rewrites.triton.draft import TritonDraft
from kbs_backends.rewrites.triton.view import Kernel, Launch, View


def tune_option(
    view: View,
    method: str,
    option: str,
    start: int,
    values: tuple[int, ...],
    wanted: Callable[[Kernel], str],
) -> Rewritten:
    """Make ``option`` a tunable of every launch of the kernels that want it.

    ``wanted`` returns why a kernel does not want it, or nothing. A literal value of the source
    is where the tunable starts; else it starts at ``start``.

    Raises:
        NotApplicableError: No kernel wants it, or none is launched in a way that can take it.
    """
    draft = TritonDraft(view, method)
    reasons: list[str] = []
    chosen = [kernel for kernel in view.launched() if not _refusal(view, kernel, wanted, reasons)]
    for kernel in chosen:
        suffix = f"_{kernel.name.upper()}" if len(chosen) > 1 else ""
        name = f"KBS_{option.upper()}{suffix}"
        first = None
        for launch in view.launches_of(kernel):
            found = _set(draft, launch, option, name)
            first = first if first is not None else found
        current = first if first is not None else start
        draft.tunable(name, current, tuple(sorted({current, *values})), host=True)
    if not draft:
        raise NotApplicableError("; ".join(dict.fromkeys(reasons)) or "no kernel is launched here")
    kernels = ", ".join(kernel.name for kernel in chosen)
    return draft.finish(f"{option} of {kernels} is a tunable", host=True)


def _refusal(
    view: View, kernel: Kernel, wanted: Callable[[Kernel], str], reasons: list[str]
) -> str:
    reason = wanted(kernel)
    if kernel.autotuned:
        reason = f"{kernel.name} is autotuned: its configurations choose"
    for launch in view.launches_of(kernel):
        for argument in launch.call.args:
            if argument.star and "KBS_" not in view.code(argument.value):
                reason = f"{kernel.name} is launched with * or **, which may hold the option"
    if reason:
        reasons.append(reason)
    return reason


def _set(draft: TritonDraft, launch: Launch, option: str, name: str) -> int | None:
    view = draft.view
    given = launch.keyword(option)
    if given is not None:
        old = view.code(given.value)
        draft.replace(view.tree.span(given.value), f"{name} if {draft.switch} else {old}")
        return int(old) if old.isdigit() else None
    add_arguments(draft, launch, f'**({{"{option}": {name}}} if {draft.switch} else {{}})')
    return None


def add_arguments(draft: TritonDraft, launch: Launch, text: str) -> None:
    """Put ``text`` behind the last argument of a launch."""
    view = draft.view
    if not launch.call.args:
        draft.insert(view.tree.span(launch.call)[1] - 1, text)
        return
    last = launch.call.args[-1]
    draft.insert(view.tree.span(last.value)[1], f", {text}")

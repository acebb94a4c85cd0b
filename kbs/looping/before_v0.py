"""A run whose v0 has not passed: nothing that it began with changes any more, so begin another."""

from __future__ import annotations

from kbs_engine.errors import UsageError
from kbs_engine.jobs import Failure, Result
from kbs_engine.run import RunFolder
from kbs_engine.run.records import State
from kbs_engine.shell import shell


def stands(state: State) -> bool:
    """Whether v0 was measured: only then are orders ever followed."""
    return state.best_ns is not None


def another(state: State) -> str:
    """How to begin another run of the same kernel, in words that can be pasted."""
    dims = ",".join(f"{name}={value}" for name, value in state.settings.dims.items())
    kernel = f"{state.name}{state.settings.kernel_suffix}"
    words = ["kbs optimize", shell(kernel), "--ref REF"]
    words += [f"--dims {shell(dims)}"] if dims else []
    return f"`{' '.join(words)} --output FOLDER`"


def mending(run: RunFolder, result: Result) -> str:
    """What to do about a job that could not be carried out.

    The reference, the kernel and the dims are kept as they were when the run began. Where one of
    them is at fault before v0 has passed, going on would meet the same fault for ever.
    """
    state = run.state()
    if not stands(state) and result.failed is not None and _of_begin(run, state, result.failed):
        return (
            f"{_file(result.failed)} is the run's copy, which stays as it began: where it or the "
            f"dims are at fault, mend your own and begin another run: {another(state)}; "
            f"where the machine is, `kbs loop resume {shell(run.root)}`"
        )
    return f"mend it, then `kbs loop resume {shell(run.root)}`"


def require_followed(run: RunFolder, kind: str) -> None:
    """UsageError for an order that would never be followed: v0 is taken first, as it began."""
    state = run.state()
    if stands(state) or not (state.ended or kind == "set"):
        return
    what = "has not passed, and the run has ended" if state.ended else "is not measured yet"
    raise UsageError(
        f"v0 {what}: `{kind}` would not be followed",
        where=str(run.root),
        remedy=f"begin another run: {another(state)}",
    )


def _of_begin(run: RunFolder, state: State, failed: Failure) -> bool:
    """Whether a fault lies in a file that the run was begun with."""
    return _file(failed) in {run.paths.reference.name, state.settings.kernel_file}


def _file(failed: Failure) -> str:
    return failed.where.partition(":")[0]

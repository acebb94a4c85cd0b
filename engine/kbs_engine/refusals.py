"""Reason codes: why a candidate, a task or a measurement was not accepted.

``Checked.reason`` and ``ArmTimes.reason`` carry the code; what it means and what to do stand
here, once. Every code names the defence (``DEFENCES``) that produces it, and the attack suite
shows that no defence is decorative. ``kind`` tells an honest mistake from a trick: an honest
kernel may be ``honest``-ly wrong, never ``integrity``.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

Kind = Literal["honest", "integrity", "task"]
How = Literal["switch", "structure", "elsewhere", "not built"]
"""``switch``: a test can switch it off (``LocalDevice(off=...)``). ``structure``: it follows
from how the processes are built. ``elsewhere``: another job does it. ``not built``: its codes are
reserved and nothing produces them yet."""


class Defence(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that the harness does against being fooled."""

    id: str
    what: str
    how: How


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """One reason code: what happened, which defence saw it, what to do."""

    code: str
    meaning: str
    defence: str
    """An id of ``DEFENCES``."""
    remedy: str
    kind: Kind = "integrity"


def _defences(rows: str) -> dict[str, Defence]:
    found: dict[str, Defence] = {}
    for row in rows.strip().splitlines():
        name, how, what = (part.strip() for part in row.split("|"))
        found[name] = Defence(id=name, how=msgspec.convert(how, How), what=what)
    return found


DEFENCES: Final[dict[str, Defence]] = _defences(
    """
    timed_outputs       | switch    | the output of every timed call is compared with its own expected values
    fresh_values        | switch    | every call gets values that no earlier call had
    moved_buffers       | switch    | addresses change between calls and come back with other values
    poisoned_outputs    | switch    | outputs hold a pattern, different every call, before the candidate runs
    dirty_shared_memory | switch    | in checks shared memory holds NaN before the candidate's first kernel
    decoy_inputs        | switch    | some elements of the inputs hold other values until the gate opens
    guards              | structure | memory beside the arguments holds a pattern that must stay
    owner_process       | structure | seeds, expected values, timers and statistics live in another process
    result_channel      | structure | only whole, expected answers are read; what a candidate prints is data
    exact_metadata      | switch    | type, dtype, shape, stride, device, storage and aliasing compared exactly
    raw_bytes           | switch    | outputs are read as bytes from their address, by no method of the tensor
    all_elements        | structure | every element is compared, the largest error decides, none may be skipped
    finite_parity       | structure | an element is finite exactly where the expected one is
    tolerance           | structure | fp64 reference, tolerance from the task or derived from dtype and length
    distributions       | switch    | several input distributions, one of them unlike the others
    secret_rounds       | structure | at least 10 rounds with seeds that the candidate cannot know
    input_hash          | switch    | inputs are hashed before and after each call
    state_snapshot      | switch    | random state, flags and functions of torch compared before and after
    thread_census       | switch    | threads and child processes counted before and after a call
    device_sync         | structure | the whole device is waited for before the stop clock is read
    output_at_stop      | switch    | the output is copied at the stop clock and compared with a later copy
    second_clock        | switch    | the device clock is checked against a host-synchronised one
    physics_floor       | switch    | no time below what the chip's peaks allow for the compulsory work
    l2_flush            | switch    | L2 is flushed outside the timed window, persisting lines are reset
    interleaving        | switch    | incumbent and candidate take turns, so that a drift hits both
    repeat_bits         | switch    | the same inputs give the same bits again, or within the tolerance
    one_call_one_result | structure | inputs are revealed one call at a time, each call is waited for
    private_folder      | structure | every process has its own empty temporary folder, removed afterwards
    resource_limits     | structure | limits on time, memory, file size, processes; killed as a group
    sandbox             | switch    | no network, no reading of the harness, no signals to other processes
    no_reference        | structure | no expected value ever enters the process of a candidate
    work_inventory      | switch    | where libraries are forbidden, a call whose own launches do nothing must fail; else they are named
    no_fallback         | switch    | where libraries are forbidden, the candidate runs again with library operations failing
    task_dummies        | switch    | zeros, ones, a copied input and a mean must fail the task
    task_quality        | structure | a task with constant, empty or non-finite expected values is refused
    pinned_task         | structure | inputs and outputs come from the reference, never from the candidate
    pinned_baseline     | structure | baselines are ours, checked and timed in the same interleaved block
    source_only         | structure | only the source is carried over, built cleanly by us
    sanitizer           | elsewhere | compute-sanitizer on each champion where the tool exists
    static_rules        | not built | patterns in the source: warnings for a person, never a verdict
    """  # noqa: E501 - one defence per line reads as the table that it is
)


def _reasons(kind: Kind, rows: str) -> list[Reason]:
    out = []
    for row in rows.strip().splitlines():
        code, defence, meaning, remedy = (part.strip() for part in row.split("|"))
        out.append(Reason(code=code, defence=defence, meaning=meaning, remedy=remedy, kind=kind))
    return out


_HONEST = _reasons(
    "honest",
    """
    wrong_result       | all_elements     | values differ from the reference beyond the tolerance | compare with the reference on the named distribution; the round with the largest error is shown
    wrong_shape        | exact_metadata   | an output has another shape than the reference's | return or write the shape of the reference
    wrong_dtype        | exact_metadata   | an output has another data type than the reference's | convert in the kernel's last step
    wrong_stride       | exact_metadata   | an output has other strides than the reference's | write the layout of the reference
    wrong_device       | exact_metadata   | an output lies on another device | allocate the output beside the inputs
    missing_output     | exact_metadata   | an output was not returned or not written at all | write every output, every element of it
    unwritten_elements | poisoned_outputs | elements of an output still hold the poison | cover the whole grid, tails included
    nonfinite          | finite_parity    | NaN or infinity where the reference is finite, or the other way | guard overflow: subtract the maximum, accumulate wider
    low_precision      | tolerance        | the error is that of a lower precision than the task permits | accumulate in the permitted precision or permit it in the task
    nondeterministic   | repeat_bits      | the same inputs gave results that differ beyond the tolerance | look for a race: missing barrier, overlapping writes; run compute-sanitizer
    compile_failed     | source_only      | the source does not compile | fix the line that the compiler names
    load_failed        | source_only      | the module cannot be loaded or lacks its entry point | fix what is named; a kernel defines `run_kernel` (Python) or `extern "C" void solve(...)` (CUDA)
    raised             | resource_limits  | the candidate raised an exception | see the traceback of the candidate
    launch_failed      | poisoned_outputs | a launch failed (too many threads, too much shared memory, ...) | check the launch configuration against the limits of the chip
    illegal_access     | guards           | the device reported an illegal address or another sticky error | run compute-sanitizer memcheck on the kernel
    sanitizer_fault    | sanitizer        | compute-sanitizer reported an error | see its report: out of bounds, race or uninitialised read
    crashed            | resource_limits  | the candidate's process ended by a signal | run it alone under a debugger
    hung               | resource_limits  | the candidate did not finish within its time limit | look for a deadlock, or use smaller dims
    out_of_memory      | resource_limits  | the candidate ran out of memory within its limit | allocate less
    exited             | result_channel   | the candidate's process ended before it answered, with an exit status | do not call exit in a kernel
    """,  # noqa: E501 - one reason per line reads as the table that it is
)

_INTEGRITY = _reasons(
    "integrity",
    """
    lazy_tensor            | exact_metadata      | an output is not a plain tensor with storage of its own | return a torch.Tensor, computed
    patched_instance       | raw_bytes           | attributes or methods were set on an output tensor | return a plain tensor
    aliased_output         | exact_metadata      | an output shares memory with an input or another output | allocate outputs of their own
    input_mutated          | input_hash          | an input that is no declared output was changed | copy before changing, or declare it as an output
    cached_output          | fresh_values        | a call returned the result of earlier inputs | compute on every call
    stale_output           | poisoned_outputs    | a call left the output as it was or as an earlier call wrote it | compute on every call
    wrong_timed_output     | timed_outputs       | a timed call gave another result than the check's calls | one code path for every call
    early_read             | decoy_inputs        | the result was computed from what inputs held before the call began | read inputs in the call alone
    late_write             | output_at_stop      | the output changed after the clock had stopped | wait for all work on the stream that was given
    side_stream            | device_sync         | work ran on a stream that was not waited for | launch on the current stream, or wait for the side stream
    thread_left            | thread_census       | a thread or a child process was left running | join it before returning
    forked                 | thread_census       | the candidate started a process | do the work in the process that was given
    clock_mismatch         | second_clock        | the device clock and the host clock disagree beyond noise | do not touch timers and events
    faster_than_physics    | physics_floor       | a time below what the chip's peaks allow for the compulsory work | declare the lower bound (`bytes`, `flops`) where the task needs less work
    timer_below_step       | physics_floor       | a time of zero, below zero, or below the step of the timer | do not touch timers and events
    batched_calls          | one_call_one_result | one call did the work of several | compute each call's result in that call
    state_changed          | state_snapshot      | global state was changed: random state, flags, default dtype, modules | leave the process as it was
    patched_harness        | state_snapshot      | a function of torch or of the standard library was replaced | leave the process as it was
    forged_result          | result_channel      | something was written into the result channel that is no answer | leave file descriptors alone
    reference_used         | no_reference        | the candidate imported the reference or the harness | compute the result
    fallback_to_reference  | no_fallback         | the result came from a library operation, not from the candidate's kernel | launch a kernel of your own, or permit libraries in the task
    library_only           | no_fallback         | all work was done by library operations | launch a kernel of your own, or permit libraries in the task
    decoy_kernel           | work_inventory      | the candidate's kernel ran and its output is not the result | use the kernel's output
    sandbox_violation      | sandbox             | a forbidden operation: network, signal, reading of the harness | do not do that
    wrote_too_much         | resource_limits     | the candidate wrote more to disk than it may | write nothing
    prebuilt_binary        | source_only         | a binary or a package stands in for the source | give the source
    task_replaced          | pinned_task         | the candidate's own setup differs from the pinned inputs | leave inputs to the reference
    """,  # noqa: E501 - the same
)

_TASK = _reasons(
    "task",
    """
    task_degenerate   | task_dummies    | a kernel that does nothing useful passes this task | use inputs for which the result varies; the passing dummy is named
    task_constant     | task_quality    | the expected result hardly varies | use inputs of another scale
    task_empty        | task_quality    | there is nothing to compare | use dims above zero
    task_nonfinite    | task_quality    | the reference itself gives NaN or infinity | fix the reference or the inputs
    baseline_wrong    | pinned_baseline | a baseline fails the check against the eager reference | leave that baseline out
    clocks_drifted    | interleaving    | clocks moved more than the effect that was claimed | let the card settle, or lock the clocks, and measure again
    """,  # noqa: E501 - the same
)

REASONS: Final[dict[str, Reason]] = {r.code: r for r in (*_HONEST, *_INTEGRITY, *_TASK)}
"""Every code that ``Checked.reason`` and ``ArmTimes.reason`` may carry."""


def reason(code: str) -> Reason:
    """The registered reason of ``code``.

    Raises:
        ValueError: Nobody registered it; a device may not invent codes.
    """
    try:
        return REASONS[code]
    except KeyError:
        msg = f"reason code {code!r} is not registered in kbs_engine.refusals"
        raise ValueError(msg) from None


def explain(code: str, detail: str = "") -> str:
    """One line for people: code, meaning, detail, remedy."""
    known = reason(code)
    more = f" ({detail})" if detail else ""
    return f"{code}: {known.meaning}{more}; {known.remedy}"

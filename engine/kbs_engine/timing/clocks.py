"""Whether the device clock and a host-synchronised clock tell the same story.

The host's time of a call is the device's plus an overhead (flush, launch, wait) that does not
depend on the candidate: it is known from trusted calls of the same path, the baseline's or an
empty kernel's. Work hidden from the events shows up as host time that they do not explain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from kbs_engine.jobs import LEAST_SAMPLES
from kbs_engine.results import Timed
from kbs_engine.timing.blocks import block_differences
from kbs_engine.timing.special import student_t_quantile

SCHEMA_VERSION = 1

QUARTILE: Final = 25.0
"""Host noise only ever adds time, so the low quartile is the quiet part of the samples."""
SPREADS: Final = 5.0
"""Robust standard deviations of the trusted overhead that are allowed."""
RELATIVE: Final = 0.01
"""Rate by which the two clocks may differ, with room for rounding of long calls."""
SMALLEST_NS: Final = 2_000.0
"""Below two microseconds the host cannot tell: a system call and a poll take as much."""
IQR_PER_SIGMA: Final = 1.349
ENOUGH: Final = LEAST_SAMPLES
ENOUGH_PROCESSES: Final = 2
CONFIDENCE: Final = 0.99


class ClockCheck(msgspec.Struct, frozen=True, kw_only=True):
    """Verdict on one arm's two clocks; ``reason`` is a code of ``kbs_engine.refusals``."""

    ok: bool
    excess_ns: float
    """Low quartile of (host - device), less that of the trusted calls."""
    allowed_ns: float
    reason: str | None = None
    detail: str = ""


def check_clocks(
    device_ns: Sequence[float],
    host_ns: Sequence[float],
    *,
    overhead_ns: Sequence[float],
    timer_step_ns: float = 0.0,
) -> ClockCheck:
    """Compare the clocks of the same calls, call by call.

    Args:
        device_ns: Device time of every call.
        host_ns: Host time of the same calls, from before the flush to after the wait.
        overhead_ns: host - device of trusted calls by the same path. Its spread, never the
            candidate's own, sets the tolerance: a candidate cannot buy room by being noisy.
        timer_step_ns: Step of the device timer; events of zero or less are refused by it.

    Raises:
        ValueError: Lengths differ, or too few calls to say anything.
    """
    device, host = np.asarray(device_ns, dtype=float), np.asarray(host_ns, dtype=float)
    trusted = np.asarray(overhead_ns, dtype=float)
    if device.shape != host.shape or min(device.size, trusted.size) < ENOUGH:
        msg = f"{device.size} device, {host.size} host and {trusted.size} trusted times"
        raise ValueError(msg)
    if not (np.isfinite(device).all() and float(device.min()) > 0.0):
        return ClockCheck(
            ok=False, excess_ns=0.0, allowed_ns=timer_step_ns, reason="timer_below_step",
            detail=f"the device clock gave {float(device.min()):g} ns",
        )  # fmt: skip
    low, middle, high = (float(v) for v in np.percentile(trusted, [25, 50, 75]))
    excess = float(np.percentile(host - device, QUARTILE)) - low
    allowed = max(
        SPREADS * (high - low) / IQR_PER_SIGMA,
        RELATIVE * (float(np.percentile(device, QUARTILE)) + abs(middle)),
        2.0 * timer_step_ns,
        SMALLEST_NS,
    )
    if abs(excess) <= allowed:
        return ClockCheck(ok=True, excess_ns=excess, allowed_ns=allowed)
    story = "the host saw time that the events did not" if excess > 0 else "events exceed the host"
    return ClockCheck(
        ok=False, excess_ns=excess, allowed_ns=allowed, reason="clock_mismatch",
        detail=f"{story}: {abs(excess) / 1e3:.1f} µs a call, {allowed / 1e3:.1f} µs allowed",
    )  # fmt: skip


def check_gain(timed: Timed, a: int, b: int) -> ClockCheck | None:
    """Whether the host clock sees the gain of one arm over the other that the device clock claims.

    A candidate that lies by less than ``check_clocks`` tolerates still cannot make the host wait
    less. What a host needs around a call differs from process to process by tens of
    microseconds, so each process pair counts once, with the median difference of its blocks: the
    claim is contradicted when the host saw less than half of it, with 99 % confidence (Student's
    t over the pairs).

    Returns:
        None where the arms have no host times, or fewer than two process pairs.
    """
    device = block_differences(timed, a, b, clock="device")
    host = block_differences(timed, a, b, clock="host")
    if len(host) < ENOUGH_PROCESSES or device.keys() != host.keys():
        return None
    claimed = float(np.mean([np.median(values) for values in device.values()]))
    sign = 1.0 if claimed >= 0 else -1.0
    found = sign * np.asarray([np.median(values) for values in host.values()])
    reach = student_t_quantile(CONFIDENCE, found.size - 1) / float(np.sqrt(found.size))
    seen = float(found.mean() + reach * found.std(ddof=1))
    if seen >= abs(claimed) / 2.0:
        return ClockCheck(ok=True, excess_ns=abs(claimed) - seen, allowed_ns=abs(claimed) / 2.0)
    return ClockCheck(
        ok=False, excess_ns=abs(claimed) - seen, allowed_ns=abs(claimed) / 2.0,
        reason="clock_mismatch",
        detail=f"of {abs(claimed) / 1e3:.2f} µs gained by the device clock the host saw at most "
        f"{max(0.0, seen) / 1e3:.2f} µs",
    )  # fmt: skip

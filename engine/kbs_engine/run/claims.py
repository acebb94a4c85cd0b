"""Whether a claim of a gain can be believed: the second clock saw it, and physics allows it.

A candidate that rewrites its device times by less than the clocks' tolerance passes the check of
each arm alone; the difference of host times over many blocks still shows what was really gained.
"""

from __future__ import annotations

from typing import Final

import msgspec

from kbs_engine.errors import MeasurementError
from kbs_engine.results import ArmTimes, Timed

FINAL_PAIRS: Final = 3
"""A comparison over fewer process pairs is no final claim, and only noted (measurement.md)."""


def disbelieved(
    timed: Timed, source_sha256: str, noise: float, *, baselines: bool = False
) -> tuple[str, str]:
    """Reason code and detail of a claim of this source that does not hold; empty where all do.

    Args:
        timed: the raw answer of one timing job.
        source_sha256: whose claims are judged.
        noise: threshold beyond which it is called faster.
        baselines: whether claims against library baselines are judged too.
    """
    mine = next((i for i, arm in enumerate(timed.arms) if arm.sha256 == source_sha256), None)
    if mine is None or not _timed(timed.arms[mine]):
        return "", ""
    too_fast = _below_floor(timed.arms[mine])
    if too_fast:
        return "faster_than_physics", too_fast
    for other, arm in enumerate(timed.arms):
        judged = bool(arm.sha256) or baselines
        if arm.sha256 != source_sha256 and judged and _timed(arm):
            detail = _contradicted(timed, mine, other, noise)
            if detail:
                return "clock_mismatch", f"against {arm.name}: {detail}"
    return "", ""


def proof_of(timed: Timed, source_sha256: str, zero_sha256: str) -> Timed:
    """The arms of a champion's timing that prove it: itself, the best version, and v0 last.

    What stands behind v0's arm are ablations of the champion. They tell what a method returns
    and are no rival over which a gain is claimed. A timing whose first arm is another source, or
    that v0 is not in, is returned whole.
    """
    if timed.arms[0].sha256 != source_sha256:
        return timed
    places = [i for i, arm in enumerate(timed.arms) if i and arm.sha256 == zero_sha256]
    if not places:
        return timed
    return msgspec.structs.replace(timed, arms=timed.arms[: places[0] + 1])


def _timed(arm: ArmTimes) -> bool:
    return arm.reason is None and bool(arm.samples_ns)


def _below_floor(arm: ArmTimes) -> str:
    from kbs_engine.timing.summaries import summary

    time = summary(arm.samples_ns).median_ns
    if arm.floor_ns is None or time >= arm.floor_ns:
        return ""
    return f"{time:.0f} ns a call; the compulsory work needs {arm.floor_ns:.0f} ns at cited peaks"


def _contradicted(timed: Timed, mine: int, other: int, noise: float) -> str:
    """What the host saw of a gain that the device clock claims, where that is too little."""
    from kbs_engine.timing.clocks import check_gain
    from kbs_engine.timing.comparison import compare

    try:
        found = compare(timed, mine, other, noise=noise)
    except MeasurementError:
        return ""  # they never took turns: nothing is claimed
    if found.verdict != "faster" or found.process_pairs < FINAL_PAIRS:
        return ""
    gain = check_gain(timed, mine, other)
    return "" if gain is None or gain.ok else gain.detail

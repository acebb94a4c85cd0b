"""Passes of a profiler put together: what a later pass measured completes an earlier one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from kbs_engine.adaptive import DURATION, ProfilePlan
from kbs_engine.profiles import Profile

DRIFT: Final = 0.10
"""Passes whose durations differ by more than this saw the kernel in different states."""

DIAGNOSIS_SECTIONS: Final = (
    "SpeedOfLight", "LaunchStats", "Occupancy", "WorkloadDistribution", "ComputeWorkloadAnalysis",
    "InstructionStats", "MemoryWorkloadAnalysis", "MemoryWorkloadAnalysis_Tables",
    "SchedulerStats", "WarpStateStats", "SourceCounters",
)  # fmt: skip
"""Sections of Nsight Compute from which all symptom rules can be measured."""


def without_held(plan: ProfilePlan, sections: Iterable[str], metrics: Iterable[str]) -> ProfilePlan:
    """What of a plan an earlier pass did not collect; empty when that held all of it.

    A metric that was asked for and has no value will have none the next time either.
    """
    held = set(metrics) | {DURATION}
    left = ProfilePlan(
        number=plan.number,
        sections=tuple(name for name in plan.sections if name not in set(sections)),
        metrics=tuple(name for name in plan.metrics if name not in held),
        reasons=plan.reasons,
    )
    return left if left.empty else plan


def merge_passes(first: Sequence[Profile], second: Sequence[Profile]) -> tuple[Profile, ...]:
    """The launches of ``first`` with what ``second`` adds, paired in order and by name.

    A metric of both keeps the first pass's value, so that all values of a section belong
    together. A launch that the second pass lacks is kept and says so.
    """
    rest = list(second)
    found = []
    for profile in first:
        partner = next((one for one in rest if one.name == profile.name), None)
        if partner is None:
            flag = "the second pass did not see this launch"
            found.append(msgspec.structs.replace(profile, flags=(*profile.flags, flag)))
            continue
        rest.remove(partner)
        found.append(_merge(profile, partner))
    return tuple(found)


def _merge(first: Profile, second: Profile) -> Profile:
    flags = [*first.flags, *(flag for flag in second.flags if flag not in first.flags)]
    before, after = first.time_ns, second.time_ns
    if before and after and abs(after / before - 1) > DRIFT:
        flags.append(
            f"the passes took {before:.0f} ns and {after:.0f} ns: their counters describe "
            "different states of the card"
        )
    return msgspec.structs.replace(
        first,
        metrics={**second.metrics, **first.metrics},
        sections=tuple(dict.fromkeys((*first.sections, *second.sections))),
        flags=tuple(flags),
    )

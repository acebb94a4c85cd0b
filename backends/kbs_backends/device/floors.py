"""The physics floor on a timing, from the counted work of its task and cited specs."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from kbs_engine.facts import Chip
from kbs_engine.jobs import Task
from kbs_engine.results import Counted, Timed
from kbs_engine.timing import apply_floor, physics_floor

EVENT_STEP_NS = 500.0
"""Resolution of CUDA events as documented: around 0.5 µs (CUDA driver API, cuEventElapsedTime)."""


def with_floor(
    timed: Timed, counted: Counted, chip: Chip, task: Task, clocks_mhz: Mapping[str, float]
) -> Timed:
    """The timing with arms refused that are faster than the chip's peaks allow."""
    work = counted.work
    if task.permitted:
        permitted = tuple(dict.fromkeys((*work.precisions, *task.permitted)))
        work = msgspec.structs.replace(work, permitted=permitted)
    highest = clocks_mhz.get("sm_max")
    floor = physics_floor(
        work,
        chip,
        flops_from=counted.flops_from,
        bytes_from=counted.bytes_from,
        max_clock_hz=highest * 1e6 if highest else None,
        timer_step_ns=EVENT_STEP_NS,
    )
    return apply_floor(timed, floor)

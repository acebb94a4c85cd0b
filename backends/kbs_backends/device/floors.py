"""The physics floor on a timing, from the counted work of its task and cited specs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from kbs_backends.device.requests import Request
from kbs_engine.facts import Chip
from kbs_engine.jobs import Count, Result, Task, Time
from kbs_engine.results import Counted, Timed, read
from kbs_engine.timing import apply_floor, physics_floor

EVENT_STEP_NS = 500.0
"""Resolution of CUDA events as documented: around 0.5 µs (CUDA driver API, cuEventElapsedTime)."""


class Floors:
    """Puts the floor on timings of one device; the work of each task is counted once."""

    def __init__(self, ask: Callable[[Request], Result], chip: Chip | None) -> None:
        """``ask`` is the owner's; without a ``chip`` there is no floor."""
        self._ask = ask
        self._chip = chip
        self._counted: dict[bytes, Counted | None] = {}

    def floored(self, job: Time, result: Result) -> Result:
        """The result of a timing, with the floor of its task where one is known."""
        if self._chip is None:
            return result
        key = msgspec.json.encode(job.task, order="deterministic")
        if key not in self._counted:
            answer = self._ask(Request(job=Count(task=job.task)))
            self._counted[key] = read(answer, Counted) if answer.value is not None else None
        counted = self._counted[key]
        if counted is None:
            return result
        clocks = result.provenance.clocks_mhz
        timed = with_floor(read(result, Timed), counted, self._chip, job.task, clocks)
        return msgspec.structs.replace(result, value=msgspec.to_builtins(timed))


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

"""Whether the first pass of a profiler collects at once what a second one could ask for.

Starting a profiler takes seconds, the passes of a short kernel milliseconds. A kernel's time is
known from the timing before; where it is not, or is long, the first pass stays narrow.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import msgspec

from kbs_engine.adaptive import ProfilePlan
from kbs_engine.errors import MeasurementError
from kbs_engine.jobs import ProfileJob, SourceRef, Task, Time
from kbs_engine.results import Machine, Timed
from kbs_engine.timing import summary

Widest = Callable[[int], ProfilePlan]
"""Everything that any pass could ask for on a chip of this compute capability × 10."""

SHORT_NS: Final = 5e6
"""Up to this time of a call its passes take less than the start of a profiler."""
SLOW_S: Final = 15.0
"""A wide pass that took longer was none of a short kernel, such as one of very many launches."""


class WidePass:
    """Chooses the sections and metrics of first passes."""

    def __init__(self, widest: Widest) -> None:
        """``widest`` is asked once a short kernel is profiled."""
        self._widest = widest
        self._times_ns: dict[tuple[str, bytes], float] = {}
        self._slow: set[tuple[str, bytes]] = set()
        self._refused = False

    def saw(self, job: Time, timed: Timed) -> None:
        """Keep the time of each source."""
        for arm, found in zip(job.arms, timed.arms, strict=True):
            if isinstance(arm, SourceRef) and found.samples_ns:
                median = summary(found.samples_ns).median_ns
                self._times_ns[_key(arm, job.task)] = median

    def plan(self, job: ProfileJob, machine: Machine) -> ProfilePlan | None:
        """The wide pass in the place of a first one; None: do what the job says."""
        key = _key(job.source, job.task)
        if job.sections or job.metrics or key in self._slow:
            return None
        if self._times_ns.get(key, SHORT_NS + 1) > SHORT_NS:
            return None
        return self.of(machine)

    def of(self, machine: Machine) -> ProfilePlan | None:
        """The wide pass of a machine; None where its profiler refused it or its chip is unknown."""
        found = re.match(r"sm_(\d+)", machine.arch)
        return None if self._refused or found is None else self._widest(int(found.group(1)))

    def took(self, job: ProfileJob, seconds: float) -> None:
        """How long a wide pass ran: a slow one is not made again of the same source."""
        if seconds > SLOW_S:
            self._slow.add(_key(job.source, job.task))

    def refused(self, problem: MeasurementError) -> None:
        """A wide pass gave no report; over a metric it would give none the next time either."""
        self._refused = self._refused or "metric" in problem.message


def _key(source: SourceRef, task: Task) -> tuple[str, bytes]:
    return source.sha256, msgspec.json.encode(task, order="deterministic")

"""The second clock: what it reads by itself, and whether it tells the story of the first.

How long a gate takes to open and an answer to come depends on what the device did before, on
its clocks and on how many processes share it; all of that drifts. So a worker in which nothing
was ever loaded makes calls of the harness's own in turn with the arms, on the same values, by
the same path, as long as the race goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kbs_backends.device.accelerators import OwnerSide
from kbs_backends.device.calls import ArmState, Caller, CallFacts
from kbs_backends.device.messages import Method, Trial
from kbs_backends.device.refusal import Refusal
from kbs_backends.device.task import Values
from kbs_engine.timing import check_clocks

if TYPE_CHECKING:
    from kbs_backends.device.context import Bench
    from kbs_backends.device.task import LoadedTask

ENOUGH = 20
"""Own calls of a kind that are wanted; what the rounds of a race are too few for comes early."""
LEAST = 3
"""Fewer say nothing."""
DISCARDED = 5
"""Of the early ones the first, in which libraries are loaded."""
TRIALS: tuple[Trial, ...] = ("in_place", "returned")


class ClockWorker:
    """The worker in which nothing is ever loaded: one for all timings of tasks of one layout."""

    def __init__(self, bench: Bench, task: LoadedTask) -> None:
        """Nothing is started yet."""
        self._bench = bench
        self._task: LoadedTask | None = task
        self._layout = task.layout
        self._state: ArmState | None = None
        self._attached = False
        self._spoiled = False

    def serves(self, task: LoadedTask) -> bool:
        """Whether it can be called on values of this task."""
        alive = self._state is None or self._state.worker.alive
        return alive and not self._spoiled and task.layout == self._layout

    def spoil(self) -> None:
        """Something went wrong in a timing: no later one gets it, in whatever state it is."""
        self._spoiled = True

    def begin(self) -> None:
        """Have it open the device, like that of a candidate, if it has not yet."""
        if self._state is None and self._task is not None:
            self._state = self._bench.begin(self._task, trusted=False)
            self._task = None

    def state(self) -> ArmState:
        """The worker, when it can be called."""
        self.begin()
        state = self._state
        if state is None:
            raise RuntimeError("a clock that was not started")
        if not self._attached:
            state.worker.attached()
            self._attached = True
        return state

    def end(self) -> None:
        """Kill it; the bench buries it."""
        if self._state is not None:
            self._bench.end(self._state)


class SecondClock:
    """Own calls between those of the arms."""

    def __init__(
        self, side: OwnerSide, caller: Caller, state: ArmState, method: Method, *, rounds: int
    ) -> None:
        """``state`` is a worker in which nothing is loaded; ``rounds``: how many there will be."""
        self._side = side
        self._caller = caller
        self._state = state
        self._method = method
        self._early_calls = max(LEAST, ENOUGH - rounds)
        self._step = max(1, rounds // ENOUGH)
        self._early: dict[Trial, list[CallFacts]] = {kind: [] for kind in TRIALS}
        self._found: dict[Trial, list[CallFacts]] = {kind: [] for kind in TRIALS}

    def warm_up(self, values: Values, *, returned: bool) -> None:
        """The first calls of every kind that is wanted."""
        for kind in TRIALS if returned else TRIALS[:1]:
            for number in range(DISCARDED + self._early_calls):
                facts = self._trial(values, kind)
                if facts is not None and number >= DISCARDED:
                    self._early[kind].append(facts)

    def tick(self, values: Values, number: int, *, returned: bool) -> None:
        """One call, and one that returns its outputs where an arm does so.

        Of many rounds (``number`` counts them) some are left out, evenly.
        """
        if number % self._step:
            return
        for kind in TRIALS if returned else TRIALS[:1]:
            facts = self._trial(values, kind)
            if facts is not None:
                self._found[kind].append(facts)

    def judge(self, calls: Sequence[CallFacts]) -> None:
        """Refusal when an arm's calls took the owner time that the device's clock does not tell."""
        returned = any(one.returned for one in calls) and len(self._own("returned")) >= LEAST
        own = self._own("returned" if returned else "in_place")
        step_ns = max(self._side.timer_step_ns, self._side.clock_slack_ns / 2)
        _same_story(
            [(one.device_ns, one.whole_ns) for one in calls],
            [one.whole_ns - one.device_ns for one in own], step_ns,
        )  # fmt: skip
        if returned:  # nor may work be left for the time in which outputs are copied
            _same_story(
                [(one.stopped_ns, one.whole_ns) for one in calls],
                [one.whole_ns - one.stopped_ns for one in own], step_ns,
            )  # fmt: skip

    def _own(self, kind: Trial) -> Sequence[CallFacts]:
        found = self._found[kind]
        return found if len(found) >= ENOUGH else [*self._early[kind], *found]

    def _trial(self, values: Values, kind: Trial) -> CallFacts | None:
        """None where outputs cannot be returned: there is no room for them beside the arena's."""
        try:
            return self._caller.trial(self._state, values, self._method, kind)
        except Refusal as refusal:
            if kind == "in_place" or refusal.code != "out_of_memory":
                raise
            return None


def _same_story(
    clocks: Sequence[tuple[float, float]], overhead_ns: Sequence[float], step_ns: float
) -> None:
    found = check_clocks(
        [device for device, _ in clocks], [host for _, host in clocks],
        overhead_ns=overhead_ns, timer_step_ns=step_ns,
    )  # fmt: skip
    if not found.ok and found.reason:
        raise Refusal(found.reason, found.detail)

"""The Time job: arms take turns on fresh values, in fresh processes, every output compared."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence

from kbs_backends.device import kept_cache
from kbs_backends.device.calls import ArmState, Caller
from kbs_backends.device.checking import finish, refuse_degenerate
from kbs_backends.device.context import Bench, seconds_since
from kbs_backends.device.kept_cache import Kept
from kbs_backends.device.messages import Method
from kbs_backends.device.refusal import Refusal
from kbs_backends.device.samples import ArmSamples
from kbs_backends.device.second_clock import ClockWorker, SecondClock
from kbs_backends.device.task import LoadedTask, Values
from kbs_engine.errors import MeasurementError
from kbs_engine.jobs import SourceRef, Time
from kbs_engine.results import Timed
from kbs_engine.timing import abba

MOST_WARMUP_CALLS = 500


def race(bench: Bench, job: Time, artifacts: Mapping[str, str]) -> Timed:
    """Time all arms interleaved; an arm at fault carries its reason and no claim."""
    if job.settings.method == "do_bench" and bench.side.name != "cuda":
        raise MeasurementError(
            "do_bench times GPU kernels only", remedy="use --timing-method host_time"
        )
    task = bench.load(job.task)
    with bench.clock(task) as clock:
        return _timed(bench, job, task, clock, artifacts)


def _timed(
    bench: Bench, job: Time, task: LoadedTask, clock: ClockWorker, artifacts: Mapping[str, str]
) -> Timed:
    start = time.monotonic()  # what a fresh process imports to load a task is no time of the device
    clocks_before = bench.side.clocks_mhz()
    method: Method = job.settings.method
    samples = _race(bench, job, task, clock, method, artifacts)
    warnings = []
    held_back = [one.name for one in samples if one.reason == "clock_mismatch"]
    if held_back and method == "cuda_event" and bench.side.queues_launches:
        method = "late_event"
        samples = _race(bench, job, task, clock, method, artifacts)
        warnings.append(
            f"timed without queueing launches ahead: queued, the clocks disagreed on "
            f"{', '.join(held_back)}"
        )
    warnings += [note for one in samples for note in one.notes]
    if task.expected_from != "fp64":
        warnings.append("timed outputs were compared with the reference in its own data type")
    return Timed(
        arms=tuple(one.times() for one in samples),
        timer=_timer(bench, method),
        order="ABBA" if len(samples) > 1 else "A",
        verified="timed_outputs" not in bench.off,
        clocks_before_mhz=clocks_before,
        clocks_after_mhz=bench.side.clocks_mhz(),
        gpu_time_s=seconds_since(start),
        warnings=tuple(dict.fromkeys(warnings)),
    )


def _race(
    bench: Bench,
    job: Time,
    task: LoadedTask,
    clock: ClockWorker,
    method: Method,
    artifacts: Mapping[str, str],
) -> list[ArmSamples]:
    """All process pairs of a race.

    Work on several streams that was queued behind one shut gate made the owner wait 1.9 ms longer
    than the events told, every time (measured on an H200). Such an arm, as any whose clocks
    disagree, is timed once more from an open gate; there a lie stays a lie.
    """
    samples = [ArmSamples.of(arm) for arm in job.arms]
    compiled: dict[int, Kept] = {}
    try:
        refuse_degenerate(bench, task)
        for pair in range(job.fresh_processes):
            with contextlib.ExitStack() as stack:
                bench.bury()  # what the last ones held is free again: all get the like of it
                processes = _Pair(bench, job, task, samples, pair, method, compiled)
                processes.run(stack, clock, artifacts)
    except Refusal as refusal:
        clock.spoil()
        for one in samples:
            one.refuse(refusal)
    return samples


def _timer(bench: Bench, method: Method) -> str:
    if method == "cuda_event":
        return bench.side.timer
    if method == "late_event":
        return f"{bench.side.timer}; launches not queued ahead"
    return method


class _Pair:
    """One set of fresh processes, one for each arm."""

    def __init__(
        self,
        bench: Bench,
        job: Time,
        task: LoadedTask,
        samples: Sequence[ArmSamples],
        pair: int,
        method: Method,
        compiled: dict[int, Kept],
    ) -> None:
        self._bench = bench
        self._job = job
        self._task = task
        self._samples = samples
        self._pair = pair
        self._method = method
        self._compiled = compiled
        self._caller = Caller(bench.side, task, bench.off)
        self._states: dict[int, ArmState] = {}
        self._returned = False
        self._clock: SecondClock | None = None

    def run(
        self, stack: contextlib.ExitStack, clock: ClockWorker, artifacts: Mapping[str, str]
    ) -> None:
        """Start, warm up, time, look again."""
        self._start(stack, clock, artifacts)
        for index in list(self._states):
            with self._samples[index].judged():
                self._warm_up(index)
        self._time()
        for index, state in self._states.items():
            one = self._samples[index]
            if one.reason is None:
                with one.judged():
                    finish(self._bench, self._caller, state)
                    if self._clock is not None and not state.trusted:
                        self._clock.judge(one.calls_of(self._pair))

    def _start(
        self, stack: contextlib.ExitStack, clock: ClockWorker, artifacts: Mapping[str, str]
    ) -> None:
        """All processes open the device and load at once, as each takes a while; then they call."""
        watched = self._watched()
        if watched:
            clock.begin()
        begun: dict[int, ArmState] = {}

        def begin(index: int) -> None:
            trusted = not isinstance(self._job.arms[index], SourceRef)
            begun[index] = self._begin(stack, trusted=trusted)

        def fill(index: int) -> None:
            begun[index].worker.attached()
            kept_cache.give(self._kept(index), begun[index].worker.folder)
            arm = self._job.arms[index]
            self._bench.begin_filling(begun[index], arm, self._task, artifacts)

        self._each(begin)
        self._each(fill)
        self._each(lambda index: begun[index].worker.loaded())
        self._bench.quiet()
        self._each(lambda index: self._first_call(index, begun[index]))
        if watched and any(not state.trusted for state in self._states.values()):
            self._start_clock(clock.state())

    def _each(self, step: Callable[[int], object]) -> None:
        """One step of every arm that is not refused; a Refusal in it concerns that arm alone."""
        for index, one in enumerate(self._samples):
            if one.reason is None:
                with one.judged():
                    step(index)

    def _watched(self) -> bool:
        """Whether an arm is there whose clock may lie, and a second one to hold against it."""
        arms = zip(self._job.arms, self._samples, strict=True)
        known = any(isinstance(arm, SourceRef) and one.reason is None for arm, one in arms)
        off = "second_clock" in self._bench.off or self._method == "do_bench"
        return known and not off

    def _begin(self, stack: contextlib.ExitStack, *, trusted: bool) -> ArmState:
        state = self._bench.begin(self._task, trusted=trusted)
        stack.callback(self._bench.end, state)
        return state

    def _start_clock(self, state: ArmState) -> None:
        self._clock = SecondClock(
            self._bench.side, self._caller, state, self._method, rounds=self._job.settings.trials
        )
        self._clock.warm_up(self._task.fresh(), returned=self._returned)

    def _some_return(self) -> bool:
        """Whether an arm whose clock is watched has returned outputs."""
        arms = zip(self._job.arms, self._samples, strict=True)
        late = any(one.returned and isinstance(arm, SourceRef) for arm, one in arms)
        return self._returned or late

    def _kept(self, index: int) -> Kept:
        if self._pair:
            return self._compiled.get(index, {})
        return self._bench.compiled.of(self._job.arms[index], self._job.task)[0]

    def _first_call(self, index: int, state: ArmState) -> None:
        facts = self._caller.call(state, self._task.fresh())
        if self._pair == 0 and self._job.fresh_processes > 1:
            self._compiled[index] = kept_cache.keep(state.worker.folder)
        if not state.trusted:
            self._returned |= facts.returned
        known = self._bench.compiled.of(self._job.arms[index], self._job.task)[1]
        self._samples[index].cold(facts.host_ns if known is None else known)
        self._states[index] = state
        self._samples[index].notes += state.notes

    def _warm_up(self, index: int) -> None:
        settings = self._job.settings
        pool = (self._task.fresh(), self._task.fresh())
        least = settings.warmup_calls + max(0, settings.prewarm_calls - 1)
        start = time.monotonic()
        for number in range(MOST_WARMUP_CALLS):
            warm = 1e3 * seconds_since(start) >= settings.warmup_ms
            if number >= least and (warm or self._bench.side.name == "host"):
                return
            self._caller.call(
                self._states[index], pool[number % 2], method=self._method, repeated=number > 1
            )

    def _time(self) -> None:
        settings = self._job.settings
        count = len(self._samples)
        order = abba(count, -(-settings.trials // 2))
        if "interleaving" in self._bench.off:
            order = tuple(sorted(order))
        done = [0] * count
        values: Values | None = None
        for position, index in enumerate(order):
            if values is None or (position % count == 0 and "fresh_values" not in self._bench.off):
                values = self._task.fresh()
                if self._clock is not None:
                    self._clock.tick(values, position // count, returned=self._some_return())
            one = self._samples[index]
            if (
                one.reason is not None
                or index not in self._states
                or done[index] == settings.trials
            ):
                continue
            with one.judged():
                facts = self._caller.call(
                    self._states[index], values, method=self._method, timed=True
                )
                done[index] += 1
                one.add(facts, self._pair, position, kept=done[index] > settings.discard_first)

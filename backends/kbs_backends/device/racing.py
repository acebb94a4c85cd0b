"""The Time job: arms take turns on fresh values, in fresh processes, every output compared."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence

from kbs_backends.device import kept_cache
from kbs_backends.device.calls import ArmState, Caller
from kbs_backends.device.checking import finish, refuse_degenerate
from kbs_backends.device.context import Bench, seconds_since
from kbs_backends.device.kept_cache import Kept
from kbs_backends.device.messages import Method
from kbs_backends.device.refusal import Refusal
from kbs_backends.device.samples import ArmSamples
from kbs_backends.device.second_clock import SecondClock
from kbs_backends.device.task import LoadedTask, Values
from kbs_engine.errors import MeasurementError
from kbs_engine.jobs import Time
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
    start = time.monotonic()  # what a fresh process imports to load a task is no time of the device
    clocks_before = bench.side.clocks_mhz()
    method: Method = job.settings.method
    samples = _race(bench, job, task, method, artifacts)
    warnings = []
    held_back = [one.name for one in samples if one.reason == "clock_mismatch"]
    if held_back and method == "cuda_event" and bench.side.queues_launches:
        method = "late_event"
        samples = _race(bench, job, task, method, artifacts)
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
    bench: Bench, job: Time, task: LoadedTask, method: Method, artifacts: Mapping[str, str]
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
                _Pair(bench, job, task, samples, pair, method, compiled).run(stack, artifacts)
    except Refusal as refusal:
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

    def run(self, stack: contextlib.ExitStack, artifacts: Mapping[str, str]) -> None:
        """Start, warm up, time, look again."""
        for index, one in enumerate(self._samples):
            if one.reason is None:
                with one.judged():
                    self._start(stack, index, artifacts)
        if self._watched():
            self._start_clock(stack)
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

    def _watched(self) -> bool:
        """Whether an arm is there whose clock may lie, and a second one to hold against it."""
        known = any(not state.trusted for state in self._states.values())
        off = "second_clock" in self._bench.off or self._method == "do_bench"
        return known and not off

    def _start_clock(self, stack: contextlib.ExitStack) -> None:
        state = self._bench.start_worker(self._task, trusted=False)
        stack.callback(self._bench.end, state)
        method = self._method
        self._clock = SecondClock(self._bench.side, self._caller, state, method)
        self._clock.warm_up(self._task.fresh(), returned=self._returned)

    def _start(self, stack: contextlib.ExitStack, index: int, artifacts: Mapping[str, str]) -> None:
        bench, arm = self._bench, self._job.arms[index]
        state = bench.start(arm, self._task)
        stack.callback(bench.end, state)
        kept_cache.give(self._compiled.get(index, {}), state.worker.folder)
        bench.fill(state, arm, self._task, artifacts)
        facts = self._caller.call(state, self._task.fresh())
        if self._pair == 0 and self._job.fresh_processes > 1:
            self._compiled[index] = kept_cache.keep(state.worker.folder)
        self._returned |= facts.returned
        self._samples[index].cold(facts.host_ns)
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
                    self._clock.tick(values, returned=any(s.returned for s in self._samples))
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

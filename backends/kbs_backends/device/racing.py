"""The Time job: arms take turns on fresh values, in fresh processes, every output compared."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence

from kbs_backends.device.calls import ArmState, Caller
from kbs_backends.device.checking import finish, refuse_degenerate
from kbs_backends.device.context import Bench, seconds_since
from kbs_backends.device.messages import Method, Trial
from kbs_backends.device.refusal import Refusal
from kbs_backends.device.samples import ArmSamples
from kbs_backends.device.task import LoadedTask, Values
from kbs_engine.errors import MeasurementError
from kbs_engine.jobs import Time, TimingSettings
from kbs_engine.results import Timed
from kbs_engine.timing import abba, check_clocks

MOST_WARMUP_CALLS = 500


def race(bench: Bench, job: Time, artifacts: Mapping[str, str]) -> Timed:
    """Time all arms interleaved; an arm at fault carries its reason and no claim."""
    start = time.monotonic()
    if job.settings.method == "do_bench" and bench.side.name != "cuda":
        raise MeasurementError(
            "do_bench times GPU kernels only", remedy="use --timing-method host_time"
        )
    task = bench.load(job.task)
    samples = [ArmSamples.of(arm) for arm in job.arms]
    clocks_before = bench.side.clocks_mhz()
    try:
        refuse_degenerate(bench, task)
        for pair in range(job.fresh_processes):
            with contextlib.ExitStack() as stack:
                _Pair(bench, job, task, samples, pair).run(stack, artifacts)
    except Refusal as refusal:
        for one in samples:
            one.refuse(refusal)
    warnings = [note for one in samples for note in one.notes]
    if task.expected_from != "fp64":
        warnings.append("timed outputs were compared with the reference in its own data type")
    return Timed(
        arms=tuple(one.times() for one in samples),
        timer=_timer(bench, job.settings),
        order="ABBA" if len(samples) > 1 else "A",
        verified="timed_outputs" not in bench.off,
        clocks_before_mhz=clocks_before,
        clocks_after_mhz=bench.side.clocks_mhz(),
        gpu_time_s=seconds_since(start),
        warnings=tuple(dict.fromkeys(warnings)),
    )


def _timer(bench: Bench, settings: TimingSettings) -> str:
    if settings.method == "cuda_event":
        return bench.side.timer
    return settings.method


def _gated(method: Method) -> Method:
    """The method whose clocks are calibrated: do_bench has no second clock of its own."""
    return "host_time" if method == "do_bench" else method


class _Pair:
    """One set of fresh processes, one for each arm."""

    def __init__(
        self, bench: Bench, job: Time, task: LoadedTask, samples: Sequence[ArmSamples], pair: int
    ) -> None:
        self._bench = bench
        self._job = job
        self._task = task
        self._samples = samples
        self._pair = pair
        self._caller = Caller(bench.side, task, bench.off)
        self._states: dict[int, ArmState] = {}
        self._overhead: dict[int, dict[Trial, list[float]]] = {}

    def run(self, stack: contextlib.ExitStack, artifacts: Mapping[str, str]) -> None:
        """Start, warm up, time, look again."""
        for index, one in enumerate(self._samples):
            if one.reason is None:
                with one.judged():
                    self._start(stack, index, artifacts)
        for index in list(self._states):
            with self._samples[index].judged():
                self._warm_up(index)
        self._time()
        for index, state in self._states.items():
            one = self._samples[index]
            if one.reason is None:
                with one.judged():
                    finish(self._bench, self._caller, state)
                    self._clocks(index)

    def _start(self, stack: contextlib.ExitStack, index: int, artifacts: Mapping[str, str]) -> None:
        bench, arm = self._bench, self._job.arms[index]
        state = bench.start(arm, self._task)
        stack.callback(bench.end, state)
        self._overhead[index] = bench.calibrate(
            self._caller, state, self._task.fresh(), _gated(self._job.settings.method)
        )
        bench.fill(state, arm, self._task, artifacts)
        facts = self._caller.call(state, self._task.fresh())
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
                self._states[index], pool[number % 2], method=settings.method, repeated=number > 1
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
            one = self._samples[index]
            if (
                one.reason is not None
                or index not in self._states
                or done[index] == settings.trials
            ):
                continue
            with one.judged():
                facts = self._caller.call(
                    self._states[index], values, method=settings.method, timed=True
                )
                done[index] += 1
                one.add(facts, self._pair, position, kept=done[index] > settings.discard_first)

    def _clocks(self, index: int) -> None:
        one = self._samples[index]
        if self._states[index].trusted or "second_clock" in self._bench.off:
            return
        if self._job.settings.method == "do_bench":
            return
        device, host = one.clocks_of(self._pair)
        side, trials = self._bench.side, self._overhead[index]
        returned = one.returned and "returned" in trials
        found = check_clocks(
            device, host, overhead_ns=trials["returned" if returned else "in_place"],
            timer_step_ns=max(side.timer_step_ns, side.clock_slack_ns / 2),
        )  # fmt: skip
        if not found.ok and found.reason:
            raise Refusal(found.reason, found.detail)

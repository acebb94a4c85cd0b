"""The search of a version in rounds: it finds, keeps its budget, and tells what it spent."""

from __future__ import annotations

import msgspec
import pytest

from kbs.looping.searching import search as answer_search
from kbs.looping.told_before import AskRecorder, AskReplayer
from kbs_engine.blobs import BlobStore
from kbs_engine.jobs import Check, Result, SourceRef, Time
from kbs_engine.loop.actions import Begin, Note, PutFile
from kbs_engine.loop.asks import JobsDone, MarksRead, ReadMarks, RunJobs, Search, Write, Written
from kbs_engine.loop.branching import Space
from kbs_engine.loop.budget import share_slots
from kbs_engine.loop.costs import benchmark_costs
from kbs_engine.loop.decision import Decision
from kbs_engine.loop.exploring import Explored, Tried
from kbs_engine.loop.ledger import Facts, Ledger
from kbs_engine.loop.parts import Offered, Tunable
from kbs_engine.loop.searching import MOST_ROUNDS, PATIENCE, search
from kbs_engine.plans import Plan, PlannedMethod
from kbs_engine.results import ArmTimes, Checked, Machine, Round, Timed
from kbs_engine.run.records import SearchFile, Settings

VALUES = (16, 32, 64, 128, 256, 512)
SOURCE = SourceRef(sha256="c" * 64, language="triton", name="kernel.py")
TUNABLES = tuple(Tunable(name=name, current=16, values=VALUES) for name in ("A", "B", "C"))
METHODS = tuple(
    PlannedMethod(method=method, axis="memory", evidence="e", change="c", expected={}, risk="r",
                  decision_rule="d")
    for method in ("row_in_registers", "streaming_stores", "cache_eviction_hints")
)  # fmt: skip
UNIT = 0.5
"""GPU seconds of one arm in one process."""


def time_of(row: dict) -> float:
    """A made-up time: one valley at A=128, B=256, C=32."""
    at = {name: VALUES.index(row[name]) for name in "ABC"}
    return 1000.0 + 300 * abs(at["A"] - 3) + 200 * abs(at["B"] - 4) + 100 * abs(at["C"] - 1)


class World:
    """Answers what a search asks; times are made up, and a source with A=512 is wrong."""

    def __init__(self) -> None:
        self.rows: dict[str, dict] = {}
        self.files: dict[str, str] = {}
        self.searches: list[Search] = []

    def source(self, row: dict) -> SourceRef:
        sha256 = f"{'-'.join(str(row[name]) for name in 'ABC'):0>64}"
        self.rows[sha256] = row
        return SourceRef(sha256=sha256, language="triton", name="kernel.py", tunables=row)

    def drive(self, steps) -> Explored:
        told = None
        while True:
            try:
                ask = steps.send(told)
            except StopIteration as end:
                return end.value
            told = self.answer(ask)

    def answer(self, ask):
        if isinstance(ask, Note):
            if isinstance(ask, PutFile):
                self.files[ask.path] = ask.text
            return None
        if isinstance(ask, ReadMarks):
            return MarksRead(tunables=TUNABLES)
        if isinstance(ask, Search):
            self.searches.append(ask)
            return answer_search(ask)
        if isinstance(ask, Write):
            rows = tuple(self.source(one.tunables) for one in ask.variants)
            return Written(sources=rows, faults=("",) * len(rows))
        assert isinstance(ask, RunJobs)
        return JobsDone(results=tuple(self.result(job) for job in ask.jobs))

    def result(self, job) -> Result:
        value = self.checked(job) if isinstance(job, Check) else self.timed(job)
        kind = str(job.__struct_config__.tag)
        return Result(job_key=job.key, kind=kind, value=msgspec.to_builtins(value))

    lasts = 0.0
    """Seconds of a check."""

    def checked(self, job: Check) -> Checked:
        right = self.rows[job.source.sha256]["A"] != 512
        one = Round(distribution="normal", compared_elements=1, ok=right)
        return Checked(passed=right, reason=None if right else "wrong_result", rounds=(one,),
                       elapsed_s=self.lasts or None)  # fmt: skip

    def timed(self, job: Time) -> Timed:
        arms = []
        for arm in job.arms:
            base = time_of(self.rows[arm.sha256])
            samples = tuple(base + i % 3 for i in range(40 * job.fresh_processes))
            arms.append(
                ArmTimes(
                    name=arm.name,
                    sha256=arm.sha256,
                    samples_ns=samples,
                    process=tuple(i // 40 for i in range(len(samples))),
                    position=tuple(i % 40 for i in range(len(samples))),
                )
            )
        spent = UNIT * len(arms) * job.fresh_processes
        return Timed(arms=tuple(arms), timer="host", gpu_time_s=spent)


def ledger_of(world: World, **settings) -> Ledger:
    fields = {"language": "triton", "dims": {}, "kernel_suffix": ".py", "branches": 4,
              "iterations": 1, "process_pairs": 1, **settings}  # fmt: skip
    begin = Begin(
        run_id="run", created_at="2026-01-05T10:00:00+00:00", name="kernel", baseline=SOURCE,
        reference_sha256="2" * 64, settings=Settings(**fields),
    )  # fmt: skip
    ledger = Ledger(begin)
    ledger.machine = Machine(device="host", gpu="a CPU", counters=False, counters_why_not="none")
    zero = world.source({"A": 16, "B": 16, "C": 16})
    timed = world.timed(Time(arms=(zero,), task=ledger.task, fresh_processes=1))
    ledger.versions[0] = Facts(number=0, base=None, source=zero, timed=timed)
    ledger.attempts = 1
    return ledger


def searched(lasts=0.0, **settings) -> tuple[Explored, World, Ledger, SearchFile]:
    world = World()
    world.lasts = lasts
    ledger = ledger_of(world, **settings)
    ledger.checks[False] = lasts
    zero = ledger.versions[0]
    planned = tuple(row.method for row in METHODS)
    offered = Offered(source=SOURCE, methods=planned, tuning="block_size_tuning")
    row = {"A": 16, "B": 16, "C": 16}
    first = Tried(name="b0", offered=offered, source=zero.source, tunables=row,
                  median_ns=time_of(row), ratio=1.0)  # fmt: skip
    explored = Explored(branches=[first], order=[first], tries=1, feedback=())
    plan = Plan(methods=METHODS, slots=3, axis_slots={})
    decision = Decision(base=zero, plan=plan, budget=share_slots([]), stop=None)
    explored = world.drive(search(ledger, 1, decision, explored, 0.0))
    told = msgspec.json.decode(world.files["v1/search.json"], type=SearchFile)
    return explored, world, ledger, told


def test_rounds_find_what_one_race_cannot():
    explored, _, _, told = searched(gpu_seconds=1000.0)
    assert time_of(explored.order[0].tunables) <= 1100.0
    assert told.space == 216
    assert len(told.rounds) <= MOST_ROUNDS
    proposed = sum(row.proposed for row in told.rounds)
    assert proposed == len(explored.branches) < 80
    keys = [tuple(sorted(row.tunables.items())) for row in explored.branches]
    assert len(set(keys)) == len(keys)
    assert explored.order[0].name != "b0"
    assert told.ended


def test_every_time_measured_is_told_to_the_next_round_and_what_was_wrong_too():
    explored, world, _, _ = searched(gpu_seconds=1000.0)
    last = world.searches[-1]
    assert len(last.seen) >= 4
    wrong = [row for row in last.seen if row.assignment["A"] == 512]
    assert all(row.time_ns is None for row in wrong)
    assert all(row.time_ns for row in last.seen if row.assignment["A"] != 512)
    assert [ask.round for ask in world.searches] == list(range(2, len(world.searches) + 2))
    assert all(not row.standing for row in explored.branches if row.tunables["A"] == 512)


@pytest.mark.parametrize("lasts", [0.0, 1.5])
@pytest.mark.parametrize("seconds", [20.0, 40.0, 60.0])
def test_the_budget_pays_for_the_proof_that_follows(seconds, lasts):
    _, _, ledger, told = searched(lasts, gpu_seconds=seconds)
    # the champion beside two rivals, a checked ablation of every method planned, the benchmark
    rest = (
        lasts * len(METHODS)
        + UNIT * (3 + len(METHODS) + 2)
        + UNIT * (2 + len(ledger.settings.baselines))
    )
    assert ledger.state.gpu_seconds_used + rest <= seconds
    assert told.gpu_seconds == pytest.approx(ledger.state.gpu_seconds_used)
    assert told.samples == 0 or told.samples % 40 == 0


def test_a_larger_budget_is_not_worse():
    times = [time_of(searched(gpu_seconds=s)[0].order[0].tunables) for s in (12.0, 30.0, 300.0)]
    assert times == sorted(times, reverse=True)
    assert times[0] > times[-1]


def test_it_ends_where_rounds_no_longer_pay():
    _, _, _, told = searched(gpu_seconds=1000.0)
    assert told.ended in (
        f"{PATIENCE} rounds in a row found nothing faster", f"{MOST_ROUNDS} rounds were made",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "why"),
    [({}, "no budget"), ({"gpu_seconds": 3.0}, "for a round and the proof")],
)
def test_without_a_budget_or_the_means_there_is_one_race(settings, why):
    explored, world, _, told = searched(**settings)
    assert not world.searches
    assert len(explored.branches) == 1
    assert why in told.ended
    assert len(told.rounds) == 1


def test_a_replay_searches_as_the_recorded_run_did(tmp_path):
    ask = Search(
        spaces=tuple(Space(name=n, current=16, values=VALUES) for n in "ABC"),
        seen=(), wanted=2, round=2,
    )  # fmt: skip
    blobs = BlobStore(tmp_path / "blobs")

    class Live:
        def answer(self, one):
            return answer_search(one)

    class Changed:
        def answer(self, _one):
            raise AssertionError("a replay asks nobody")

    folder = tmp_path / "recording"
    told = AskRecorder(Live(), folder, blobs).answer(ask)
    assert AskReplayer(Changed(), folder, blobs).answer(ask) == told
    assert len(told.assignments) == 2


@pytest.mark.parametrize(("iterations", "part"), [(1, 1.0), (2, 0.5), (9, 0.5)])
def test_a_version_may_spend_half_of_what_is_left_and_the_last_one_all_of_it(iterations, part):
    seconds = 24.0
    _, _, ledger, told = searched(gpu_seconds=seconds, iterations=iterations)
    share = part * (seconds - benchmark_costs(ledger))
    assert told.ended.endswith(f"{share:.1f} s for this version")
    assert ledger.further == pytest.approx(ledger.state.gpu_seconds_used), "v1's first race is free"

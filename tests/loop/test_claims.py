"""A champion whose gain only the device clock saw is out, with its reason, and the next stands."""

from __future__ import annotations

import msgspec

from kbs_engine.jobs import Check, Result, SourceRef, Time
from kbs_engine.loop.asks import JobsDone, RunJobs
from kbs_engine.loop.exploring import Explored, Tried, bench_of_branch
from kbs_engine.loop.ledger import Facts, Ledger
from kbs_engine.loop.parts import Offered
from kbs_engine.loop.proving import choose_champion
from kbs_engine.results import ArmTimes, Checked, Round, Timed, read
from kbs_engine.run.claims import disbelieved, proof_of
from tests.loop.test_failing import decision
from tests.loop.test_machine import start

HONEST, LIAR, VARIANT = "a" * 64, "b" * 64, "d" * 64
DEVICE_NS = {HONEST: 90_000.0, LIAR: 50_000.0, VARIANT: 200_000.0}
HOST_NS = {HONEST: 95_000.0, LIAR: 105_000.0, VARIANT: 95_000.0}


def timed(job: Time) -> Result:
    count = job.settings.trials - job.settings.discard_first
    arms = []
    for place, arm in enumerate(job.arms):
        turns = range(count)
        jitter = [
            1.0 + 0.001 * ((7 * i + place) % 5) for _ in range(job.fresh_processes) for i in turns
        ]
        arms.append(
            ArmTimes(
                name=arm.name,
                sha256=arm.sha256,
                samples_ns=tuple(DEVICE_NS.get(arm.sha256, 100_000.0) * j for j in jitter),
                host_ns=tuple(HOST_NS.get(arm.sha256, 105_000.0) * j for j in jitter),
                process=tuple(p for p in range(job.fresh_processes) for _ in turns),
                position=tuple(
                    len(job.arms) * i + (place if i % 2 == 0 else len(job.arms) - 1 - place)
                    for _ in range(job.fresh_processes)
                    for i in turns
                ),
            )
        )
    value = Timed(arms=tuple(arms), timer="cuda_event")
    return Result(job_key=job.key, kind="time", value=msgspec.to_builtins(value))


def branch(ledger: Ledger, name: str, sha256: str) -> Tried:
    source = SourceRef(sha256=sha256, language="triton", name="kernel.py")
    checked = Checked(
        passed=True, rounds=(Round(distribution="normal", compared_elements=16, ok=True),)
    )
    job = Check(source=source, task=ledger.task)
    check = Result(job_key=job.key, kind="check", value=msgspec.to_builtins(checked))
    return Tried(name=name, offered=Offered(source=source, methods=("smem_padding",)),
                 source=source, tunables={}, check=check, checked=checked)  # fmt: skip


def drive(steps):
    told = None
    while True:
        try:
            ask = steps.send(told)
        except StopIteration as end:
            return end.value
        told = None
        if isinstance(ask, RunJobs):
            told = JobsDone(results=tuple(timed(job) for job in ask.jobs))


def test_the_next_branch_is_champion_where_the_host_contradicts_the_first():
    ledger = Ledger(start())
    chosen = decision(ledger)
    chosen.base.median_ns = 100_000.0
    liar, honest = branch(ledger, "b0", LIAR), branch(ledger, "b1", HONEST)
    explored = Explored(branches=[liar, honest], order=[liar, honest], tries=1, feedback=())
    proven = drive(choose_champion(ledger, 1, chosen, explored))
    assert proven.branch is honest
    assert isinstance(proven.facts, Facts)
    assert liar.reason == "clock_mismatch"
    assert "the host saw at most" in liar.fault
    bench = bench_of_branch(ledger, 1, liar)
    assert (bench.correct, bench.reason, bench.comparisons) == (False, "clock_mismatch", ())
    assert bench_of_branch(ledger, 1, honest).correct


def test_claims_are_over_rivals_and_not_over_the_ablations_behind_v0():
    ledger = Ledger(start())
    zero, source = ledger.begin.baseline, branch(ledger, "b0", HONEST).source
    variant = branch(ledger, "no_x", VARIANT).source
    job = Time(arms=(source, zero, variant), task=ledger.task, fresh_processes=3)
    found = read(timed(job), Timed)
    assert disbelieved(found, HONEST, 0.02)[0] == "clock_mismatch"
    proof = proof_of(found, HONEST, zero.sha256)
    assert [arm.sha256 for arm in proof.arms] == [HONEST, zero.sha256]
    assert disbelieved(proof, HONEST, 0.02) == ("", "")
    assert proof_of(found, HONEST, LIAR) == found, "v0 is not in it"
    assert proof_of(found, VARIANT, zero.sha256) == found, "it proves another source"
    one = branch(ledger, "b0", HONEST)
    one.blocks.append(timed(job))
    assert bench_of_branch(ledger, 1, one).correct

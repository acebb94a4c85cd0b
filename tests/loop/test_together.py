"""One timing proves a champion and ablates it: which jobs, with which arms, and what they give."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kbs.looping import beginning
from kbs.looping.beginning import settings_of
from kbs.looping.driver import Driver
from kbs.looping.progress import Quiet
from kbs.looping.running import Wiring, wired
from kbs.looping.writing import Writer
from kbs.proposers.builtin import BuiltinProposer
from kbs_engine.gate import Inspectors, check_version
from kbs_engine.gate.ablation_again import attributions_again, differences
from kbs_engine.jobs import Check, Job, Time
from kbs_engine.loop.costs import check_costs, proof_costs, timing_costs
from kbs_engine.results import Timed
from kbs_engine.run import RunFolder
from kbs_engine.run.judged import AttributionFile
from kbs_engine.run.measured import Bench
from kbs_engine.run.settings import Settings
from tests.loop.test_orders import KERNEL, REPORT, Host, started
from tests.loop.test_searching import World, ledger_of

METHODS = {"single_pass_algorithm": "effective", "hoist_invariants": "ineffective",
           "recompute_instead_of_load": "harmful"}  # fmt: skip
FINAL = 1_000_000_000
"""Blocks from here on are final benchmarks."""


class Overlapping(Host):
    """The second switch gains what the first would: effects do not add up."""

    def speed(self, text: str) -> float:
        gained = "FIRST = True" in text or "SECOND = True" in text
        return 500_000.0 if gained else 1_000_000.0


class Refusing(Host):
    """The fastest branch races well, and is refused in fresh processes."""

    def speed(self, text: str) -> float:
        return super().speed(text) * (0.8 if "BLOCK = 32" in text else 1.0)

    def _timed(self, job: Time) -> Timed:
        found = super()._timed(job)
        text = self.blobs.text(getattr(job.arms[0], "sha256", ""))
        if job.fresh_processes == 1 or "BLOCK = 32" not in text:
            return found
        first = msgspec.structs.replace(
            found.arms[0], samples_ns=(), process=(), position=(), reason="wrong_result", detail="x"
        )
        return msgspec.structs.replace(found, arms=(first, *found.arms[1:]))


def ran(
    folder: Path,
    host: type[Host] = Host,
    kernel: str = KERNEL,
    *,
    iterations: int = 1,
    **options: Any,
) -> RunFolder:
    """A whole run, of one version with every switch on and perhaps of more; without rewrites."""
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:  # without knowledge all methods are of one axis
        patch.setattr(beginning, "settings_of", lambda row: settings_of({**row, "axis_cap": 3}))
        patch.setattr(BuiltinProposer, "rewrites", lambda proposer, language: ())
        run = started(folder, kernel=kernel, iterations=iterations, slots=3, **options)
        device = host(run.blobs, REPORT)
        world = wired(run, run.state().settings, Wiring(home=None, roots=(), remember=False))
        with run:
            Driver(run, device, world, Writer(run), Quiet()).go()
        device.close()
    return RunFolder.open(run.root)


def proofs(run: RunFolder) -> list[Time]:
    """Timings in fresh processes after v0's and before the final benchmark."""
    timings = [job for job in run.journal.jobs().values() if isinstance(job, Time)]
    return [job for job in timings if job.fresh_processes > 1 and 1000 < job.block < FINAL]


def attribution(run: RunFolder) -> AttributionFile:
    return run.read(run.version(1).attribution, AttributionFile)


def ablations(run: RunFolder) -> dict[str, Bench]:
    found = (run.read(path, Bench) for path in run.root.glob("v1/ablations/*/bench.json"))
    return {bench.name: bench for bench in found}


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    return ran(tmp_path_factory.mktemp("together") / "run")


@pytest.fixture(scope="module")
def apart(tmp_path_factory):
    return ran(tmp_path_factory.mktemp("apart") / "run", proof="apart")


def test_one_timing_has_the_champion_its_rivals_and_its_right_variants(together):
    (job,) = proofs(together)
    state = together.state()
    first, zero, *variants = [arm.sha256 for arm in job.arms]
    assert (first, zero) == (state.version(1).sha256, state.version(0).sha256)
    stated = {row.sha256: row.off for row in attribution(together).variants}
    assert [stated[sha256] for sha256 in variants] == [
        row.off for row in attribution(together).variants if row.sha256 != zero
    ]
    assert set(stated) <= {zero, *variants}
    kinds = [(type(one), getattr(one, "source", None)) for one in together.journal.jobs().values()]
    place = list(together.journal.jobs().values()).index(job)
    checked = {source.sha256 for kind, source in kinds[:place] if kind is Check}
    assert checked >= set(stated), "variants are checked before anything is proven"


def test_a_run_apart_proves_first_and_ablates_then(apart):
    proof, ablation = proofs(apart)
    state = apart.state()
    assert [arm.sha256 for arm in proof.arms] == [state.version(n).sha256 for n in (1, 0)]
    assert ablation.arms[0] == proof.arms[0]
    assert len(ablation.arms) == 1 + len(attribution(apart).variants)


def test_both_ways_give_the_same_verdicts_and_pass_the_gate(together, apart):
    one, two = attribution(together), attribution(apart)
    assert {row.method: row.verdict for row in one.methods} == METHODS
    assert [(row.method, row.verdict) for row in one.methods] == [
        (row.method, row.verdict) for row in two.methods
    ]
    for row, other in zip(one.methods, two.methods, strict=True):
        assert row.gain == pytest.approx(other.gain, abs=0.005)
    assert one.total == pytest.approx(two.total, abs=0.005)
    for run in (together, apart):
        assert check_version(run, 1, True, Inspectors()) == ()
        assert run.state().version(1).speedup_v0 == pytest.approx(4 / 3, rel=0.01)


def test_champion_and_ablations_hold_the_block_that_they_were_in(together):
    bench = together.read(together.version(1).bench, Bench)
    (key,) = (block.job_key for block in bench.blocks)
    assert {block.job_key for one in ablations(together).values() for block in one.blocks} == {key}
    assert {row.b for row in bench.comparisons} >= {together.state().version(0).sha256}


def test_a_factorial_stays_a_timing_of_its_own(tmp_path):
    run = ran(tmp_path / "run", Overlapping)
    proof, factorial = proofs(run)
    zero = run.state().version(0).sha256
    assert proof.arms[1].sha256 == zero
    assert factorial.arms[0] == proof.arms[0]
    assert len(factorial.arms) == 2**3
    found = attribution(run)
    assert found.mode == "factorial"
    assert check_version(run, 1, True, Inspectors()) == ()
    other = attribution(ran(tmp_path / "apart", Overlapping, proof="apart"))
    assert [row.verdict for row in found.methods] == [row.verdict for row in other.methods]


def test_a_factorial_from_the_start_is_one_timing_too(tmp_path):
    run = ran(tmp_path / "run", Overlapping, attribution="factorial")
    (proof,) = proofs(run)
    variants = attribution(run).variants
    assert len(variants) == 2**3 - 1
    assert {arm.sha256 for arm in proof.arms[1:]} == {row.sha256 for row in variants}, (
        "v0 is the variant with every switch off, and has one arm"
    )
    assert check_version(run, 1, True, Inspectors()) == ()


def test_a_champion_refused_in_that_timing_gives_way_to_the_next_branch(tmp_path):
    kernel = KERNEL.replace("\n\n", "\nBLOCK = 16  # kbs:tunable 16, 32\n\n", 1)
    run = ran(tmp_path / "run", Refusing, kernel)
    refused, proven = proofs(run)[:2]
    assert min(len(refused.arms), len(proven.arms)) > 3
    assert "BLOCK = 32" in run.blobs.text(refused.arms[0].sha256)
    champion = (run.root / "v1/kernel.py").read_text()
    assert "BLOCK = 16" in champion
    assert proven.arms[0].sha256 == run.state().version(1).sha256
    benches = [json.loads(p.read_text()) for p in run.root.glob("v1/branches/*/bench.json")]
    (out,) = [row for row in benches if row["source_sha256"] == refused.arms[0].sha256]
    assert (out["correct"], out["reason"]) == (False, "wrong_result")
    standing = {arm.sha256 for arm in proven.arms}
    assert {row.sha256 for row in attribution(run).variants} <= standing
    assert check_version(run, 1, True, Inspectors()) == ()


def test_the_gate_computes_attributions_again_from_that_block_alone(together):
    stated, benches = attribution(together), ablations(together)
    noise = together.state().settings.noise
    zero = together.state().version(0).sha256
    (again,) = attributions_again(stated, benches, noise, rivals={zero})
    assert list(differences(stated, (again,), correct=True)) == []
    name = next(row.name for row in stated.variants if len(row.off) == 1)
    hidden = {**benches, name: msgspec.structs.replace(benches[name], blocks=())}
    assert attributions_again(stated, hidden, noise, rivals={zero}) == ()
    fewer = msgspec.structs.replace(
        stated, variants=tuple(row for row in stated.variants if row.name != name)
    )
    assert attributions_again(fewer, benches, noise, rivals={zero}) == ()


def test_what_is_written_of_a_run_apart_is_what_was_written_before(together, apart):
    assert apart.state().settings.together is False
    assert b'"proof"' not in msgspec.json.encode(apart.state().settings)
    assert b'"proof":"together"' in msgspec.json.encode(together.state().settings)
    old = Settings(language="triton", dims={}, kernel_suffix=".py")
    assert b'"proof"' not in msgspec.json.encode(old)
    assert not old.together


def test_the_forecast_of_a_proof_counts_one_timing():
    ledger = ledger_of(World(), proof="together", process_pairs=3)
    assert proof_costs(ledger, 0) == timing_costs(ledger, 3, 3)
    assert proof_costs(ledger, 1) == timing_costs(ledger, 4, 3)
    assert proof_costs(ledger, 3) == timing_costs(ledger, 7, 3) + check_costs(ledger, 3)
    assert proof_costs(ledger, 3) < proof_costs(ledger_of(World(), process_pairs=3), 3)


def test_the_jobs_of_both_ways_differ_in_timings_alone(together, apart):
    def others(run: RunFolder) -> list[Job]:
        jobs = run.journal.jobs().items()
        return [key for key, job in jobs if not isinstance(job, Time)]

    assert sorted(others(together)) == sorted(others(apart))


def test_the_next_version_races_without_what_was_found_harmful(tmp_path):
    with ran(tmp_path / "run", iterations=2) as run:
        state = run.state()
        assert state.best_version == 2
        harmful = "recompute_instead_of_load"
        assert harmful in state.version(1).methods
        variants = {row.off: row.sha256 for row in attribution(run).variants}
        assert state.version(2).sha256 == variants[harmful,]
        assert state.version(2).methods == ()
        assert state.version(2).median_ns < state.version(1).median_ns
        assert check_version(run, 2, True, Inspectors()) == ()
        hypothesis = (run.root / "v1/hypothesis.txt").read_text()
        assert f"- v1 without {harmful}, which its ablation found 1." in hypothesis
        assert f"- race v1 without {harmful}" in (run.root / "v1/plan.md").read_text()
        second = run.read(run.version(2).attribution, AttributionFile)
        assert second.note.startswith(f"v1 without {harmful}, which its ablation found 1.")


def test_in_a_run_apart_nothing_races_that_nobody_proposed(tmp_path):
    with ran(tmp_path / "run", iterations=2, proof="apart") as run:
        assert [row.version for row in run.state().versions] == [0, 1]

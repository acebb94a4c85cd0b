"""A run with counters, machine code and cited specs: real compilers and report, no GPU."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import msgspec
import pytest

from kbs.home import wiki_roots
from kbs.inspecting import gate_inspectors
from kbs.looping.beginning import RunOptions, begin
from kbs.looping.driver import Driver
from kbs.looping.home import stage_ends
from kbs.looping.progress import Quiet
from kbs.looping.running import Wiring, wired
from kbs.looping.world import WaitingForAgentError
from kbs.looping.writing import Writer
from kbs.measuring.options import TaskOptions
from kbs_engine.adaptive import ProfilePlan, widest_pass
from kbs_engine.jobs import ProfileJob, TimingSettings
from kbs_engine.proposals import Candidate
from kbs_engine.results import Collected
from tests.loop.standin import StandIn

pytestmark = pytest.mark.compilers

HERE = Path(__file__).parent
SOFTMAX = HERE / "gpu" / "softmax_cuda"
REPORT = HERE.parent / "data" / "reports" / "h100_source_counters.ncu-rep"


@pytest.fixture(scope="module", autouse=True)
def compiled_once(tmp_path_factory):
    """Every run begins with the same kernel."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(StandIn, "cache", tmp_path_factory.mktemp("compiled"))
        yield


def begun(output, **options):
    """A run of the naive softmax, one version long."""
    return begin(
        SOFTMAX / "kernel.cu",
        TaskOptions(reference=SOFTMAX / "ref.py", dims={"M": 4096, "N": 4096}, language="cuda-cpp"),
        RunOptions(output=output, iterations=1, timing=TimingSettings(trials=20), **options),
    )


class Speeds(StandIn):
    """v1 is fast; without coalescing as slow as v0, without shuffles a third slower."""

    def speed(self, text: str) -> float:
        if "by_block" not in text or "COALESCED 0" in text:
            return 900_000.0
        return 120_000.0 if "SHUFFLE 0" in text else 90_000.0


class LessKnown:
    """The shipped knowledge without the bandwidth of its chips."""

    def __init__(self, store) -> None:
        self.store = store

    def __getattr__(self, name: str):
        return getattr(self.store, name)

    def chip(self, name: str):
        chip = self.store.chip(name)
        kept = tuple(spec for spec in chip.specs if spec.metric != "memory_bandwidth")
        return msgspec.structs.replace(chip, specs=kept)


@pytest.mark.sweep
def test_a_run_on_a_placeholder_passes_its_gate_and_is_marked(tmp_path, store):
    run = begun(tmp_path / "run", proposer="agent", placeholders=("memory_bandwidth=3 TB/s",))
    device = Speeds(run.blobs, REPORT)
    wiring = Wiring(home=tmp_path / "home", roots=wiki_roots(()), store=LessKnown(store))
    with run:
        world = wired(run, run.state().settings, wiring)
        with pytest.raises(WaitingForAgentError):
            Driver(run, device, world, Writer(run), Quiet()).go()
    device.close()
    roofline = json.loads((run.root / "v0/roofline.json").read_text())
    (memory,) = (roof for roof in roofline["roofs"] if roof["kind"] == "memory")
    assert (memory["basis"], memory["value"]) == ("placeholder", 3e12)
    assert roofline["gap_memory"] is not None
    shown = [
        line
        for path in (*run.root.glob("*.md"), *run.root.glob("v0/*.md"))
        for line in path.read_text().splitlines()
        if "3 TB/s" in line
    ]
    assert shown
    assert all("PLACEHOLDER" in line for line in shown)
    hypothesis = run.root / "v0/hypothesis.txt"
    hypothesis.write_text(hypothesis.read_text().replace(
        "Risk", "The H100 memory bandwidth is 9 TB/s (PLACEHOLDER, given by the user).\n\nRisk", 1,
    ))  # fmt: skip
    inspectors = gate_inspectors(wiki_roots(()), run.root)
    assert inspectors.audit is not None
    (fault,) = inspectors.audit([hypothesis])
    assert "9 TB/s" in fault.message, "a mark excuses what the run was given alone"


class Narrow(Speeds):
    """A profiler whose first pass knows what the basic sections know."""

    def __init__(self, blobs, full: Path) -> None:
        super().__init__(blobs, full)
        self.jobs: list[ProfileJob] = []
        rows = list(csv.reader(io.StringIO(full.read_text())))
        kept = [i for i, name in enumerate(rows[0]) if not name.startswith(NOT_BASIC)]
        out = io.StringIO()
        csv.writer(out).writerows([[row[i] for i in kept if i < len(row)] for row in rows])
        self.basic = blobs.put(out.getvalue())

    def _value(self, job):
        value = super()._value(job)
        if not isinstance(job, ProfileJob):
            return value
        self.jobs.append(job)
        if job.sections or job.metrics:
            return value
        return msgspec.structs.replace(value, report_sha256=self.basic)


NOT_BASIC = ("smsp__average_warp", "smsp__pcsamp", "l1tex__", "lts__", "smsp__sass", "derived__")


@pytest.mark.sweep
def test_a_second_pass_asks_for_what_separates_the_leading_causes(tmp_path, store):
    run = begun(tmp_path / "run", proposer="agent")
    device = Narrow(run.blobs, REPORT.with_name("h100_triton_torch.raw.csv"))
    wiring = Wiring(home=tmp_path / "home", roots=wiki_roots(()), store=store)
    with run:
        world = wired(run, run.state().settings, wiring)
        with pytest.raises(WaitingForAgentError):
            Driver(run, device, world, Writer(run), Quiet()).go()
    device.close()
    first, second = device.jobs
    assert not first.sections
    assert not first.metrics
    assert second.sections or second.metrics
    top = json.loads((run.root / "v0/ncu_top.json").read_text())
    assert top["second"]["job_key"] == second.key
    assert (run.root / "v0/profile.raw.csv").read_text() != (
        run.root / "v0/profile_second.raw.csv"
    ).read_text()
    diagnoses = json.loads((run.root / "v0/request.json").read_text())["diagnoses"]
    assert any(name.startswith(("l1_", "stall_")) for row in diagnoses for name in row["metrics"])


class Wide(Narrow):
    """A profiler whose first pass held all that a second one could ask for, or said nothing."""

    def __init__(self, blobs, full: Path, plan: ProfilePlan) -> None:
        super().__init__(blobs, full)
        self.plan = plan

    def _value(self, job):
        value = super()._value(job)
        if not isinstance(job, ProfileJob):
            return value
        held = Collected(sections=self.plan.sections, metrics=self.plan.metrics)
        return msgspec.structs.replace(value, collected=held)


@pytest.mark.sweep
def test_a_first_pass_that_held_it_all_is_the_only_one(tmp_path, store):
    run = begun(tmp_path / "run", proposer="agent")
    widest = widest_pass(store.rules(), store.metric_map("nvidia"), arch=90)
    device = Wide(run.blobs, REPORT.with_name("h100_triton_torch.raw.csv"), widest)
    wiring = Wiring(home=tmp_path / "home", roots=wiki_roots(()), store=store)
    with run:
        world = wired(run, run.state().settings, wiring)
        with pytest.raises(WaitingForAgentError):
            Driver(run, device, world, Writer(run), Quiet()).go()
    device.close()
    (only,) = device.jobs
    assert only == ProfileJob(source=only.source, task=only.task), "what is asked stays the same"
    assert json.loads((run.root / "v0/ncu_top.json").read_text())["second"] is None
    assert not (run.root / "v0/profile_second.raw.csv").exists()


@pytest.mark.sweep
def test_without_knowledge_nobody_reads_counters_and_none_are_asked_for(tmp_path):
    run = begun(tmp_path / "run", knowledge=False, templates=False)
    device = Narrow(run.blobs, REPORT.with_name("h100_triton_torch.raw.csv"))
    wiring = Wiring(home=tmp_path / "home", roots=wiki_roots(()), store=None)
    with run:
        world = wired(run, run.state().settings, wiring)
        Driver(run, device, world, Writer(run), Quiet()).go()
        state = run.state()
    device.close()
    assert device.jobs == []
    assert (state.settings.mode, state.ended) == ("counter-free", "iterations_done")
    assert "the run uses no knowledge" in (run.root / "v0/kbs_evidence.md").read_text()


@pytest.fixture(scope="module")
def ran(tmp_path_factory, store):
    folder = tmp_path_factory.mktemp("counters")
    run = begun(folder / "run", branches=2, proposer="agent")
    device = Speeds(run.blobs, REPORT)
    wiring = Wiring(home=folder / "home", roots=wiki_roots(()), store=store)
    with run:
        world = wired(run, run.state().settings, wiring)
        driver = Driver(run, device, world, Writer(run), Quiet())
        with pytest.raises(WaitingForAgentError):
            driver.go()
        ask = driver.where()[1][-1]
        planned = [row.method for row in ask.file.plan.methods]
        mine = [m for m in planned if m in ("coalesced_access", "warp_shuffle_reduction")]
        text = (SOFTMAX / "v1.cu").read_text()
        candidate = Candidate(text=text, methods=tuple(mine or planned[:1]))
        run.journal.append("submitted", ask_key=ask.key, candidates=[candidate])
        driver.go(stage_ends("gate", after=0))
        driver.go()
    device.close()
    return run.root, planned


def test_the_run_ends_with_every_gate_passed(ran):
    root, _ = ran
    state = json.loads((root / "state.json").read_text())
    assert state["settings"]["mode"] == "counters"
    assert state["settings"]["chip"] == "h100_sxm"
    assert state["ended"] in ("iterations_done", "no_method_left", "near_peak", "target_reached")
    assert state["best_version"] == 1
    assert (root / "final_report.md").stat().st_size


def test_the_report_of_the_profiler_stands_beside_its_version(ran):
    root, _ = ran
    assert (root / "v0" / "profile.ncu-rep").read_bytes() == REPORT.read_bytes()
    top = json.loads((root / "v0" / "ncu_top.json").read_text())
    assert top["mode"] == "counters"
    assert any(top["axes"].values())
    assert "reads no hardware counters" not in (root / "v0" / "ncu_summary.md").read_text()


def test_specs_are_cited_in_the_readme(ran):
    root, _ = ran
    text = (root / "README.md").read_text()
    assert "3.35 TB/s <- gpu-wiki/hardware/nvidia/h100_sxm.md:L" in text
    assert "Stop Conditions" in text


def test_branches_are_compiled_and_their_resources_kept(ran):
    root, _ = ran
    static = [
        json.loads(p.read_text()) for p in sorted((root / "v1").glob("branches/*/static.json"))
    ]
    assert static
    assert all(row["compiled"] and row["arch"] == "sm_90a" for row in static)
    assert any(one["registers"] for row in static for one in row["resources"])


def test_methods_have_opcode_verdicts_from_the_machine_code(ran):
    root, _ = ran
    sass = json.loads((root / "v1" / "sass_check.json").read_text())
    assert sass["tool"]
    assert sass["methods"]
    assert all(row["functions"] or row["outcome"] == "not_observable" for row in sass["methods"])


def test_the_plan_expects_metrics_to_move(ran):
    root, planned = ran
    plan = json.loads((root / "v0" / "request.json").read_text())["plan"]
    assert [row["method"] for row in plan["methods"]] == planned
    assert any(set(row["expected"]) - {"time"} for row in plan["methods"])

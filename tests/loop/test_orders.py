"""What people ask of a run between versions: other constraints, a fresh start, more, the end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from kbs.cli import cli
from kbs.context import Context
from kbs.looping.beginning import RunOptions, begin
from kbs.looping.changes import read_changes
from kbs.looping.driver import Driver
from kbs.looping.home import Went, status_lines
from kbs.looping.progress import Quiet
from kbs.looping.running import Wiring, wired
from kbs.looping.writing import Writer
from kbs.measuring.options import TaskOptions
from kbs_engine.errors import RefusedError, UsageError
from kbs_engine.jobs import Count, Job, Probe, TimingSettings
from kbs_engine.loop.parts import Order
from kbs_engine.results import Machine
from kbs_engine.run import RunFolder
from kbs_engine.run.memories import Memory
from kbs_engine.run.state import State
from tests.loop.cases import CREATED, KERNELS
from tests.loop.standin import StandIn

REPORT = Path(__file__).parents[1] / "data" / "reports" / "h100_triton_torch.raw.csv"
KERNEL = '''"""Three switches: the first helps, the second does nothing, the third does harm."""
FIRST = False  # kbs:method single_pass_algorithm
SECOND = False  # kbs:method hoist_invariants
THIRD = False  # kbs:method recompute_instead_of_load


def setup(M=8, **_):
    return {"inputs": {"M": M}, "outputs": []}


def run_kernel(**_):
    pass
'''


class Host(StandIn):
    """No compiler and no counters; times follow from the switches."""

    def _value(self, job: Job) -> Any:
        if isinstance(job, Probe):
            return Machine(device="host", gpu="a CPU", counters_why_not="no GPU")
        return super()._value(job)

    def speed(self, text: str) -> float:
        time = 1_000_000.0
        time *= 0.5 if "FIRST = True" in text else 1.0
        return time * (1.5 if "THIRD = True" in text else 1.0)


def started(folder: Path, *, kernel: str = KERNEL, **options: Any) -> RunFolder:
    file = folder / "kernel.py"
    file.write_text(kernel)
    return begin(
        file,
        TaskOptions(reference=KERNELS / "ref.py", dims={"M": 8}, language="triton"),
        RunOptions(output=folder / "run", knowledge=False, templates=False, created_at=CREATED,
                   timing=TimingSettings(trials=12), process_pairs=3, **options),
    )  # fmt: skip


def go(run: RunFolder) -> dict[str, Any]:
    device = Host(run.blobs, REPORT)
    world = wired(run, run.state().settings, Wiring(home=None, roots=(), remember=False))
    try:
        Driver(run, device, world, Writer(run), Quiet()).go()
    finally:
        device.close()
    state: dict[str, Any] = json.loads(run.paths.state.read_text())
    return state


def order(run: RunFolder, **fields: Any) -> None:
    run.journal.append("order", order=Order(**fields))


@pytest.fixture
def run(tmp_path):
    with started(tmp_path, iterations=1, slots=1) as opened:
        yield opened


def test_verdicts_follow_from_what_the_switches_do(tmp_path):
    with started(tmp_path, iterations=3, slots=1) as opened:
        state = go(opened)
    found = {row["method"]: row["verdict"] for row in state["verdicts"]}
    assert found["single_pass_algorithm"] == "effective"
    assert found.get("hoist_invariants", "ineffective") == "ineffective"
    assert found.get("recompute_instead_of_load", "harmful") == "harmful"
    assert state["best_version"] >= 1
    best = next(row for row in state["versions"] if row["version"] == state["best_version"])
    assert best["speedup_v0"] == pytest.approx(2.0, rel=0.02)


def test_other_constraints_begin_an_epoch_with_v0_and_the_best_measured_again(run):
    first = go(run)
    assert first["ended"] == "iterations_done"
    order(run, kind="set", changes={"dims": {"M": 16}}, reason="larger batches")
    order(run, kind="extend", iterations=1)
    state = go(run)
    assert state["epoch"] == 1
    assert [epoch["reason"] for epoch in state["epochs"]] == ["", "larger batches"]
    readme = (run.root / "README.md").read_text()
    assert "| shapes | M=16 |" in readme
    assert "epoch 1 from v2: larger batches" in readme
    assert "'M': 16" in (run.root / "test_kernel.py").read_text()
    counted = [job for job in run.journal.jobs().values() if isinstance(job, Count)]
    assert [job.task.dims for job in counted] == [{"M": 8}, {"M": 16}]
    again = next(row for row in state["versions"] if row["version"] == 2)
    assert again["epoch"] == 1
    assert again["sha256"] == next(
        row["sha256"] for row in state["versions"] if row["version"] == first["best_version"]
    )
    bench = json.loads((run.root / "v2" / "bench.json").read_text())
    assert len({arm["sha256"] for arm in bench["arms"]}) == 2
    jobs = run.journal.jobs()
    timed = [jobs[block["job_key"]] for block in bench["blocks"]]
    assert {job.task.dims["M"] for job in timed} == {16}
    assert state["settings"]["dims"] == {"M": 16}
    assert state["best_version"] >= 2


def test_a_masked_version_is_silent_when_the_next_is_planned(tmp_path):
    with started(tmp_path, iterations=3, slots=1) as run:
        before = go(run)
        spent = [row for row in before["verdicts"] if row["verdict"] in ("ineffective", "harmful")]
        assert spent
        memory = Memory(run.paths.memory)
        memory.set_mask([row["version"] for row in spent], masked=True)
        order(run, kind="restart")
        order(run, kind="extend", iterations=1)
        after = go(run)
    tried_again = {row["method"] for row in after["verdicts"][len(before["verdicts"]) :]}
    assert tried_again & {row["method"] for row in spent}


def test_without_knowledge_the_plan_is_what_the_source_offers(run):
    go(run)
    plan = json.loads((run.root / "v0" / "request.json").read_text())["plan"]
    (method,) = plan["methods"]
    assert "no measured cause asks for it" in method["evidence"]
    evidence = (run.root / "v0" / "kbs_evidence.md").read_text()
    assert "uses no knowledge" in evidence


@pytest.mark.parametrize(("proof", "budget"), [("apart", 1.5), ("together", 1.1)])
def test_a_budget_of_gpu_seconds_is_kept(tmp_path, proof, budget):
    with started(tmp_path, iterations=9, slots=1, gpu_seconds=budget, proof=proof) as run:
        state = go(run)
        assert state["ended"] == "budget_spent"
        assert run.gpu_seconds() <= budget
        assert 1 < len(state["versions"]) < 4


def test_the_same_order_is_followed_once(run):
    go(run)
    order(run, kind="extend", iterations=1)
    one = go(run)
    two = go(run)
    assert one["versions"] == two["versions"]
    assert len(one["versions"]) == 3


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("timing.trials=3", "at least 4"),
        (f"dims.M={'9' * 30}", "more than 64 bits"),
        ('dims={"M": 1e999}', "neither infinite nor nan"),
        (f"check_rounds={'9' * 5000}", "more than 64 bits"),
    ],
)
def test_what_could_never_be_measured_is_no_order(run, tmp_path, change, told):
    run.close()
    words = ["--home", str(tmp_path / "home"), "loop", "set", str(run.root), "--set", change]
    ran = CliRunner().invoke(cli, words)
    assert isinstance(ran.exception, UsageError), ran.output
    assert told in f"{ran.exception.message} {ran.exception.remedy}"
    with RunFolder.open(run.root) as same:
        assert not same.journal.of_kind("order")


@pytest.mark.parametrize("platform", ["nosuch", "h100_sxm"])
def test_a_platform_is_one_that_the_wiki_knows(tmp_path, home, platform):
    with started(tmp_path, iterations=1, slots=1) as run:
        state = run.state()
        settings = msgspec.structs.replace(state.settings, extra={"knowledge": True})
        run.save_state(msgspec.structs.replace(state, settings=settings))
    context = Context()
    context.home_option = home
    if platform == "nosuch":
        with pytest.raises(RefusedError, match="nosuch"):
            read_changes(context, run.root, [f"platform={platform}"])
    else:
        assert read_changes(context, run.root, [f"platform={platform}"]) == {"platform": platform}


def test_the_kernel_of_v0_measured_again_is_no_gain(run):
    state = go(run)
    row = {**state["versions"][0], "version": 2, "base_version": 0, "epoch": 1,
           "speedup_v0": 1.17, "speedup_v0_low": 1.1}  # fmt: skip
    told = msgspec.convert(
        {**state, "versions": [*state["versions"], row], "best_version": 2}, State
    )
    assert not told.improved
    (line,) = (one for one in status_lines(run.root, Went(state=told)) if "v2" in one)
    assert "v0 measured again best" in line
    assert "×" not in line

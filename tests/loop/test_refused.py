"""A version that its gate refuses for good: it never comes to that, or it is given up."""

from __future__ import annotations

import contextlib
import json
from concurrent.futures import Future
from typing import Any

import pytest

from kbs.context import Context
from kbs.looping.driver import Driver
from kbs.looping.home import Went, status_lines, status_shape
from kbs.looping.progress import Quiet
from kbs.looping.refusing import gate_refuses
from kbs.looping.running import Wiring, wired
from kbs.looping.stages import submit_files
from kbs.looping.world import WaitingForAgentError
from kbs.looping.writing import Writer
from kbs_engine.errors import RefusedError, UsageError
from kbs_engine.experience.packing import capsule_of_run
from kbs_engine.gate import check_version
from kbs_engine.jobs import Check, Job, Probe, Result, Sanitize
from kbs_engine.loop.retelling import retell
from kbs_engine.results import Checked, Machine, Sanitized, ToolVerdict
from tests.loop.test_orders import KERNEL, REPORT, Host, go, order, started
from tests.loop.test_unreadable_candidates import Answers, submit, went

GOOD = KERNEL.replace("FIRST = False", "FIRST = True")
SAME_TIME = KERNEL + "# no faster\n"


def versions(state: dict) -> dict[int, dict]:
    return {row["version"]: row for row in state["versions"]}


@pytest.mark.parametrize("again", [KERNEL, SAME_TIME], ids=["v0", "v1"])
def test_the_kernel_of_an_earlier_version_is_a_branch_that_is_out(tmp_path, again):
    """v1 is no faster, so that v0 is the base of both: a repeat of either is no version."""
    with started(tmp_path, iterations=2, slots=1, proposer="agent", retries=0) as run:
        for text in (SAME_TIME, again):
            with pytest.raises(WaitingForAgentError):
                go(run)
            submit(run, text)
        state = go(run)
        assert state["ended"] == "iterations_done"
        assert [row["status"] for row in state["versions"]] == ["accepted", "accepted", "failed"]
        static = json.loads((run.root / "v2/branches/b0/static.json").read_text())
        number = 0 if again == KERNEL else 1
        assert static["dropped"] == f"is the kernel of v{number}, byte for byte"
        assert check_version(run, 2, final=True) == ()


def test_a_repeat_beside_a_new_kernel_leaves_the_version_to_the_new_one(tmp_path):
    with started(tmp_path, iterations=1, slots=1) as run:
        state = went(run, KERNEL, GOOD)
        assert versions(state)[1]["status"] == "accepted"
        assert (run.root / "v1/kernel.py").read_text() == GOOD


@pytest.fixture
def context(tmp_path):
    made = Context()
    made.home_option = tmp_path / "home"
    return made


def test_submit_takes_no_kernel_of_an_earlier_version(tmp_path, context):
    with started(tmp_path, iterations=2, slots=1, proposer="agent") as run:
        with pytest.raises(WaitingForAgentError):
            go(run)
        submit(run, SAME_TIME)
        with pytest.raises(WaitingForAgentError):
            go(run)
    for number, text in enumerate((KERNEL, SAME_TIME)):
        file = tmp_path / f"again{number}.py"
        file.write_text(text)
        with pytest.raises(UsageError, match=f"is v{number}'s kernel, byte for byte"):
            submit_files(context, run.root, [file], (), "")


def test_in_one_change_mode_a_branch_with_two_changes_is_out(tmp_path):
    two = GOOD.replace("SECOND = False", "SECOND = True")
    with started(tmp_path, iterations=1, slots=1, retries=0) as run:
        state = went(run, two)
        assert versions(state)[1]["status"] == "failed"
        static = json.loads((run.root / "v1/branches/b0/static.json").read_text())
        assert static["dropped"].startswith("switches 2 methods at once (hoist_invariants, ")
        assert check_version(run, 1, final=True) == ()


class Unsound(Host):
    """A GPU whose sanitizer finds a race in every kernel that says so, and nothing else does."""

    everywhere = False

    def _value(self, job: Job) -> Any:
        if isinstance(job, Probe):
            return Machine(device="cuda", gpu="a GPU", counters_why_not="not here")
        if isinstance(job, Sanitize):
            errors = int(self.everywhere or "races" in self.blobs.text(job.source.sha256))
            return Sanitized(tools=(ToolVerdict(tool="racecheck", ran=True, errors=errors),))
        return super()._value(job)


def unsound(run, *texts: str) -> dict:
    wiring = Wiring(home=None, roots=(), remember=False, proposer=Answers(*texts))
    with contextlib.closing(Unsound(run.blobs, REPORT)) as device:
        world = wired(run, run.state().settings, wiring)
        Driver(run, device, world, Writer(run), Quiet()).go()
    return json.loads(run.paths.state.read_text())


@pytest.fixture
def stuck(tmp_path):
    """v1 is the fastest and its gate refuses it, for its sanitizer found a race."""
    with started(tmp_path, iterations=2, slots=1) as run:
        with pytest.raises(RefusedError, match="racecheck found 1 errors"):
            unsound(run, GOOD + "# races\n")
        yield run


def test_a_run_whose_version_is_refused_for_good_says_so_and_how_to_end_it(stuck, context):
    refused = gate_refuses(context, stuck)
    assert [row.gives_up for row in refused] == [1]
    assert f"`kbs loop finalize {stuck.root}` gives v1 up" in refused[0].remedy
    went = Went(state=stuck.state(), refused=refused)
    lines = "\n".join(status_lines(stuck.root, went))
    assert "the gate does not let the version in work through:\ncorrectness: v1/bench.json" in lines
    assert "goes on" not in lines
    assert status_shape(stuck.root, went)["refused"][0]["rule"] == "correctness"
    with pytest.raises(RefusedError, match="racecheck"):
        capsule_of_run(stuck)


@pytest.mark.parametrize("kind", ["extend", "restart", "set"])
def test_no_other_order_gives_a_version_up(stuck, kind):
    order(stuck, kind=kind, changes={"notes": "x"} if kind == "set" else {})
    with pytest.raises(RefusedError, match="racecheck"):
        unsound(stuck)
    assert stuck.state().versions[1].status == "open"


def test_the_end_gives_it_up_and_reports_what_stood_before(stuck):
    order(stuck, kind="finalize")
    state = unsound(stuck)
    row = versions(state)[1]
    assert (state["ended"], state["best_version"], state["verdicts"]) == ("stopped", 0, [])
    assert (row["status"], row["speedup_v0"] > 1.5) == ("refused", True)
    assert "racecheck" in row["refusal"]
    assert check_version(stuck, 1, final=True) == ()
    assert json.loads((stuck.root / "benchmark.json").read_text())["version"] == 0
    for name in ("final_report.md", "summary.md"):
        text = (stuck.root / name).read_text()
        assert "refused" in text
        assert "single_pass_algorithm: effective" not in text
    retold = retell(stuck).wrote.state
    assert retold is not None
    assert retold.best_version == 0


def test_after_that_the_run_goes_on_from_what_stood_before(stuck):
    order(stuck, kind="finalize")
    unsound(stuck)
    order(stuck, kind="extend", iterations=1)
    state = unsound(stuck, GOOD)
    assert [row["status"] for row in state["versions"]][:3] == ["accepted", "refused", "accepted"]
    assert (state["best_version"], versions(state)[2]["base_version"]) == (2, 0)
    assert check_version(stuck, len(state["versions"]) - 1, final=True) == ()


def test_what_a_person_can_mend_gives_nothing_up(stuck):
    stuck.version(2).root.mkdir()
    order(stuck, kind="finalize")
    with pytest.raises(RefusedError, match="later_version"):
        unsound(stuck)
    assert stuck.state().versions[1].status == "open"


class Narrow(Host):
    """A device on which nothing but M up to 16 can be judged, and every larger one fails."""

    def _value(self, job: Job) -> Any:
        if isinstance(job, Check) and job.task.atol:
            return Checked(passed=False, reason="task_degenerate", detail="the dummy passes")
        return super()._value(job)

    def submit(self, job: Job) -> Future[Result]:
        if isinstance(job, Check) and job.task.dims["M"] > 16:
            future: Future[Result] = Future()
            future.set_result(Result(job_key=job.key, kind="check", failure="out of memory"))
            return future
        return super().submit(job)


def narrow(run) -> dict:
    world = wired(run, run.state().settings, Wiring(home=None, roots=(), remember=False))
    with contextlib.closing(Narrow(run.blobs, REPORT)) as device:
        Driver(run, device, world, Writer(run), Quiet()).go()
    return json.loads(run.paths.state.read_text())


@pytest.mark.parametrize(
    ("changes", "why"),
    [({"atol": 1e9}, "task_degenerate: the dummy passes"), ({"dims": {"M": 99}}, "out of memory")],
)
def test_constraints_under_which_v0_is_refused_are_taken_back(tmp_path, changes, why):
    with started(tmp_path, iterations=1, slots=1) as run:
        before = narrow(run)
        order(run, kind="set", changes=changes)
        order(run, kind="extend", iterations=1)
        state = narrow(run)
        assert state["ended"] == "stopped"
        told = f"epoch 1 is taken back, for v0 is refused under it: {why}"
        assert state["loop"]["because"] == told
        assert (state["epoch"], state["best_version"]) == (0, before["best_version"])
        assert [row["version"] for row in state["versions"]] == [0, 1]
        assert not (run.root / "v2").exists()
        assert check_version(run, 1, final=True) == ()
        order(run, kind="set", changes={"dims": {"M": 16}})
        after = narrow(run)
        assert after["epoch"] == 2
        assert after["versions"][2]["epoch"] == 2
        assert check_version(run, len(after["versions"]) - 1, final=True) == ()


def test_with_a_given_up_first_version_its_epoch_goes_too(tmp_path):
    with started(tmp_path, iterations=1, slots=1) as run:
        unsound(run, GOOD)
        order(run, kind="set", changes={"dims": {"M": 16}})
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(Unsound, "everywhere", True)
            with pytest.raises(RefusedError, match="racecheck"):
                unsound(run)
            order(run, kind="finalize")
            state = unsound(run)
        assert [row["status"] for row in state["versions"]] == ["accepted", "accepted", "refused"]
        assert (state["epoch"], state["best_version"]) == (0, 1)
        assert state["settings"]["dims"] == {"M": 8}
        assert check_version(run, 2, final=True) == ()

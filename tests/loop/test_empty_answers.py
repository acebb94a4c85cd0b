"""A proposer that has nothing to offer: the version fails for want of a candidate, no more."""

from __future__ import annotations

import contextlib
import json
import shutil

import pytest

from kbs.looping.driver import Driver
from kbs.looping.progress import Quiet
from kbs.looping.running import Wiring, wired
from kbs.looping.writing import Writer
from kbs_engine.gate import check_version
from kbs_engine.proposals import Candidate
from tests.loop.test_orders import KERNEL, REPORT, Host, order, started

WRONG = KERNEL.replace("FIRST = False", "FIRST = True  # it forgets a row")


class Answers:
    """A proposer that answers these texts, one list a call, and nothing after them."""

    def __init__(self, *calls: list[str]) -> None:
        self.calls = list(calls)
        self.asked = 0

    def propose(self, request):
        self.asked += 1
        method = request.file.plan.methods[0].method
        texts = self.calls.pop(0) if self.calls else []
        return [Candidate(text=text, methods=(method,)) for text in texts]


def went(run, proposer: Answers) -> dict:
    wiring = Wiring(home=None, roots=(), remember=False, proposer=proposer)
    with contextlib.closing(Host(run.blobs, REPORT)) as device:
        world = wired(run, run.state().settings, wiring)
        Driver(run, device, world, Writer(run), Quiet()).go()
    return json.loads(run.paths.state.read_text())


def test_an_empty_answer_is_a_failed_version_and_the_run_ends_with_its_reports(tmp_path):
    proposer = Answers()
    with started(tmp_path, iterations=1, slots=1, retries=2) as run:
        state = went(run, proposer)
        assert proposer.asked == 1
        assert state["versions"][1]["status"] == "failed"
        assert (state["ended"], state["best_version"]) == ("iterations_done", 0)
        assert check_version(run, 1, final=True) == ()
        record = json.loads((run.root / "memory/v1.json").read_text())
        (pitfall,) = record["pitfalls_and_fixes"]
        assert pitfall["problem"] == "proposal: no candidate: the proposer has nothing"
        assert "v1" in (run.root / "summary.md").read_text()
        assert "the proposer has nothing" in (run.root / "final_report.md").read_text()


ORDERS = {
    "extend": {"iterations": 1},
    "finalize": {},
    "restart": {},
    "set": {"changes": {"dims": {"M": 16}}},
}


@pytest.mark.parametrize("kind", ORDERS)
def test_every_order_is_followed_after_an_empty_answer(tmp_path, kind):
    with started(tmp_path, iterations=1, slots=1) as run:
        went(run, Answers())
        order(run, kind=kind, **ORDERS[kind])
        state = went(run, Answers())
        assert state["ended"]
        last = len(state["versions"]) - 1
        assert (last > 1) == (kind != "finalize")
        assert check_version(run, last, final=True) == ()
        assert (run.root / "final_report.md").is_file()


def test_a_run_goes_on_from_an_empty_answer_to_a_kernel(tmp_path):
    better = KERNEL.replace("FIRST = False", "FIRST = True")
    with started(tmp_path, iterations=2, slots=1) as run:
        state = went(run, Answers([], [better]))
        assert [row["status"] for row in state["versions"]] == ["accepted", "failed", "accepted"]


def test_a_failed_version_whose_branches_are_gone_is_still_refused(tmp_path):
    with started(tmp_path, iterations=1, slots=1, retries=0) as run:
        state = went(run, Answers([WRONG]))
        assert state["versions"][1]["status"] == "failed"
        assert check_version(run, 1, final=True) == ()
        shutil.rmtree(run.root / "v1/branches")
        told = [row.message for row in check_version(run, 1, final=True)]
        assert "holds no branch" in told

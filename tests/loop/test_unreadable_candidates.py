"""A candidate that is no source at all costs its try, never the run."""

from __future__ import annotations

import contextlib
import json

import msgspec
import pytest

from kbs.looping.driver import Driver
from kbs.looping.progress import Quiet
from kbs.looping.running import Wiring, wired
from kbs.looping.world import WaitingForAgentError
from kbs.looping.writing import Writer
from kbs_engine.errors import InputError
from kbs_engine.gate import check_version
from kbs_engine.proposals import Candidate
from tests.loop.test_orders import KERNEL, REPORT, Host, go, started

FIRST = "single_pass_algorithm"
GOOD = KERNEL.replace("FIRST = False", "FIRST = True")
UNREADABLE = {
    "syntax": "def (:\n",
    "brackets": "run_kernel(" * 40,
    "nul": "x = '\0'\n",
    "marks": "BLOCK = 64  # kbs:tunable 64, 64.5, what\n" + GOOD,
    "own value missing": "BLOCK = 64  # kbs:tunable 32, 128\n" + GOOD,
    "twice": "BLOCK = 64  # kbs:tunable 64, 64\n" + GOOD,
    "no id": "NEW = True  # kbs:method\n" + GOOD,
    "empty choice": "BLOCK = f()  # kbs:tunable 1, 2\n" + GOOD,
}


class Answers:
    """A proposer that gives the same texts at every try."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts

    def propose(self, request):
        method = request.file.plan.methods[0].method
        return [Candidate(text=text, methods=(method,)) for text in self.texts]


def went(run, *texts: str) -> dict:
    wiring = Wiring(home=None, roots=(), remember=False, proposer=Answers(*texts))
    with contextlib.closing(Host(run.blobs, REPORT)) as device:
        world = wired(run, run.state().settings, wiring)
        Driver(run, device, world, Writer(run), Quiet()).go()
    return json.loads(run.paths.state.read_text())


@pytest.mark.parametrize("bad", UNREADABLE)
@pytest.mark.parametrize(
    "order", [("bad", "good"), pytest.param(("good", "bad"), marks=pytest.mark.sweep)]
)
def test_a_bad_candidate_beside_a_good_one_is_told_and_the_run_goes_on(tmp_path, bad, order):
    texts = {"bad": UNREADABLE[bad], "good": GOOD}
    with started(tmp_path, iterations=1, slots=1) as run:
        state = went(run, *(texts[name] for name in order))
        assert state["ended"] == "iterations_done"
        assert check_version(run, 1, final=True) == ()
        assert state["versions"][1]["status"] != "failed"
        folders = sorted((run.root / "v1/branches").iterdir())
        held = [(folder / "kernel.py").read_text() for folder in folders]
        assert texts["bad"] in held or UNREADABLE[bad].endswith(GOOD)
        for folder in folders:
            bench = json.loads((folder / "bench.json").read_text())
            static = json.loads((folder / "static.json").read_text())
            if not bench["correct"]:
                assert static["dropped"] or bench["reason"] != "not_checked"
                assert (folder / "stderr.txt").read_text().strip()


MARKED = sorted(name for name, text in UNREADABLE.items() if text.endswith(GOOD))


@pytest.mark.parametrize("bad", MARKED)
def test_a_user_s_own_file_with_such_a_mark_is_refused_before_a_run_begins(tmp_path, bad):
    with pytest.raises(InputError, match="kbs:") as caught:
        started(tmp_path, kernel=UNREADABLE[bad])
    assert caught.value.where == f"{tmp_path / 'kernel.py'}:1"
    assert caught.value.remedy
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("bad", MARKED)
def test_a_proposed_kernel_with_such_a_mark_is_dropped_with_that_reason(tmp_path, bad):
    with started(tmp_path, iterations=1, slots=1, retries=1) as run:
        state = went(run, UNREADABLE[bad])
        assert state["versions"][1]["status"] == "failed"
        assert "kbs:" in (run.root / "v1/analysis.md").read_text()


def test_nothing_but_bad_candidates_is_a_failed_version(tmp_path):
    with started(tmp_path, iterations=1, slots=1, retries=1) as run:
        state = went(run, "def (:\n")
        assert [row["status"] for row in state["versions"]][1] == "failed"
        assert state["versions"][1]["tries"] == 2
        assert check_version(run, 1, final=True) == ()
        analysis = (run.root / "v1/analysis.md").read_text()
    assert "not valid Python" in analysis


def test_an_agent_s_second_try_follows_one_that_does_not_parse(tmp_path):
    with started(tmp_path, iterations=1, slots=1, proposer="agent") as run:
        for text in ("def (:\n", GOOD):
            with pytest.raises(WaitingForAgentError) as waits:
                go(run)
            assert "v1 waits for a kernel" in str(waits.value)
            submit(run, text)
        state = go(run)
        assert state["ended"] == "iterations_done"
        assert (run.root / "v1/branches/b0/kernel.py").read_text() == "def (:\n"
        assert check_version(run, 1, final=True) == ()


def submit(run, text: str) -> None:
    from kbs.looping.waiting import pending_propose

    request = pending_propose(run)
    candidate = Candidate(text=text, methods=(request.file.plan.methods[0].method,))
    run.journal.append(
        "submitted", ask_key=request.key, candidates=[msgspec.to_builtins(candidate)]
    )

"""While v0 has not passed, a run says how to begin another, and takes no order in vain."""

from __future__ import annotations

import sys

import msgspec
import pytest

from kbs.looping.before_v0 import mending, require_followed
from kbs.looping.home import Went, status_lines
from kbs_engine.errors import UsageError
from kbs_engine.jobs import Failure, Result
from tests.loop.test_orders import started

ANOTHER = "kbs optimize kernel.py --ref REF --dims M=8 --output FOLDER"


@pytest.fixture
def run(tmp_path):
    with started(tmp_path) as begun:
        yield begun


def stand(run, **fields):
    run.save_state(msgspec.structs.replace(run.state(), **fields))


def failed(where):
    told = Failure(message="reference fails", where=where, remedy="fix the line")
    return Result(job_key="k", kind="check", failure="told", failed=told)


@pytest.mark.parametrize("where", ["ref.py:5", "ref.py", "kernel.py:3"])
def test_a_fault_of_what_the_run_began_with_needs_another_run(run, where):
    told = mending(run, failed(where))
    assert ANOTHER in told
    assert f"{where.partition(':')[0]} is the run's copy" in told


@pytest.mark.parametrize(("where", "best_ns"), [("", None), ("ref.py:5", 12.0)])
def test_other_faults_are_mended_and_the_run_goes_on(run, where, best_ns):
    stand(run, best_ns=best_ns)
    assert mending(run, failed(where)) == f"mend it, then `kbs loop resume {run.root}`"


@pytest.mark.parametrize(
    ("kind", "ended", "best_ns", "refused"),
    [
        ("set", "", None, True), ("set", "stopped", None, True), ("set", "", 12.0, False),
        ("set", "stopped", 12.0, False), ("extend", "", None, False),
        ("extend", "stopped", None, True), ("restart", "environment", None, True),
    ],
)  # fmt: skip
def test_an_order_that_would_never_be_followed_is_refused(run, kind, ended, best_ns, refused):
    stand(run, ended=ended, best_ns=best_ns)
    if not refused:
        return require_followed(run, kind)
    with pytest.raises(UsageError, match="would not be followed") as caught:
        require_followed(run, kind)
    assert ANOTHER in caught.value.remedy
    return None


def test_a_refused_set_leaves_no_order(run, kbs_here):
    run.close()
    ran = kbs_here("loop", "set", str(run.root), "--set", "dims.M=16")
    assert ran.code == 2
    assert ANOTHER in ran.err
    assert "ordered and not followed" not in kbs_here("loop", "status", str(run.root)).out


def test_a_refused_baseline_says_what_to_do(run):
    stand(run, ended="stopped", loop={"because": "the baseline is refused: wrong_result"})
    assert ANOTHER in status_lines(run.root, Went(state=run.state()))[-1]
    stand(run, best_ns=12.0)
    assert ANOTHER not in "\n".join(status_lines(run.root, Went(state=run.state())))


@pytest.mark.parametrize(
    ("option", "where"), [("proposer", "--proposer"), ("external_benchmark", "--benchmark")]
)
@pytest.mark.parametrize("command", ["/nonexistent/prog --fast", '"', " "])
def test_a_program_that_is_not_there_is_told_at_once(tmp_path, option, where, command):
    with pytest.raises(UsageError) as caught:
        started(tmp_path, **{option: command})
    assert caught.value.where == where
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("option", ["proposer", "external_benchmark"])
def test_a_program_that_is_there_is_taken(tmp_path, option):
    with started(tmp_path, **{option: f"{sys.executable} -m prog"}) as run:
        settings = run.state().settings
    assert sys.executable in settings.proposer_command + settings.external_benchmark


def test_a_replay_needs_no_program(tmp_path):
    with started(tmp_path, device="recorded:there", proposer="/nonexistent/prog") as run:
        assert run.state().settings.proposer_command == "/nonexistent/prog"

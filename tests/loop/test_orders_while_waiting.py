"""Orders and proposers while a kernel is waited for: nothing is tried, nothing is left hanging."""

from __future__ import annotations

import contextlib
import json
import sys

import pytest

from kbs.looping.driver import Driver
from kbs.looping.progress import Quiet
from kbs.looping.running import Wiring, wired
from kbs.looping.waiting import waits_for
from kbs.looping.world import WaitingForAgentError
from kbs.looping.writing import Writer
from kbs.proposers.command import CommandProposer
from kbs_engine.errors import MeasurementError
from kbs_engine.gate import check_version
from tests.loop.test_orders import REPORT, Host, go, order, started


@pytest.fixture
def waiting(tmp_path):
    """A run that waits for v1."""
    with started(tmp_path, iterations=1, slots=1, proposer="agent") as run:
        with pytest.raises(WaitingForAgentError, match=r"v1 waits for a kernel \(try 1\)"):
            go(run)
        yield run


def test_a_run_that_waits_is_finalized_with_what_stands(waiting):
    order(waiting, kind="finalize")
    state = go(waiting)
    assert state["ended"] == "stopped"
    assert [row["version"] for row in state["versions"]] == [0]
    assert (waiting.root / "final_report.md").is_file()
    assert not (waiting.root / "v1").exists()
    assert check_version(waiting, 0, final=True) == ()
    order(waiting, kind="extend", iterations=1)
    with pytest.raises(WaitingForAgentError, match="v1 waits"):
        go(waiting)


def test_other_constraints_take_the_request_back(waiting):
    order(waiting, kind="set", changes={"dims": {"M": 16}}, reason="larger batches")
    with pytest.raises(WaitingForAgentError, match="v2 waits"):
        go(waiting)
    request = json.loads(waiting.version(1).request.read_text())
    assert request["contract"]["dims"] == {"M": 16}
    assert waiting.state().epoch == 1
    assert "M=16" in waiting.paths.readme.read_text()


@pytest.mark.parametrize("kind", ["restart", "extend"])
def test_a_request_is_planned_anew(waiting, kind):
    order(waiting, kind=kind, iterations=1 if kind == "extend" else 0)
    with pytest.raises(WaitingForAgentError, match=r"v1 waits for a kernel \(try 1\)"):
        go(waiting)
    assert "v1 waits" in waits_for(waiting)
    assert waiting.current() == 1
    assert not any((waiting.root / "v1").iterdir())


def test_a_program_that_brings_no_kernel_stops_the_run_and_is_asked_again(tmp_path):
    silent = CommandProposer(f"{sys.executable} -c print()")
    with started(tmp_path, iterations=1, slots=1, retries=1) as run:
        wiring = Wiring(home=None, roots=(), remember=False, proposer=silent)
        for _ in range(2):
            with contextlib.closing(Host(run.blobs, REPORT)) as device:
                world = wired(run, run.state().settings, wiring)
                driver = Driver(run, device, world, Writer(run), Quiet())
                with pytest.raises(MeasurementError, match="gave no kernel in 2 tries"):
                    driver.go()
        assert [row.version for row in run.state().versions] == [0]
        assert not run.state().verdicts

"""A profiled call stands before its range until the device is free, and never for ever."""

from __future__ import annotations

import pytest

from kbs_backends.device import ahead_child
from kbs_engine.errors import MeasurementError
from kbs_engine.jobs import ProfileJob, SourceRef
from kbs_engine.results import Profiled, read
from tests.backends.device.conftest import HEAD, HONEST
from tests.backends.device.test_ahead import MACHINE, NARROW, bench, start_of

__all__ = ["bench"]
pytestmark = pytest.mark.slow

COUNTS = """
before = run_kernel

def run_kernel(x, y, **_):
    before(x, y)
    with open({file!r}, "a") as file:
        file.write("call ")
"""
"""A candidate that tells of each call: the warm-up is one, the one in the range another."""
PRINTS = """
import sys
sys.stdout.write("x" * (1 << 20))
"""


def profile(bench, text, turn):
    sha256 = bench.blobs.put(HEAD + HONEST + text)
    source = SourceRef(sha256=sha256, language="triton", name="kernel.py")
    job = ProfileJob(source=source, task=bench.task, sections=NARROW)
    return read(bench.outside.run(job, MACHINE, turn), Profiled)


def counting(bench):
    """A source that counts calls in a file, and how many it has counted."""
    file = bench.folder / "calls"
    return COUNTS.format(file=str(file)), lambda: file.read_text().split() if file.exists() else []


def test_all_but_the_range_is_done_before_the_turn(bench):
    text, calls = counting(bench)
    child, seen = bench.waits(start_of()), []
    answer = profile(bench, text, lambda: seen.append(calls()))
    assert seen == [["call"]]
    assert calls() == ["call", "call"]
    assert answer.command == child.command
    assert bench.blobs.get(answer.report_sha256) == b"report"
    assert "--hold" not in answer.collected.arguments
    left = [path.name for path in (bench.folder / "outside").rglob("*") if path.is_file()]
    assert not {"prepared", "go"} & set(left)


@pytest.mark.sweep
def test_a_usual_start_takes_its_turn_first(bench):
    text, calls = counting(bench)
    bench.room, seen = 0, []
    answer = profile(bench, text, lambda: seen.append(calls()))
    assert seen == [[]]
    assert calls() == ["call", "call"]
    assert answer.collected.arguments == ()


def test_one_that_ends_before_its_range_still_takes_its_turn_and_the_start_is_a_usual_one(bench):
    bench.waits(start_of())
    seen = []
    answer = profile(bench, "import os\nos._exit(3)\n", lambda: seen.append(1))
    assert answer.notes == ("the profiled program ended with 3",)
    assert seen


@pytest.mark.sweep
def test_one_whose_prints_nobody_reads_goes_on_once_it_is_alone(bench, monkeypatch):
    monkeypatch.setattr(ahead_child, "PREPARE_S", 1.0)
    bench.waits(start_of())
    answer = profile(bench, PRINTS, lambda: None)
    assert bench.blobs.get(answer.report_sha256) == b"report"
    assert answer.collected.arguments


def test_no_turn_no_profile_and_nothing_left(bench):
    text, calls = counting(bench)
    child = bench.waits(start_of())

    def closed():
        raise MeasurementError("the device is closed", remedy="open a new one")

    with pytest.raises(MeasurementError, match="closed"):
        profile(bench, text, closed)
    assert calls() == ["call"]
    assert not child.alive
    assert not child.folder.exists()

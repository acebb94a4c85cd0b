"""Whose turn it is: what must be alone is, what may run aside does, and every future ends."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError

import pytest

from kbs_backends.device import LocalDevice
from kbs_backends.device.turns import Turns
from kbs_engine.blobs import BlobStore
from kbs_engine.errors import MeasurementError
from kbs_engine.jobs import Check, Result, SourceRef, Task

SOON_S = 10.0


class Held:
    """Work that begins, tells so, and ends when it is let go."""

    def __init__(self, result=None):
        self.began, self.let_go, self.result = threading.Event(), threading.Event(), result

    def __call__(self):
        self.began.set()
        assert self.let_go.wait(SOON_S)
        if isinstance(self.result, BaseException):
            raise self.result
        return self.result


@pytest.fixture
def turns():
    made = Turns(lambda: None)
    yield made
    made.close(amid=False, end=lambda: None)


def test_one_after_the_other_in_order(turns):
    seen = []
    first = Held(1)
    futures = [turns.submit(first, alone=False)]
    futures += [turns.submit(lambda n=n: seen.append(n) or n, alone=n % 2 == 0) for n in (2, 3, 4)]
    assert first.began.wait(SOON_S)
    assert seen == []
    first.let_go.set()
    assert [future.result(SOON_S) for future in futures] == [1, 2, 3, 4]
    assert seen == [2, 3, 4]


def test_what_shares_goes_on_beside_it_and_what_must_be_alone_waits(turns):
    sanitizer = Held("clean")
    aside = turns.aside(lambda: sanitizer)
    assert sanitizer.began.wait(SOON_S)
    assert turns.submit(lambda: "checked", alone=False).result(SOON_S) == "checked"
    timed_at = threading.Event()
    timed = turns.submit(timed_at.set, alone=True)
    behind = turns.submit(timed_at.is_set, alone=False)
    assert not timed_at.wait(0.2)
    assert not behind.done()
    sanitizer.let_go.set()
    assert aside.result(SOON_S) == "clean"
    timed.result(SOON_S)
    assert behind.result(SOON_S) is True


def test_it_begins_in_its_turn_and_not_beside_what_is_alone(turns):
    timing, begun = Held(), threading.Event()
    turns.submit(timing, alone=True)
    aside = turns.aside(lambda: begun.set() or (lambda: "clean"))
    assert timing.began.wait(SOON_S)
    assert not begun.wait(0.2)
    timing.let_go.set()
    assert aside.result(SOON_S) == "clean"


@pytest.mark.parametrize("when", ["begun", "aside"])
def test_a_problem_is_told_to_who_waits_and_the_next_goes_on(turns, when):
    def fails():
        raise ValueError("no tool")

    aside = turns.aside(fails if when == "begun" else lambda: fails)
    with pytest.raises(ValueError, match="no tool"):
        aside.result(SOON_S)
    assert turns.submit(lambda: 1, alone=True).result(SOON_S) == 1


def test_idle_work_is_done_only_while_no_job_waits(turns):
    done = []
    first = Held()
    turns.submit(first, alone=False)
    assert first.began.wait(SOON_S)
    turns.when_idle(lambda: done.append("too early"))
    last = turns.submit(lambda: None, alone=False)
    first.let_go.set()
    last.result(SOON_S)
    turns.when_idle(lambda: done.append("idle"))
    turns.submit(lambda: None, alone=False).result(SOON_S)
    finished = threading.Event()
    turns.when_idle(finished.set)
    assert finished.wait(SOON_S)
    assert "too early" not in done


def test_closing_amid_work_ends_it_and_leaves_no_future_open():
    turns = Turns(lambda: None)
    running, sanitizer = Held(), Held()
    aside = turns.aside(lambda: sanitizer)
    assert sanitizer.began.wait(SOON_S)
    first = turns.submit(running, alone=False)
    assert running.began.wait(SOON_S)
    never = [turns.submit(lambda: 1, alone=True), turns.aside(lambda: lambda: 1)]

    def end():
        running.let_go.set()
        sanitizer.let_go.set()

    turns.close(amid=True, end=end)
    assert (first.result(SOON_S), aside.result(SOON_S)) == (None, None)
    for future in never:
        with pytest.raises(CancelledError):
            future.result(SOON_S)
    turns.when_idle(lambda: 1 / 0)


class Profiler:
    """Prepares, takes its turn once it ``may``, measures."""

    def __init__(self, *, takes=1, fails=False, may=True):
        self.prepared, self.alone, self.let_go = (threading.Event() for _ in range(3))
        self.takes, self.fails, self.may = takes, fails, threading.Event()
        if may:
            self.may.set()

    def __call__(self, turn):
        def run():
            self.prepared.set()
            if self.fails:
                raise ValueError("no report")
            assert self.may.wait(SOON_S)
            for _ in range(self.takes):
                turn()
            self.alone.set()
            assert self.let_go.wait(SOON_S)
            return "report"

        return run


def test_a_profiler_prepares_beside_all_and_is_alone_from_its_turn_on():
    quiet = []
    turns = Turns(lambda: quiet.append(1))
    sanitizer, profiler, check = Held("clean"), Profiler(takes=2, may=False), Held("checked")
    report = turns.held(profiler)
    aside, checked = turns.aside(lambda: sanitizer), turns.submit(check, alone=False)
    profiler.may.set()  # its turn comes after what is in the queue by then
    assert profiler.prepared.wait(SOON_S)
    assert check.began.wait(SOON_S)
    assert sanitizer.began.wait(SOON_S)
    check.let_go.set()
    assert checked.result(SOON_S) == "checked"
    assert not profiler.alone.wait(0.2), "the sanitizer still runs"
    sanitizer.let_go.set()
    assert aside.result(SOON_S) == "clean"
    assert profiler.alone.wait(SOON_S)
    assert quiet == [1]
    behind = turns.submit(lambda: 1, alone=False)
    assert not behind.done()
    profiler.let_go.set()
    assert (report.result(SOON_S), behind.result(SOON_S)) == ("report", 1)
    turns.close(amid=False, end=lambda: None)


def test_a_timing_behind_a_profiler_waits_for_its_whole_turn(turns):
    profiler = Profiler()
    report = turns.held(profiler)
    timed = turns.submit(report.done, alone=True)
    assert profiler.alone.wait(SOON_S)
    assert not timed.done()
    profiler.let_go.set()
    assert timed.result(SOON_S) is True


def test_several_profilers_have_their_turns_one_after_the_other(turns):
    first, second = Profiler(), Profiler(takes=0)
    reports = [turns.held(first), turns.held(second)]
    assert first.alone.wait(SOON_S)
    assert not second.prepared.is_set()
    for one in (first, second):
        one.let_go.set()
    assert [report.result(SOON_S) for report in reports] == ["report", "report"]


def test_a_profiler_that_fails_before_its_turn_holds_nobody_up(turns):
    report = turns.held(Profiler(fails=True))
    with pytest.raises(ValueError, match="no report"):
        report.result(SOON_S)
    assert turns.submit(lambda: 1, alone=True).result(SOON_S) == 1


@pytest.mark.parametrize("amid", [False, True])
def test_a_profiler_that_waits_is_told_that_the_device_closes(amid):
    turns = Turns(lambda: None)
    sanitizer, profiler = Held("clean"), Profiler()
    report, aside = turns.held(profiler), turns.aside(lambda: sanitizer)
    assert sanitizer.began.wait(SOON_S)
    assert profiler.prepared.wait(SOON_S)
    closing = threading.Thread(target=turns.close, kwargs={"amid": amid, "end": lambda: None})
    closing.start()
    with pytest.raises(MeasurementError, match="closed"):
        report.result(SOON_S)
    sanitizer.let_go.set()
    closing.join(SOON_S)
    assert not closing.is_alive()
    assert aside.result(SOON_S) == "clean"


@pytest.mark.parametrize(
    ("first", "times"),
    [({"reason": "out_of_memory"}, 2), (None, 2), ({"reason": "wrong_result"}, 1)],
)
def test_a_check_that_lacked_memory_beside_a_tool_is_made_again_alone(tmp_path, first, times):
    blobs = BlobStore(tmp_path / "blobs")
    source = SourceRef(sha256=blobs.put("x"), language="triton", name="k.py")
    job = Check(source=source, task=Task(reference_sha256=blobs.put("y"), dims={}), rounds=1)
    sanitizer, judged = Held("clean"), []

    def judge(_):
        judged.append(sanitizer.let_go.is_set())
        value = first if len(judged) == 1 else {"reason": None}
        failure = None if value else "the reference does not fit into the device's memory"
        return Result(job_key=job.key, kind="check", value=value, failure=failure)

    with LocalDevice(blobs, kind="host", workdir=tmp_path / "work") as device:
        device._judge = judge
        aside = device._turns.aside(lambda: sanitizer)
        assert sanitizer.began.wait(SOON_S)
        checked = device.submit(job)
        threading.Timer(0.2, sanitizer.let_go.set).start()
        assert checked.result(SOON_S).value == (first if times == 1 else {"reason": None})
        assert aside.result(SOON_S) == "clean"
        assert judged == [False, True][:times]
        judged.clear()
        assert device.submit(job).result(SOON_S).value == first, "nothing was beside it"
        assert len(judged) == 1


def test_a_profiler_without_a_queue_to_ask_does_not_wait_for_ever():
    turns = Turns(lambda: None)
    prepared, go = threading.Event(), threading.Event()

    def begin(turn):
        def run():
            prepared.set()
            assert go.wait(SOON_S)
            turn()

        return run

    report = turns.held(begin)
    assert prepared.wait(SOON_S)
    turns._queue.shutdown(wait=False)  # as an interpreter does that ends
    go.set()
    with pytest.raises(MeasurementError, match="closed"):
        report.result(SOON_S)
    turns.close(amid=False, end=lambda: None)

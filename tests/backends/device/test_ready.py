"""Processes that open the device ahead of need: taken, replaced, never shared, never left."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import msgspec
import pytest

from kbs_backends.device import proc
from kbs_backends.device.answers import compiled_sources
from kbs_backends.device.ready import MOST, Ready, how_many
from kbs_backends.device.refusal import Refusal
from kbs_backends.device.turns import Turns
from kbs_engine.jobs import BaselineRef, Check, SourceRef, Task, Time, TimingSettings
from tests.backends.device.conftest import HONEST, LIMITS, open_rig

TELLS_ITS_PROCESS = """
import os

def run_kernel(x, y, **_):
    print(os.getpid(), flush=True)
    raise RuntimeError(f"process {os.getpid()}")
"""


class Worker:
    """A worker as ``Ready`` sees it."""

    def __init__(self, *, opens=True, answers=True):
        self.alive, self.opens, self.was_opened, self.ended = True, opens, 0, 0
        self.has_answered = answers

    @property
    def is_open(self):
        return self.was_opened > 0

    def opened(self):
        if not self.opens:
            raise Refusal("crashed", "by signal SIGKILL")
        self.was_opened += 1

    def end(self):
        self.ended += 1

    def kill(self):
        self.alive = False


def filled(most, **options):
    made = []
    ready = Ready(lambda: made.append(Worker(**options)) or made[-1], most)
    for _ in range(3):
        ready.judged()
    while ready.add() == 0:
        pass
    return ready, made


@pytest.mark.parametrize(("gib", "waiting"), [(4, 0), (24, 5), (80, 19), (141, MOST)])
def test_a_small_gpu_keeps_its_memory(gib, waiting):
    assert how_many(gib << 30) == waiting


def test_who_measures_one_kernel_never_starts_more():
    ready, made = filled(0)
    assert (len(ready), made, ready.take()) == (0, [], None)
    ready = Ready(Worker, 3)
    ready.judged()
    ready.judged()
    assert ready.add() is None
    assert len(ready) == 0, "a check and a timing are no loop"


def test_who_says_that_many_come_has_them_at_once():
    ready = Ready(Worker, 3, many=True)
    assert ready.add() == 0
    assert len(ready) == 1


def test_the_dead_are_dropped_and_the_others_taken_once():
    ready, made = filled(3)
    made[0].alive = False
    assert ready.take() is made[1]
    assert made[0].ended == 1
    assert ready.take() is made[2]
    assert ready.take() is None
    assert [ready.add() for _ in range(4)] == [0, 0, 0, None]
    assert len(ready) == 3


def test_quiet_waits_for_all_and_drops_who_cannot_open():
    ready, made = filled(2, answers=False)
    assert [one.was_opened for one in made] == [0, 0]
    ready.quiet()
    assert [one.was_opened for one in made] == [1, 1]
    ready, made = filled(2, answers=False, opens=False)
    ready.quiet()
    assert len(ready) == 0
    assert [one.ended for one in made] == [1, 1]


def test_two_open_at_a_time_and_nobody_waits_for_them():
    ready, made = filled(5)
    assert [one.was_opened for one in made] == [1, 1, 1, 1, 0]
    ready, made = filled(5, answers=False)
    assert [one.was_opened for one in made] == [0, 0]
    made[1].has_answered = True
    assert [ready.add(), ready.add() == 0] == [0, False]
    assert [one.was_opened for one in made] == [0, 1, 0]


def test_who_died_opening_makes_room():
    ready, made = filled(3, answers=False, opens=False)
    assert len(made) == 2
    made[0].has_answered = True
    assert ready.add() == 0
    assert (made[0].ended, len(ready)) == (1, 2)


def test_a_zygote_that_died_is_told_by_the_next_job_alone():
    def start():
        raise Refusal("exited", "with status 1")

    ready = Ready(start, 2)
    for _ in range(3):
        ready.judged()
    assert ready.add() is None
    assert len(ready) == 0


@pytest.fixture(scope="module")
def going_on(tmp_path_factory):
    """A device whose caller has had three kernels judged: two processes wait, and a clock."""
    limits = msgspec.structs.replace(LIMITS, waiting=2)
    made = open_rig(tmp_path_factory.mktemp("device"), limits=limits)
    with made.device:
        made.time(HONEST, trials=4)
        made.clock = waiting(made, 1)
        for _ in range(2):
            assert made.check(HONEST, rounds=1).passed
        yield made


def waiting(rig, count=2):
    """Processes under the zygote but for the clock, once they are so many and stay the same."""
    deadline, seen = time.monotonic() + 30, []
    while time.monotonic() < deadline:
        zygotes = [
            pid for pid in proc.children(rig.device.owner_pid)
            if b"kbs_backends.device.zygote" in _command(pid)
        ]  # fmt: skip
        found = {child for pid in zygotes for child in proc.children(pid)}
        found -= getattr(rig, "clock", set())
        seen.append(found)
        if len(found) == count and seen[-4:] == [found] * 4:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{len(found)} processes wait, not {count}")


def _command(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_each_candidate_gets_one_that_waited_and_nobody_gets_it_again(going_on):
    before = waiting(going_on)
    used = []
    for _ in range(3):
        found = going_on.check(TELLS_ITS_PROCESS, rounds=1)
        assert found.reason == "raised"
        used.append(int(found.detail.split("process ")[1].split()[0].strip("'\")")))
    assert set(used[:2]) == before
    assert len(set(used)) == 3


def test_killed_while_waiting(going_on):
    killed = waiting(going_on)
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    while not all(proc.ended(pid) for pid in killed):
        time.sleep(0.01)
    found = going_on.time(HONEST, HONEST, trials=4, baseline=True)
    assert [(arm.reason, len(arm.samples_ns)) for arm in found.arms] == [(None, 3)] * 3
    assert waiting(going_on)


def test_a_timing_takes_them_and_leaves_no_folder(going_on):
    waiting(going_on)
    found = going_on.time(HONEST, HONEST, trials=4, fresh_processes=3)
    assert [len(arm.samples_ns) for arm in found.arms] == [9, 9]
    waiting(going_on)
    left = [p for p in going_on.device._workdir.iterdir() if p.is_dir() and "worker" in p.name]
    assert len(left) == 3, "those that wait, and the clock"


def test_none_is_started_where_a_tool_is_to_measure_next(going_on):
    before = waiting(going_on)
    assert going_on.check(HONEST, rounds=1).passed
    going_on.device._owner.quiet()  # at once, as a loop does
    assert len(waiting(going_on, 1) & before) == 1, "one was used, and nobody took its place"
    assert going_on.check(HONEST, rounds=1).passed
    waiting(going_on)


def test_none_is_started_while_tools_are_opening_the_device(going_on, monkeypatch):
    before = waiting(going_on)
    with monkeypatch.context() as patch:
        patch.setattr(Turns, "shared", property(lambda _: True))
        assert going_on.check(HONEST, rounds=1).passed
        assert len(waiting(going_on, 1) & before) == 1
    going_on.device._idle()
    assert len(waiting(going_on) & before) == 1


@pytest.mark.sweep
def test_a_loop_has_them_before_its_first_kernel(tmp_path):
    made = open_rig(tmp_path, limits=msgspec.structs.replace(LIMITS, waiting=2))
    made.device.expect_many()
    with made.device:
        assert made.check(HONEST, rounds=1).passed
        assert waiting(made)


def test_once_the_tool_is_done_their_place_is_taken(going_on):
    before = waiting(going_on)
    assert going_on.check(HONEST, rounds=1).passed
    going_on.device._owner.quiet()
    waiting(going_on, 1)
    going_on.device._idle()
    assert len(waiting(going_on) & before) == 1


def test_what_is_compiled_ahead_of_a_job_is_each_source_once():
    def source(number, language):
        return SourceRef(sha256=f"{number:064x}", language=language, name="k", tunables={"A": 1})

    arms = (source(1, "cuda-cpp"), source(1, "cuda-cpp"), source(2, "triton"),
            source(3, "cutlass"), BaselineRef(name="pytorch-eager"))  # fmt: skip
    task = Task(reference_sha256="a" * 64, dims={})
    found = compiled_sources(Time(arms=arms, task=task, settings=TimingSettings()))
    assert [one.sha256[-1] for one in found] == ["1", "3"]
    assert compiled_sources(Check(source=arms[2], task=task)) == []


@pytest.mark.sweep
def test_none_is_left_when_the_device_closes(tmp_path):
    made = open_rig(tmp_path, limits=msgspec.structs.replace(LIMITS, waiting=2))
    with made.device:
        for _ in range(3):
            made.check(HONEST, rounds=1)
        processes = waiting(made)
    assert all(proc.ended(pid) for pid in processes)

"""The worker of the second clock is kept from one timing to the next, where it serves."""

from __future__ import annotations

import dataclasses
import os
import signal
import time

import msgspec
import pytest

from kbs_backends.device import proc
from tests.backends.device.conftest import HONEST, open_rig


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """A device of its own: nobody else's timings leave a clock there."""
    made = open_rig(tmp_path_factory.mktemp("clock"))
    with made.device:
        yield made


def clock(rig):
    """Process id of the one worker that is left when a timing is over."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        zygotes = proc.children(rig.device.owner_pid)
        left = [child for pid in zygotes for child in proc.children(pid) if not proc.ended(child)]
        if len(left) == 1:
            return left[0]
        time.sleep(0.05)
    raise AssertionError(f"{len(left)} workers are left, not the clock alone")


def right(timed):
    return [arm.reason for arm in timed.arms] == [None] * len(timed.arms)


@pytest.mark.sweep
def test_timings_of_one_task_share_it_and_another_layout_has_its_own(alone):
    assert right(alone.time(HONEST, HONEST, trials=4))
    first = clock(alone)
    assert right(alone.time(HONEST, trials=5))
    assert clock(alone) == first
    larger = msgspec.structs.replace(alone.task, dims={"N": 700})
    assert right(dataclasses.replace(alone, task=larger).time(HONEST, trials=4))
    assert clock(alone) != first
    assert proc.ended(first)


def test_one_that_was_killed_is_replaced(alone):
    assert right(alone.time(HONEST, trials=4))
    first = clock(alone)
    os.kill(first, signal.SIGKILL)
    while not proc.ended(first):
        time.sleep(0.01)
    assert right(alone.time(HONEST, trials=4))
    assert clock(alone) != first


def test_a_check_leaves_it_alone(alone):
    assert right(alone.time(HONEST, trials=4))
    first = clock(alone)
    assert alone.check(HONEST, rounds=1).passed
    assert clock(alone) == first

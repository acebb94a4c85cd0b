"""A first call may compile for long; one that does nothing is not waited for as long as that."""

from __future__ import annotations

import time

import msgspec
import pytest

from kbs_backends.device import proc
from kbs_backends.device.live import LiveWorker
from tests.backends.device.conftest import HONEST, LIMITS, open_rig
from tests.thinned import thinned

IDLE = """
import time
def run_kernel(x, y, **_):
    while True:
        time.sleep(0.01)
"""
IDLE_AT_LOAD = "import time\ntime.sleep(600)\n" + HONEST
SLOW_COMPILER = """
import subprocess, sys
ready = []
def run_kernel(x, y, **_):
    if not ready:
        ready.append(1)
        busy = "import time\\nwhile time.process_time() < 2.2: pass"
        subprocess.run([sys.executable, "-S", "-c", busy], check=True)
    honest(x, y)
"""


@pytest.fixture(scope="module")
def impatient(tmp_path_factory):
    limits = msgspec.structs.replace(LIMITS, idle_s=1.5, call_s=1.5)
    made = open_rig(tmp_path_factory.mktemp("impatient"), limits=limits)
    with made.device:
        assert made.check(HONEST, rounds=1).passed
        yield made


@pytest.mark.parametrize("text", thinned([IDLE, IDLE_AT_LOAD], 2))
def test_a_candidate_that_does_nothing_is_refused_soon(impatient, text):
    start = time.monotonic()
    found = impatient.check(text)
    assert (found.reason, found.detail) == ("hung", "no answer, and nothing was done for 1.5 s")
    assert time.monotonic() - start < LIMITS.load_s / 2


def test_a_compiler_that_takes_long_is_waited_for(impatient):
    assert impatient.check(SLOW_COMPILER, rounds=1).passed


@pytest.mark.sweep
def test_without_the_limit_it_is_waited_for_as_long_as_a_compiler(tmp_path):
    limits = msgspec.structs.replace(LIMITS, idle_s=60.0, load_s=3.0, call_s=1.5)
    made = open_rig(tmp_path, limits=limits)
    with made.device:
        found = made.check(IDLE)
    assert (found.reason, found.detail) == ("hung", "no answer within 3 s")


def test_a_compiled_language_has_the_limit_of_a_call():
    worker = LiveWorker.__new__(LiveWorker)
    worker.limits = LIMITS
    asked = []

    def receive(timeout_s, *, idle_s=None):
        asked.append((timeout_s, idle_s))
        raise TimeoutError

    worker._receive = receive
    for compiles in (False, True):
        worker._compiles = compiles
        with pytest.raises(TimeoutError):
            worker.done(1, first=True)
    assert asked == [(LIMITS.call_s, None), (LIMITS.load_s, LIMITS.idle_s)]


def test_processor_time_of_what_is_gone_counts_nothing():
    assert proc.busy_seconds(frozenset()) == 0
    assert proc.busy_seconds(frozenset({2**22 + 1})) == 0
    assert not proc.reads_disk(frozenset({2**22 + 1}))

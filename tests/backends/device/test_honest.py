"""Honest kernels pass, are timed, and are told apart by speed."""

from __future__ import annotations

import os
import signal
import time

import pytest

from kbs_engine.jobs import Count, Probe, Time, TimingSettings
from kbs_engine.results import Counted, Machine, read
from kbs_engine.timing import compare
from tests.backends.device.conftest import HONEST, open_rig

TRITON = """
import triton
import triton.language as tl

@triton.jit
def kernel(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + i, e / tl.sum(e, 0), mask=i < n)

def run_kernel(x, y, **_):
    kernel[(1,)](x, y, x.numel(), B=triton.next_power_of_2(x.numel()))
"""


def test_a_kernel_in_place_passes_all_rounds(rig):
    found = rig.check(HONEST)
    assert found.passed, found.detail
    assert len(found.rounds) == 10
    assert len({r.distribution for r in found.rounds}) > 3
    assert all(r.compared_elements == 300 for r in found.rounds)
    assert found.rounds[0].eager_max_abs_err is not None


def test_a_kernel_that_returns_its_result_passes(rig):
    assert rig.check("def run_kernel(x, **_):\n    return torch.softmax(x, 0)\n").passed


def test_a_triton_kernel_passes_in_the_interpreter(rig):
    assert rig.check(TRITON).passed


def test_a_compiler_may_run_in_the_first_call(rig):
    text = """
    import subprocess
    ready = []
    def run_kernel(x, y, **_):
        if not ready:
            subprocess.run(["true"], check=True)
            ready.append(1)
        honest(x, y)
    """
    assert rig.check(text).passed


def test_timing_takes_turns_and_verifies_every_output(rig):
    slow = "import time\ndef run_kernel(x, y, **_):\n    time.sleep(0.02)\n    honest(x, y)\n"
    timed = rig.time(slow, HONEST, trials=9, baseline=True, fresh_processes=2)
    assert [arm.reason for arm in timed.arms] == [None, None, None]
    assert timed.verified
    assert timed.order == "ABBA"
    for arm in timed.arms:
        assert len(arm.samples_ns) == len(arm.host_ns) == 2 * (9 - 1)
        assert set(arm.process) == {0, 1}
        assert arm.cold_first_call_ns > 0
    seen = compare(timed, 1, 0)
    assert seen.ratio > 2
    assert seen.verdict == "faster"


def test_do_bench_is_refused_where_no_gpu_is(rig):
    settings = TimingSettings(trials=4, method="do_bench")
    result = rig.result(Time(arms=(rig.source(HONEST),), task=rig.task, settings=settings))
    assert "do_bench times GPU kernels only" in result.failure
    assert "--timing-method host_time" in result.failure


def test_the_host_says_that_it_is_the_host(rig):
    machine = read(rig.result(Probe()), Machine)
    assert machine.device == "host"
    assert machine.arch == ""
    result = rig.result(Count(task=rig.task))
    assert result.provenance.device == "host"
    assert read(result, Counted).work.bytes_in == 1200.0


def ended(pid):
    """Whether a child can be reaped: SIGKILL takes its time on a busy machine."""
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
    except ChildProcessError:
        return True


@pytest.fixture(scope="module")
def mortal(tmp_path_factory):
    """A device whose owner is killed, and whose folder is not tidied up before it closes."""
    made = open_rig(tmp_path_factory.mktemp("mortal"))
    with made.device:
        yield made


@pytest.mark.sweep
def test_a_dead_owner_is_one_failed_job_and_a_new_owner(mortal):
    mortal.check(HONEST, rounds=1)
    pid = mortal.device.owner_pid
    os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + 30
    while not ended(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert mortal.check(HONEST, rounds=1).passed


def test_an_owner_killed_in_the_middle_is_told(mortal):
    from kbs_engine.jobs import Check

    mortal.check(HONEST, rounds=1)
    job = Check(source=mortal.source("def run_kernel(x, y, **_):\n    while True: pass\n"),
                task=mortal.task)  # fmt: skip
    future = mortal.device.submit(job)
    time.sleep(0.3)
    os.kill(mortal.device.owner_pid, signal.SIGKILL)
    result = future.result(timeout=30)
    assert "measuring process ended (by signal 9)" in result.failure
    assert "submit the job again" in result.failure
    assert mortal.check(HONEST, rounds=1).passed


def test_a_reference_that_fails_is_a_failure_with_a_remedy(rig):
    from kbs_engine.jobs import Check, Task

    inputs = "{'inputs': {'x': torch.ones(3)}, 'outputs': ['x']}"
    text = f"import torch\ndef setup(**_):\n    return {inputs}\n"
    task = Task(reference_sha256=rig.blobs.put(text), dims={})
    result = rig.result(Check(source=rig.source(HONEST), task=task))
    assert result.value is None
    assert "reference" in result.failure
    missing = Task(reference_sha256="0" * 64, dims={})
    assert (
        "no content of hash" in rig.result(Check(source=rig.source(HONEST), task=missing)).failure
    )


def test_a_check_tells_whose_kernels_did_the_work(rig):
    checked = rig.check(HONEST, rounds=1)
    assert "aten::exp" in checked.work.operations
    assert checked.work.launched == ()
    assert checked.work.without_libraries is None
    assert any("no own kernel was seen" in warning for warning in checked.warnings)

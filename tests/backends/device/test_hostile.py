"""Every trick costs its own candidate, by its own reason; the next one is measured normally."""

from __future__ import annotations

import time

import pytest

from tests.backends.device.conftest import HONEST

CHECKED = {
    "wrong_result": "def run_kernel(x, y, **_):\n    honest(x, y); y.mul_(1.01)\n",
    "missing_output": "def run_kernel(x, y, **_):\n    pass\n",
    "unwritten_elements": """
    def run_kernel(x, y, **_):
        out = torch.softmax(x, 0)
        y[:200] = out[:200]
    """,
    "nonfinite": "def run_kernel(x, y, **_):\n    honest(x, y); y[7] = float('nan')\n",
    "wrong_dtype": "def run_kernel(x, **_):\n    return torch.softmax(x, 0).double()\n",
    "wrong_shape": "def run_kernel(x, **_):\n    return torch.softmax(x, 0)[None]\n",
    "wrong_stride": """
    def run_kernel(x, **_):
        return torch.softmax(x, 0).repeat_interleave(2)[::2]
    """,
    "input_mutated": "def run_kernel(x, y, **_):\n    honest(x, y); x.zero_()\n",
    "aliased_output": """
    def run_kernel(x, **_):
        x.copy_(torch.softmax(x, 0))
        return x
    """,
    "lazy_tensor": """
    class Lazy(torch.Tensor):
        pass
    def run_kernel(x, **_):
        return torch.softmax(x, 0).as_subclass(Lazy)
    """,
    "patched_instance": """
    def run_kernel(x, **_):
        out = torch.softmax(x, 0)
        out.clone = lambda: out
        return out
    """,
    "raised": "def run_kernel(x, y, **_):\n    raise ValueError('no')\n",
    "load_failed": "x = (\n",
    "crashed": "import ctypes\ndef run_kernel(x, y, **_):\n    ctypes.string_at(0)\n",
    "hung": """
    calls = []
    def run_kernel(x, y, **_):
        honest(x, y)
        calls.append(1)
        while len(calls) > 1:
            pass
    """,
    "exited": """
    import os
    def run_kernel(x, y, **_):
        print('{"passed": true, "time_ns": 1}', flush=True)
        os._exit(0)
    """,
    "forked": """
    import os, time
    def run_kernel(x, y, **_):
        honest(x, y)
        if os.fork() == 0:
            time.sleep(60)
    """,
    "sandbox_violation": """
    import os, signal
    def run_kernel(x, y, **_):
        os.kill(os.getppid(), signal.SIGKILL)
        honest(x, y)
    """,
    "wrote_too_much": """
    def run_kernel(x, y, **_):
        with open("big", "wb") as file:
            for _ in range(10 * 1024):
                file.write(bytes(1 << 20))
        honest(x, y)
    """,
    "out_of_memory": """
    def run_kernel(x, y, **_):
        hog = []
        while True:
            hog.append(bytearray(64 << 20))
    """,
    "thread_left": """
    import threading, time
    def run_kernel(x, y, **_):
        honest(x, y)
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    """,
    "state_changed": """
    def run_kernel(x, y, **_):
        torch.set_default_dtype(torch.float64)
        honest(x, y)
    """,
    "patched_harness": """
    import time
    def run_kernel(x, y, **_):
        time.perf_counter_ns = lambda: 0
        honest(x, y)
    """,
    "cached_output": """
    kept = []
    def run_kernel(x, y, **_):
        if not kept:
            honest(x, y)
            kept.append(y.clone())
        y.copy_(kept[0])
    """,
    "forged_result": """
    import os
    def run_kernel(x, y, **_):
        honest(x, y)
        os.write(3, b"\\x04\\x00\\x00\\x00done")
    """,
}  # fmt: skip


@pytest.mark.parametrize("code", CHECKED)
def test_check_refuses_with_its_own_reason_and_goes_on(rig, code):
    found = rig.check(CHECKED[code])
    assert (found.passed, found.reason) == (False, code), found.detail
    assert rig.check(HONEST, rounds=1).passed


OTHER_WAYS = {
    "network": ("import socket\ndef run_kernel(x, y, **_):\n    socket.socket()\n",
                "sandbox_violation"),
    "a full stdout": ("def run_kernel(x, y, **_):\n    while True: print('x' * 100000)\n",
                      "wrote_too_much"),
    "a process after the first call": ("""
        import subprocess
        def run_kernel(x, y, **_):
            honest(x, y)
            subprocess.run(["true"])
        """, "forked"),
    "writing elsewhere": ("def run_kernel(x, y, **_):\n    open('/tmp/kbs-escape', 'w')\n",
                          "raised"),
    "reading the parent": ("""
        import os
        def run_kernel(x, y, **_):
            open(f"/proc/{os.getppid()}/mem", "rb")
        """, "raised"),
    "writing beside an output": ("""
        import ctypes
        def run_kernel(x, y, **_):
            honest(x, y)
            ctypes.memset(y.data_ptr() + 4 * y.numel(), 7, 1)
        """, "illegal_access"),
    "an exception that hides an exit": ("def run_kernel(x, y, **_):\n    raise SystemExit(0)\n",
                                        "exited"),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHER_WAYS)
def test_other_ways(rig, name):
    text, code = OTHER_WAYS[name]
    found = rig.check(text, rounds=3)
    assert found.reason == code, found.detail


TIMED = {
    "a timer that is patched": ("""
        import gc, time
        def run_kernel(x, y, **_):
            for side in gc.get_objects():
                if type(side).__name__ == "HostWorker":
                    side._clock = lambda start=[0]: start.__setitem__(0, start[0] + 1) or start[0]
            time.sleep(0.03)
            honest(x, y)
        """, "clock_mismatch"),
    "work after the clock": ("""
        import threading, time
        def run_kernel(x, y, **_):
            honest(x, y)
            def later(y=y):
                time.sleep(0.0005)
                y.add_(1)
            threading.Thread(target=later).start()
        """, "late_write wrong_timed_output wrong_result"),
    "right first, wrong later": ("""
        calls = []
        def run_kernel(x, y, **_):
            calls.append(1)
            honest(x, y)
            if len(calls) > 5:
                y.mul_(1.5)
        """, "wrong_timed_output"),
    "nothing once it is timed": ("""
        calls = []
        def run_kernel(x, y, **_):
            calls.append(1)
            if len(calls) <= 5:
                honest(x, y)
        """, "stale_output"),
    "results by address": ("""
        kept = {}
        def run_kernel(x, y, **_):
            key = (id(x), x.shape)
            key = x.shape
            if key not in kept:
                honest(x, y)
                kept[key] = y.clone()
            y.copy_(kept[key])
        """, "cached_output"),
}  # fmt: skip


@pytest.mark.parametrize("name", TIMED)
def test_timing_refuses_the_arm_and_keeps_the_other(rig, name):
    text, code = TIMED[name]
    timed = rig.time(text, HONEST, trials=6)
    assert timed.arms[0].reason in code.split(), timed.arms[0].detail
    assert timed.arms[1].reason is None, timed.arms[1].detail
    assert len(timed.arms[1].samples_ns) == 5


def test_nothing_is_left_behind(rig):
    rig.time(HONEST, trials=4)  # its second clock is kept
    left = workers(rig, 1)
    assert len(left) == 1
    rig.check(CHECKED["forked"], rounds=2)
    rig.check(CHECKED["wrote_too_much"], rounds=1)
    assert workers(rig, 1) == left


def workers(rig, count):
    """Names of workers that have left something, once they are so many, or after 20 s.

    What was killed is tidied up once its answer is out.
    """
    deadline = time.monotonic() + 20
    while True:
        found = {path.stem for path in rig.device._workdir.glob("worker-*")}
        if len(found) == count or time.monotonic() > deadline:
            return found
        time.sleep(0.05)

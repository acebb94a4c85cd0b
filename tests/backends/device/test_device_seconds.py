"""Device time that a timing tells: what loading a task takes in a fresh process is not in it."""

from __future__ import annotations

import contextlib
import time
from types import SimpleNamespace

from kbs_backends.device import racing

SLOW_S = 0.3


def test_loading_a_task_is_no_device_time(monkeypatch):
    def load(_):
        time.sleep(SLOW_S)
        return SimpleNamespace(expected_from="fp64")

    def no_race(*_):
        return []

    monkeypatch.setattr(racing, "_race", no_race)
    side = SimpleNamespace(name="host", queues_launches=False, clocks_mhz=lambda: None)
    bench = SimpleNamespace(
        load=load, side=side, off=frozenset(), clock=lambda _: contextlib.nullcontext()
    )
    settings = SimpleNamespace(method="host_time")
    job = SimpleNamespace(task=None, arms=(), settings=settings)
    monkeypatch.setattr(racing, "_timer", lambda *_: "host")
    assert racing.race(bench, job, {}).gpu_time_s < SLOW_S

"""A reference that never ends is told in time, and the next job is measured."""

from __future__ import annotations

import threading
import time

import msgspec
import pytest

from kbs_backends.device.patience import Patience
from kbs_engine.errors import MeasurementError
from kbs_engine.jobs import Check, SourceRef, Task
from kbs_engine.results import Checked, read
from tests.backends.device.conftest import HONEST, LIMITS, open_rig

LIMIT_S = 10.0
"""The first job of a device imports for some seconds."""
NEVER = "import time\n\n\nwhile True:\n    time.sleep(0.1)\n"
IN_REFERENCE = """
import torch


def setup(N=300, **_):
    return {"inputs": {"x": torch.randn(N), "y": torch.empty(N), "N": N}, "outputs": ["y"]}


def reference(x, y, **_):
    while True:
        pass
"""


@pytest.mark.parametrize("text", [pytest.param(NEVER, marks=pytest.mark.sweep), IN_REFERENCE])
@pytest.mark.sweep
def test_a_reference_that_never_ends(tmp_path, text):
    made = open_rig(tmp_path, limits=msgspec.structs.replace(LIMITS, reference_s=LIMIT_S))
    with made.device:
        assert made.check(HONEST, rounds=1).passed
        task = Task(reference_sha256=made.blobs.put(text), dims={"N": 300})
        source = SourceRef(sha256=made.blobs.put(HONEST), language="triton", name="k.py")
        result = made.device.submit(Check(source=source, task=task, rounds=1)).result(120)
        with pytest.raises(MeasurementError, match=f"did not come to an end within {LIMIT_S:g} s"):
            read(result, Checked)
        assert made.check(HONEST, rounds=1).passed


def test_only_a_job_without_a_step_is_ended():
    ended = threading.Event()
    patience = Patience(0.4, ended.set)
    time.sleep(0.8)
    assert not ended.is_set(), "nothing is being done"
    with patience.job():
        for _ in range(8):
            time.sleep(0.1)
            patience.step()
        assert not ended.is_set(), "it goes on"
        assert ended.wait(5)

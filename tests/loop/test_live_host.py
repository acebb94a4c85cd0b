"""The loop on this machine's CPU, live: the wiring to a real device, with times of its own."""

from __future__ import annotations

import pytest

from kbs_engine.run import RunFolder
from tests.loop.cases import KERNELS
from tests.loop.replaying import kbs_json

pytestmark = pytest.mark.sweep


def test_a_whole_run_on_the_host(tmp_path, home):
    run = tmp_path / "run"
    answer = kbs_json(
        home, "optimize", str(KERNELS / "softmax_host" / "kernel.py"),
        "--ref", str(KERNELS / "ref.py"), "--language", "triton", "--M=16", "--N=64",
        "--device", "host", "-n", "1", "--trials", "8", "--output", str(run),
    )  # fmt: skip
    assert answer["device"] == "host"
    assert answer["ended"]
    assert (run / "final_report.md").exists()
    with RunFolder.open(run) as opened:
        assert opened.journal.verify() is None
        assert opened.state().version(1) is not None


def test_a_recording_of_it_replays_to_the_same_times(tmp_path, home):
    kernel = str(KERNELS / "plain_host" / "kernel.py")
    common = (
        kernel, "--ref", str(KERNELS / "ref.py"), "--language", "triton", "--M=8", "--N=32",
        "-n", "1", "--trials", "8", "--baselines", "none",
    )  # fmt: skip
    recording = str(tmp_path / "recording")
    live = kbs_json(home, "optimize", *common, "--device", "host", "--record", recording,
                    "--output", str(tmp_path / "live"))  # fmt: skip
    again = kbs_json(home, "optimize", *common, "--device", f"recorded:{recording}",
                     "--output", str(tmp_path / "again"))  # fmt: skip
    times = [[row["median_ns"] for row in one["versions"]] for one in (live, again)]
    assert times[0] == times[1]
    assert live["verdicts"] == again["verdicts"]

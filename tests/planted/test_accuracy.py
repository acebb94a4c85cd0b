"""Accuracy of the diagnosis on kernels recorded on an H100, beside plain baselines."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT

BENCH = ROOT / "tests/planted"
HOLDOUT = BENCH / "holdout"


@pytest.fixture(scope="module")
def bench(kbs):
    recorded = BENCH / "recorded"
    return kbs(
        "eval", "diagnose", recorded / "cuda.ncu-repz", recorded / "triton.ncu-repz",
        BENCH / "truth_cuda.yaml", "--truth", BENCH / "truth_triton.yaml",
        "--launches", recorded / "launches.json", "--times", recorded / "times.json", "--json",
    ).json  # fmt: skip


@pytest.fixture(scope="module")
def holdout(kbs):
    recorded = HOLDOUT / "recorded"
    return kbs(
        "eval", "diagnose", recorded / "holdout.ncu-repz", HOLDOUT / "truth.yaml",
        "--launches", recorded / "launches.json", "--json",
    ).json  # fmt: skip


def test_the_bench_is_diagnosed(bench):
    ours = bench["ours"]
    assert ours["top1"] >= 0.95
    assert ours["axis"] == 1.0
    assert ours["false_alarms"] == 0


def test_kernels_that_the_rules_never_saw_are_diagnosed(holdout):
    ours = holdout["ours"]
    assert ours["top1"] >= 0.9
    assert ours["false_alarms"] == 0


@pytest.mark.parametrize("name", ["vendor", "vendor_any", "thresholds", "gap"])
def test_every_plain_baseline_is_behind(bench, holdout, name):
    for result in (bench, holdout):
        assert result[name]["top1"] + 0.3 < result["ours"]["top1"]
        assert result[name]["false_alarms"] >= result["ours"]["false_alarms"]


def test_every_cure_was_measured(bench):
    import json

    times = json.loads((BENCH / "recorded/times.json").read_text())["cases"]
    for case in bench["cases"]:
        if not case["healthy"]:
            assert times[case["kernel"]]["faulty"]["median_ns"] > 0


@pytest.mark.sweep
def test_no_message_of_a_symptom_reads_as_an_uncited_spec(kbs, tmp_path):
    messages = set()
    for report in ("recorded/cuda", "recorded/triton", "holdout/recorded/holdout"):
        found = kbs("diagnose", BENCH / f"{report}.ncu-repz", "--json").json
        messages |= {
            symptom["message"]
            for kernel in found["kernels"]
            for symptom in (*kernel["causes"], *kernel["effects"])
        }
    assert len(messages) > 300
    evidence = tmp_path / "kbs_evidence.md"
    evidence.write_text("## NCU Facts\n" + "".join(f"- {line}\n" for line in sorted(messages)))
    assert kbs("audit", evidence, "--strict").code == 0

"""Whole runs recorded on a GPU, replayed command by command without one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kbs_engine.gate import Inspectors, check_version
from kbs_engine.run import RunFolder
from tests.loop.record_gpu import CASES, go
from tests.loop.replaying import kbs
from tests.loop.store_gpu import card, names, unpacked
from tests.thinned import thinned


def replay(name: str, folder: Path) -> Path:
    """Every command of a kept run; the run folder."""
    recording = unpacked(name, folder / "recording")
    go(
        CASES[name], folder / "run", lambda *words: kbs(folder / "home", *words),
        "--device", f"recorded:{recording}",
    )  # fmt: skip
    return folder / "run"


@pytest.fixture(scope="module")
def all_wrong(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return replay("all_wrong", tmp_path_factory.mktemp("all_wrong"))


@pytest.mark.parametrize("name", names())
def test_a_kept_run_names_its_card(name, tmp_path):
    told = card(unpacked(name, tmp_path))
    assert told["case"] == name
    assert told["counters"] is True
    for key in ("gpu", "driver", "date", "steps"):
        assert told[key], key


def test_a_version_whose_branches_are_all_wrong_fails_and_the_next_one_wins(all_wrong):
    with RunFolder.open(all_wrong) as run:
        state = run.state()
        assert [(row.version, row.status) for row in state.versions] == [
            (0, "accepted"), (1, "failed"), (2, "accepted"),
        ]  # fmt: skip
        assert state.best_version == 2
        assert state.ended == "iterations_done"
        assert check_version(run, 2, True, Inspectors()) == ()
    tried = [json.loads(path.read_text()) for path in all_wrong.glob("v1/branches/*/bench.json")]
    assert tried
    assert {row["reason"] for row in tried} == {"wrong_result"}


def test_its_artifacts_come_from_counters(all_wrong):
    for name in (
        "final_report.md", "summary.md", "benchmark.md", "report.html", "v0/profile.ncu-rep",
        "v0/profile_second.ncu-rep", "v0/roofline.json", "v2/ncu_details.md", "v2/sass_check.json",
        "v2/attribution.json",
    ):  # fmt: skip
        assert (all_wrong / name).stat().st_size, name
    assert json.loads((all_wrong / "v0/ncu_top.json").read_text())["mode"] == "counters"
    budget = json.loads((all_wrong / "v0/request.json").read_text())["budget"]
    assert budget["axis_slots"]["memory"] >= 1  # a kernel that reads column by column
    assert budget["axis_slots"]["compute"] == 0
    bench = json.loads((all_wrong / "v2/bench.json").read_text())
    assert bench["sanitized"][0]["value"]["tools"]
    assert all(tool["errors"] == 0 for tool in bench["sanitized"][0]["value"]["tools"])


@pytest.fixture(scope="module")
def softmax_cuda(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return replay("softmax_cuda", tmp_path_factory.mktemp("softmax_cuda"))


def test_a_champion_of_softmax_is_as_fast_as_was_asked(softmax_cuda):
    with RunFolder.open(softmax_cuda) as run:
        state = run.state()
        assert state.best_version == 1
        assert state.best_ns <= 61_000
        assert state.versions[0].median_ns > 20 * state.best_ns
        assert state.ended == "no_method_left"
        assert check_version(run, 1, True, Inspectors()) == ()
    attribution = json.loads((softmax_cuda / "v1/attribution.json").read_text())
    assert [row["verdict"] for row in attribution["methods"]] == ["effective"]


def test_its_final_benchmark_holds_the_best_beside_v0_and_eager(softmax_cuda):
    told = (softmax_cuda / "benchmark.md").read_text()
    assert "pytorch-eager" in told
    assert (softmax_cuda / "final_report.md").stat().st_size


@pytest.mark.parametrize(
    ("name", "best", "gain"), thinned([("gemm_triton", 2, 1.5), ("layernorm_triton", 1, 1.8)], 2)
)
def test_a_triton_kernel_gets_faster_by_rewrites_alone(name, best, gain, tmp_path):
    root = replay(name, tmp_path)
    with RunFolder.open(root) as run:
        state = run.state()
        last = state.versions[-1].version
        assert [row.status for row in state.versions] == ["accepted"] * 3
        assert (state.best_version, state.ended) == (best, "iterations_done")
        assert state.versions[0].median_ns > gain * state.versions[best].median_ns
        assert check_version(run, last, True, Inspectors()) == ()
    assert (root / "benchmark.md").stat().st_size
    for version in range(1, last + 1):
        verdicts = json.loads((root / f"v{version}/attribution.json").read_text())["methods"]
        assert all(row["verdict"] for row in verdicts)

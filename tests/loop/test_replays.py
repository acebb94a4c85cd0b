"""Whole runs recorded on a host, replayed step by step: every artifact, every gate, every end."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from kbs.cli import cli
from kbs_backends.device.recording import read_recording
from kbs_engine.errors import InputError, MeasurementError, UsageError
from kbs_engine.gate import Inspectors, check_version
from kbs_engine.run import RunFolder
from kbs_engine.run.memories import Memory
from tests.loop.cases import CASES, KERNELS
from tests.loop.replaying import kbs, kbs_json, snapshot


def optimize(case_name: str, folder: Path, *more: str) -> tuple[dict, Path]:
    case, run = CASES[case_name], folder / "run"
    device = f"recorded:{case.recording}"
    return kbs_json(folder / "home", "optimize", *case.arguments(device, run), *more), run


@pytest.fixture(scope="module")
def faster(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, Path]:
    return optimize("faster", tmp_path_factory.mktemp("faster"))


def test_a_run_that_finds_a_faster_version(faster):
    answer, run = faster
    assert answer["improved"] is True
    assert answer["ended"] == "iterations_done"
    assert answer["best_version"] >= 1
    assert answer["device"] == "host"
    assert answer["mode"] == "counter-free"
    assert {row["verdict"] for row in answer["verdicts"]} <= {
        "effective", "ineffective", "harmful", "inseparable", "implementation_failed",
    }  # fmt: skip
    state = RunFolder.open(run).state()
    assert len(state.versions) == 3
    assert all(row.status == "accepted" and row.commit for row in state.versions)


def test_the_writer_is_told_what_check_compares_with(faster):
    _, run = faster
    contract = json.loads((run / "v0/request.json").read_text())["contract"]
    bench = json.loads((run / "v0/bench.json").read_text())
    (check,) = (row["value"] for row in bench["checks"])
    assert contract["atol"] == check["atol"] > 0
    assert contract["rtol"] == check["rtol"] > 0
    assert contract["tolerance_from"] == check["tolerance_from"]
    assert contract["tolerance_from"].startswith("derived from")
    assert contract["atol_times_rms"] is True
    assert contract["dtype"] == "fp32"
    readme = (run / "README.md").read_text()
    assert "| dtype | fp32 |" in readme
    assert f"atol {check['atol']:.3g} × rms of the output, rtol {check['rtol']:.3g}" in readme


def test_progress_tells_times_as_a_person_reads_them(tmp_path):
    case, run = CASES["no_better"], tmp_path / "run"
    arguments = case.arguments(f"recorded:{case.recording}", run)
    done = CliRunner().invoke(cli, ["--home", str(tmp_path / "home"), "optimize", *arguments])
    lines = [line for line in done.stderr.splitlines() if re.search(r" (measure|champion) ", line)]
    assert len(lines) >= 2
    for line in lines:
        assert re.search(r"(measure|champion) +[\d.]+ (µs|ms)", line), line


def test_every_artifact_of_the_run_folder_stands(faster):
    _, run = faster
    for name in (
        "README.md", "state.json", "events.jsonl", "current_iteration.txt", "env.json",
        "env_check.md", "ref.py", "test_kernel.py", "baseline_report.md", "benchmark.md",
        "final_report.md", "summary.md", "report.html", "memory/v0.json", "memory/v2.json",
        "v0/kernel.py", "v0/bench.json", "v0/plan.md", "v0/hypothesis.txt", "v0/request.json",
        "v1/methods.json", "v1/branches/b0/bench.json", "v1/branches/b0/static.json",
        "v1/sass_check.json", "v1/attribution.json", "v1/roofline.json", "v1/kbs_evidence.md",
        "v1/analysis.md", "v1/correctness.md", "v1/ncu_summary.md", "v2/kernel.py",
    ):  # fmt: skip
        assert (run / name).stat().st_size, name
    assert list((run / "v1" / "ablations").iterdir())
    assert not (run / "v2" / "hypothesis.txt").exists()
    assert not (run / "v3").exists()


def test_counter_free_runs_say_so_and_claim_nothing_else(faster):
    _, run = faster
    summary = (run / "v1" / "ncu_summary.md").read_text()
    assert "reads no hardware counters" in summary
    assert json.loads((run / "v1" / "ncu_top.json").read_text())["mode"] == "counter-free"
    plan = json.loads((run / "v0" / "request.json").read_text())["plan"]
    assert all(set(row["expected"]) == {"time"} for row in plan["methods"])


def test_the_final_gate_holds_and_numbers_follow_from_samples(faster):
    _, run = faster
    with RunFolder.open(run) as opened:
        assert check_version(opened, 2, True, Inspectors()) == ()
        bench = run / "v1" / "bench.json"
        data = json.loads(bench.read_text())
        data["blocks"][0]["value"]["arms"][0]["samples_ns"][0] *= 0.5
        keep = bench.read_text()
        bench.write_text(json.dumps(data))
        refused = {row.rule for row in check_version(opened, 2, True, Inspectors())}
        bench.write_text(keep)
    assert {"raw_samples", "unedited"} <= refused


def test_a_replay_is_the_same_every_time(faster, tmp_path):
    _, run = faster
    _, again = optimize("faster", tmp_path)
    one, two = snapshot(run), snapshot(again)
    same = {name for name in one if one[name] == two.get(name)}
    # the id of the run, its hour and its commits are its own
    differ = {name for name in one.keys() | two.keys() if name not in same}
    assert not {name for name in differ if name.endswith(("bench.json", "kernel.py"))}
    assert "v1/attribution.json" in same


def test_an_honest_no_better_is_a_good_end(tmp_path):
    answer, run = optimize("no_better", tmp_path)
    assert answer["improved"] is False
    assert answer["best_version"] == 0
    assert answer["ended"] in ("no_method_left", "iterations_done")
    assert "no better" in kbs(tmp_path / "home", "loop", "status", str(run)) or answer["because"]


def test_a_version_whose_branches_are_all_wrong_is_recorded_and_the_run_goes_on(tmp_path):
    answer, run = optimize("all_wrong", tmp_path)
    failed = [row for row in answer["versions"] if row["status"] == "failed"]
    assert failed
    number = failed[0]["version"]
    folder = run / f"v{number}"
    assert not (folder / "kernel.py").exists()
    assert all(
        json.loads(path.read_text())["correct"] is False
        for path in folder.glob("branches/*/bench.json")
    )
    verdicts = [row for row in answer["verdicts"] if row["version"] == number]
    assert {row["verdict"] for row in verdicts} == {"implementation_failed"}
    assert Memory(run / "memory").load(number).correctness.status == "FAIL"
    assert answer["best_version"] != number
    for row in answer["versions"]:
        assert len(row["methods"]) <= 1  # one-change mode


def test_one_iteration_written_by_somebody(tmp_path):
    case, run, home = CASES["agent"], tmp_path / "run", tmp_path / "home"
    device = f"recorded:{case.recording}"
    kbs(home, "loop", "init", *case.arguments(device, run))
    waits = kbs_json(home, "loop", "next", str(run))
    assert "waits for a kernel (try 1)" in waits["waiting"]
    request = json.loads((run / "v0" / "request.json").read_text())
    assert request["next_version"] == 1
    assert request["plan"]["methods"]
    method = ("--method", "single_pass_algorithm")
    wrong = str(KERNELS / "agent_host" / "wrong.py")
    kbs(home, "loop", "submit", str(run), wrong, *method)
    waits = kbs_json(home, "loop", "close", str(run))
    assert "try 2" in waits["waiting"]
    request = json.loads((run / "v0" / "request.json").read_text())
    assert request["feedback"][0]["reason"]
    good = str(KERNELS / "agent_host" / "submitted.py")
    kbs(home, "loop", "submit", str(run), good, *method)
    closed = kbs_json(home, "loop", "close", str(run))
    assert closed["best_version"] == 1
    done = kbs_json(home, "loop", "resume", str(run))
    assert done["ended"] == "iterations_done"
    assert done["improved"] is True
    assert (run / "final_report.md").exists()


def test_submissions_that_make_no_sense_are_refused(tmp_path):
    case, run, home = CASES["agent"], tmp_path / "run", tmp_path / "home"
    kbs(home, "loop", "init", *case.arguments(f"recorded:{case.recording}", run))
    good = str(KERNELS / "agent_host" / "submitted.py")
    with pytest.raises(UsageError, match="waits for no kernel"):
        kbs(home, "loop", "submit", str(run), good)
    kbs(home, "loop", "next", str(run))
    with pytest.raises(UsageError, match="the plan does not hold wgmma"):
        kbs(home, "loop", "submit", str(run), good, "--method", "wgmma")


def test_stages_alone_stop_where_they_end(tmp_path):
    case, run, home = CASES["faster"], tmp_path / "run", tmp_path / "home"
    kbs(home, "loop", "init", *case.arguments(f"recorded:{case.recording}", run))
    assert not (run / "v1").exists()
    line = kbs_json(home, "loop", "roofline", str(run))
    assert line["version"] == 0
    plan = kbs_json(home, "loop", "plan", str(run))
    assert plan["plan"]["methods"]
    branches = kbs_json(home, "loop", "branch", str(run))
    assert set(branches["branches"]) >= {"b0", "b1"}
    assert not (run / "v1" / "attribution.json").exists()
    sass = kbs_json(home, "loop", "verify", str(run))
    assert {row["outcome"] for row in sass["methods"]} == {"not_observable"}
    # nothing is asked between the two: the timing that proved the champion ablated it
    assert (run / "v1" / "attribution.json").exists()
    assert not (run / "memory" / "v1.json").exists()
    shares = kbs_json(home, "loop", "ablate", str(run))
    assert {row["method"] for row in shares["methods"]} == {
        row["method"] for row in sass["methods"]
    }
    assert kbs(home, "loop", "summarize", str(run))
    state = json.loads(kbs(home, "loop", "state", str(run)))
    assert state["run_id"] == "run"


def test_finalize_now_and_extend_later(tmp_path):
    case, run, home = CASES["faster"], tmp_path / "run", tmp_path / "home"
    arguments = case.arguments(f"recorded:{case.recording}", run)
    arguments[arguments.index("-n") + 1] = "1"
    first = kbs_json(home, "optimize", *arguments)
    assert first["ended"] == "iterations_done"
    assert len(first["versions"]) == 2
    assert (run / "final_report.md").exists()
    kbs(home, "loop", "extend", str(run), "-n", "1")
    with pytest.raises(MeasurementError, match="final benchmark: no recording"):
        kbs_json(home, "loop", "resume", str(run))  # a second benchmark was never recorded
    state = RunFolder.open(run).state()
    assert len(state.versions) == 3
    assert state.settings.iterations == 2


def test_restart_masks_half_of_the_middle_and_never_the_best(faster, tmp_path):
    import shutil

    _, run = faster
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    kbs(tmp_path / "home", "loop", "restart", str(copy), "--mask", "half")
    memory = Memory(copy / "memory")
    masked = [number for number in memory.versions() if memory.load(number).masked]
    best = RunFolder.open(copy).state().best_version
    assert 0 not in masked
    assert best not in masked
    assert len(masked) == 1


@pytest.mark.parametrize("which", ["v0", "best"])
def test_v0_and_the_best_are_never_masked_by_hand(faster, tmp_path, which):
    import shutil

    _, run = faster
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    number = 0 if which == "v0" else RunFolder.open(copy).state().best_version
    with pytest.raises(UsageError, match="its record is never masked"):
        kbs(tmp_path / "home", "memory", "mask", str(copy), str(number))
    assert not Memory(copy / "memory").load(number).masked


def test_set_refuses_what_is_no_setting(faster):
    _, run = faster
    with pytest.raises(UsageError, match="colour is no setting"):
        kbs(run.parent / "home", "loop", "set", str(run), "--set", "colour=3")
    with pytest.raises(UsageError, match="settings make no sense"):
        kbs(run.parent / "home", "loop", "set", str(run), "--set", "slots=0")


def test_a_replay_adds_nothing_to_the_experience_log(faster):
    _, run = faster
    assert not list((run.parent / "home").rglob("*.jsonl"))


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_kept_recording_that_was_edited_is_refused(name, tmp_path):
    text = (CASES[name].recording / "jobs.jsonl").read_text()
    assert len(read_recording(CASES[name].recording)) == text.count("\n")
    (tmp_path / "jobs.jsonl").write_text(text.replace('"passed":true', '"passed":false', 1))
    with pytest.raises(InputError, match="was changed after it was recorded"):
        read_recording(tmp_path)

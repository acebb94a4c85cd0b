"""Recording the case studies: figures come from run folders, and one case never loses another."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import msgspec
import pytest

from kbs_engine.blobs import BlobStore
from kbs_engine.jobs import Job, Provenance, Result, SourceRef, Task, TimingSettings
from kbs_engine.results import ArmTimes, Checked, Round, Timed
from tests.cases import record_gpu
from tests.cases.case_list import case_studies
from tests.cases.collect import collect
from tests.cases.compare import Race, search, source_of
from tests.cases.one_case import Ways, copy_index
from tests.cases.records import CaseRecord, add_case, read_recording
from tests.loop.cases import CASES
from tests.loop.replaying import kbs_json

STUDIES = {case.id: case for case in case_studies()}
CASE = STUDIES["softmax_triton"]


@pytest.fixture(scope="module")
def replayed(tmp_path_factory) -> Path:
    """The run folder of a replay on the host."""
    folder = tmp_path_factory.mktemp("replayed")
    case = CASES["faster"]
    words = case.arguments(f"recorded:{case.recording}", folder / "run")
    kbs_json(folder / "home", "optimize", *words)
    return folder / "run"


def test_a_record_is_read_from_the_run_folder(replayed):
    row, champion = collect(CASE, replayed, {}, date="2026-01-05", command="kbs optimize")
    state = json.loads((replayed / "state.json").read_text())
    final = json.loads((replayed / "benchmark.json").read_text())
    assert row.device == "host"
    assert row.best_version == state["best_version"] > 0
    assert 0 < row.found_gpu_seconds < row.gpu_seconds
    assert champion == replayed / f"v{row.best_version}" / "kernel.py"
    over = next(one for one in final["comparisons"] if one["b"] == state["baseline_sha256"])
    assert (row.over_v0.ratio, row.over_v0.low, row.over_v0.high) == (
        over["ratio"], over["low"], over["high"],
    )  # fmt: skip
    assert row.best_ns == final["arms"][0]["median_ns"]
    assert row.iterations == 2
    assert row.origin
    assert {gain.method for gain in row.gains} == {one["method"] for one in state["verdicts"]}
    assert all(gain.predicted_low is not None for gain in row.gains)
    assert row.variants >= len(list((replayed / "v1" / "branches").iterdir()))


def test_a_run_without_its_final_benchmark_counts_as_far_as_it_got(replayed, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(replayed, run)
    (run / "benchmark.json").unlink()
    whole, _ = collect(CASE, replayed, {}, date="2026-01-05")
    row, _ = collect(CASE, run, {}, date="2026-01-05", incomplete="kbs optimize ended with 1")
    state = json.loads((run / "state.json").read_text())
    entry = state["versions"][row.best_version]
    assert (row.over_v0.ratio, row.over_v0.low) == (entry["speedup_v0"], entry["speedup_v0_low"])
    assert row.over_eager is None
    assert (row.best_ns, row.incomplete) == (state["best_ns"], "kbs optimize ended with 1")
    assert row.gains == whole.gains


def test_a_bench_of_the_champion_gives_the_library_factors(replayed, tmp_path):
    bench = tmp_path / "benchmark.json"
    fast = {"speedup": 1.5, "ci95": [1.4, 1.6], "verdict": "faster"}
    none = {"speedup": None, "ci95": None, "reason": "not_available", "detail": "not installed"}
    bench.write_text(json.dumps({"baselines": {"torch-compile": fast, "flashinfer": none}}))
    row, _ = collect(CASE, replayed, {"best": bench}, date="2026-01-05")
    assert row.over_compile.ratio == 1.5
    assert row.over_flashinfer is None
    assert row.not_compared == {"flashinfer": "not_available: not installed"}


def test_a_case_that_breaks_loses_no_other(tmp_path, capsys, monkeypatch):
    (tmp_path / "home" / "index").mkdir(parents=True)
    (tmp_path / "home" / "index" / "CURRENT").write_text("gen-000001")
    monkeypatch.setenv("KBS_HOME", str(tmp_path / "home"))
    out = tmp_path / "cases.json"
    kept = CaseRecord(id="gemm_triton", date="2026-01-05", device="cuda", v0_ns=1.0)
    add_case(out, kept, dry=False)
    words = [str(out), "--only", CASE.id, "--device", "recorded:/nowhere", "--limit-s", "100"]
    assert record_gpu.main(words) == 1
    found = read_recording(out).cases
    assert found["gemm_triton"] == kept
    assert "kbs optimize ended with 2" in found[CASE.id].error
    assert "/nowhere" in (tmp_path / CASE.id / "log.txt").read_text()
    assert "no result" in capsys.readouterr().out


def test_a_home_without_an_index_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("KBS_HOME", str(tmp_path))
    with pytest.raises(RuntimeError, match="run `kbs ingest` first"):
        copy_index(tmp_path / "home")


def test_without_knowledge_there_are_no_templates_either():
    words = Ways(knowledge=False).optimize(CASE)
    assert words[words.index("--knowledge") + 1] == words[words.index("--templates") + 1] == "off"


def test_missing_takes_only_cases_without_a_record(tmp_path, monkeypatch):
    out = tmp_path / "cases.json"
    for study in case_studies()[1:]:
        error = "it broke" if study.id == CASE.id else ""
        add_case(out, CaseRecord(id=study.id, date="", device="cuda", error=error), dry=False)
    ran = []
    monkeypatch.setattr(record_gpu, "_apart", lambda case, chosen: ran.append(case.id) or "")
    record_gpu.main([str(out), "--missing"])
    assert ran == [case_studies()[0].id, CASE.id]


def test_what_a_broken_bench_leaves_is_the_run(tmp_path):
    out = tmp_path / "cases.json"
    chosen = record_gpu.arguments([str(out), "--only", CASE.id])
    row = CaseRecord(id=CASE.id, date="2026-01-05", device="cuda", v0_ns=1.0)
    add_case(out, row, dry=False)
    fresh = record_gpu.broken(CASE, chosen, None, "exit 1: no space")
    assert (fresh.v0_ns, fresh.error, fresh.incomplete) == (1.0, "", "exit 1: no space")
    stale = record_gpu.broken(CASE, chosen, row, "exit 1: no space")
    assert (stale.v0_ns, stale.error) == (None, "exit 1: no space")


def test_words_that_make_no_sense_are_refused(tmp_path, capsys):
    for words in (["--only", "nothing"], ["--compare", "magic"]):
        with pytest.raises(SystemExit):
            record_gpu.main([str(tmp_path / "cases.json"), *words])
    told = capsys.readouterr().err
    assert "softmax_cuda" in told
    assert "magic" in told


def test_the_command_is_the_one_that_the_page_shows():
    from tools.case_table import command

    words = Ways().optimize(CASE)
    named = [word for word in words if word not in ("--device", "auto")]
    assert all(word.rpartition("tests/cases/")[2] in command(CASE) for word in named)


class Valley:
    """A stand-in device: a time per BLOCK and warps written in the source; nothing is measured."""

    def __init__(self, blobs: BlobStore) -> None:
        self.blobs = blobs
        self.timed: list[int] = []

    def submit(self, job: Job):
        from concurrent.futures import Future

        future: Future[Result] = Future()
        value = self._value(job)
        future.set_result(
            Result(job_key=job.key, kind=str(job.__struct_config__.tag),
                   value=msgspec.to_builtins(value), provenance=Provenance(device="host"))
        )  # fmt: skip
        return future

    def _value(self, job):
        if hasattr(job, "rounds"):
            wrong = "BLOCK = 32" in self.blobs.text(job.source.sha256)
            one = Round(distribution="normal", compared_elements=1, ok=not wrong)
            return Checked(
                passed=not wrong, reason="wrong_result" if wrong else None, rounds=(one,)
            )
        self.timed.append(len(job.arms))
        arms = []
        for arm in job.arms:
            text = self.blobs.text(arm.sha256)
            block = int(text.partition("BLOCK = ")[2].split()[0])
            count = 8 * job.fresh_processes
            base = abs(block - 256) + 100
            arms.append(
                ArmTimes(
                    name=arm.name,
                    sha256=arm.sha256,
                    samples_ns=tuple(float(base + i % 3) for i in range(count)),
                    process=tuple(i % job.fresh_processes for i in range(count)),
                    position=tuple(range(count)),
                )
            )
        return Timed(arms=tuple(arms), timer="host", gpu_time_s=1.0)


TUNED = """\
BLOCK = 64  # kbs:tunable 32, 64, 128, 256, 512
ODD = 1  # kbs:tunable 1, 2, 3


def run_kernel(x, out, **_):
    out.copy_(x)
"""


def race_of(tmp_path: Path, text: str, seconds: float) -> Race:
    blobs = BlobStore(tmp_path / "blobs")
    path = tmp_path / "kernel.py"
    path.write_text(text)
    source = SourceRef(sha256=blobs.put(text), language="triton", name="kernel.py")
    return Race(
        device=Valley(blobs), blobs=blobs, champion=source_of(path, "triton", blobs),
        task=Task(reference_sha256="1" * 64, dims={}, setup=source), seconds=seconds,
        timing=TimingSettings(trials=9), cuda=False,
    )  # fmt: skip


@pytest.mark.parametrize("how", ["random", "autotune"])
def test_other_searches_keep_their_budget_and_tell_what_they_tried(tmp_path, how):
    race = race_of(tmp_path, TUNED, 2.0)
    row = search(race, how)
    assert row.gpu_seconds == 2.0
    assert row.space == 15
    blocks = race.device.timed[:2]
    assert sum(blocks) == row.tried - row.wrong
    if how == "autotune":
        assert blocks == [1, 1]
    spent, best = zip(*row.trace, strict=True)
    assert spent == (1.0, 2.0)
    assert best[0] >= best[1] == row.best_ns


def test_a_search_with_enough_time_uses_up_the_space_and_meets_the_champion(tmp_path):
    row = search(race_of(tmp_path, TUNED, 100.0), "random")
    assert (row.tried, row.wrong) == (15, 3)
    assert row.tunables["BLOCK"] == 256
    assert row.champion.ratio < 1
    assert row.champion.verdict == "slower"


def test_a_search_ends_with_its_wall_time_and_keeps_what_it_found(tmp_path, monkeypatch):
    race = race_of(tmp_path, TUNED, 100.0)
    race.ends = 5.0
    clock = iter([1.0, 4.0, 6.0])
    monkeypatch.setattr("tests.cases.compare.time.monotonic", lambda: next(clock))
    row = search(race, "random")
    assert 0 < row.tried < row.space
    assert row.best_ns is not None
    assert row.champion is not None


def test_no_tunables_no_search(tmp_path):
    assert search(race_of(tmp_path, "def run_kernel(**_):\n    pass\n", 9.0), "random").skipped


def test_a_search_may_begin_with_the_kernel_that_the_run_began_with(tmp_path):
    race = race_of(tmp_path, TUNED.replace("256, 512", "512"), 100.0)
    path = tmp_path / "v0.py"
    path.write_text(TUNED)
    race.v0 = source_of(path, "triton", race.blobs)
    mine, other = search(race, "autotune"), search(race, "autotune-v0")
    assert [(row.how, row.start, row.space) for row in (mine, other)] == [
        ("autotune", "champion", 12), ("autotune", "v0", 15),
    ]  # fmt: skip
    assert "BLOCK" in other.tunables


def test_a_race_without_v0_cannot_begin_there(tmp_path):
    with pytest.raises(ValueError, match="no v0"):
        search(race_of(tmp_path, TUNED, 1.0), "random-v0")


@pytest.mark.sweep
def test_the_script_runs_from_end_to_end_on_the_host(tmp_path, monkeypatch, home):
    monkeypatch.setenv("KBS_HOME", str(home))
    out = tmp_path / "cases.json"
    words = [str(out), "--only", CASE.id, "--dry", "--compare", "random,random-v0,autotune"]
    assert record_gpu.main(words) == 0, (tmp_path / CASE.id / "log.txt").read_text()
    recording = read_recording(out)
    row = recording.cases[CASE.id]
    assert recording.dry
    assert (row.device, row.iterations, row.error, row.incomplete) == ("host", 1, "", "")
    assert row.gains[0].method == "algorithmic_replacement"
    compared = recording.with_others[CASE.id].compared
    assert [one.how for one in compared] == ["random", "random", "autotune"]
    assert all(one.tried for one in compared)
    assert (tmp_path / f"{CASE.id}.txz").stat().st_size > 0

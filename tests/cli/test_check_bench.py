"""kbs check and kbs bench from the outside, on the host device."""

from __future__ import annotations

import json
import re

import pytest

from tests.backends.device.conftest import HEAD, HONEST, REFERENCE

WRONG = "def run_kernel(x, y, **_):\n    y.fill_(1 / x.numel())\n"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "ref.py").write_text(REFERENCE)
    (folder / "good.py").write_text(HEAD + HONEST)
    (folder / "wrong.py").write_text(HEAD + WRONG)
    (folder / "bare.py").write_text(REFERENCE.replace("def setup", "def other"))
    return folder


@pytest.fixture(scope="module")
def recorded(kbs, files, tmp_path_factory):
    """One live bench and one live check of a wrong kernel; the rest is replayed from them."""
    folder = tmp_path_factory.mktemp("recording")
    live = (*files_of(files), "--device", "host", "--record", folder / "rec", "--json")
    bench = kbs("bench", files / "good.py", *live, *SHORT, "--output-dir", folder / "out",
                at=folder / "home")  # fmt: skip
    wrong = kbs("check", files / "wrong.py", *live, at=folder / "home")
    return folder, bench, wrong


def files_of(files):
    return ("--ref", files / "ref.py", "--language", "triton", "--N=200")


SHORT = (
    "--num-trials", "6", "--process-pairs", "1", "--warmup-ms", "0", "--num-warmup", "1",
    "--baselines", "pytorch-eager,flashinfer",
)  # fmt: skip


@pytest.fixture
def replay(kbs, files, recorded, tmp_path):
    device = ("--device", f"recorded:{recorded[0] / 'rec'}")

    def call(verb, kernel, *options):
        return kbs(verb, files / kernel, *files_of(files), *device, *options, at=tmp_path)

    return call


def test_a_right_kernel_is_told_with_its_tolerance(replay):
    ran = replay("check", "good.py")
    assert ran.code == 0, ran.err
    assert "PASS  10 rounds" in ran.out
    assert "derived from fp32" in ran.out


def test_a_wrong_kernel_is_exit_1_with_reason_and_remedy(recorded, replay):
    ran = recorded[2]
    assert ran.code == 1
    assert ran.json["correct"] is False
    assert ran.json["reason"] == "wrong_result"
    assert "largest error" in ran.json["detail"]
    assert ran.json["detail"].count("largest error") == 1
    assert ran.json["provenance"]["device"] == "host"
    assert "FAIL  wrong_result: values differ" in replay("check", "wrong.py").out


def test_bench_writes_its_files_and_the_documented_shape(recorded):
    folder, ran, _ = recorded
    assert ran.code == 0, ran.err
    found = ran.json
    assert found["correct"] is True
    assert found["solution"]["count"] == 5
    assert set(found["solution"]) == {
        "median_ns", "mean_ns", "p20_ns", "p80_ns", "min_ns", "max_ns", "std_ns", "count", "timer",
    }  # fmt: skip
    eager = found["baselines"]["pytorch-eager"]
    assert eager["ci95"][0] <= eager["speedup"] <= eager["ci95"][1]
    library = found["baselines"]["flashinfer"]
    assert library["median_ns"] is None
    assert "takes no baseline" in library["detail"]
    assert found["settings"]["method"] == "host_time"
    assert found["best_baseline"] == "pytorch-eager"
    assert any("nothing here says anything about a GPU" in note for note in found["notes"])
    assert json.loads((folder / "out/benchmark.json").read_text()) == found
    page = (folder / "out/benchmark.md").read_text()
    assert "Correctness: PASS" in page
    assert "| pytorch-eager |" in page
    assert "good.py (triton)" in page


def test_a_recorded_bench_is_the_same_bench(recorded, replay):
    live = recorded[1].json
    again = replay("bench", "good.py", *SHORT, "--json").json
    assert {**again, "notes": live["notes"]} == live


def test_a_replay_says_that_it_is_one_and_of_what(replay):
    ran = replay("bench", "good.py", *SHORT)
    assert "replayed from" in ran.out
    assert "nothing here says anything about a GPU" in ran.out
    again = replay("check", "good.py", "--json").json
    assert any("nothing was measured now" in note for note in again["warnings"])


def test_a_recording_that_is_cut_off_is_told_so(kbs, files, recorded, tmp_path):
    cut = tmp_path / "cut"
    cut.mkdir()
    whole = (recorded[0] / "rec/jobs.jsonl").read_bytes()
    (cut / "jobs.jsonl").write_bytes(whole[: whole.index(b"\n") // 2])
    ran = kbs("check", files / "good.py", *files_of(files), "--device", f"recorded:{cut}",
              "--json", at=tmp_path)  # fmt: skip
    assert ran.code == 2
    assert "last line is cut off" in ran.error["message"]


@pytest.mark.parametrize("value", ['"fast"', "{}", "null", "[1]"])
def test_a_damaged_answer_in_a_recording_is_an_error(kbs, files, recorded, tmp_path, value):
    """Of an earlier version, whose lines have no chain that would tell first."""
    lines = re.sub(r',"chain":"\w+"', "", (recorded[0] / "rec/jobs.jsonl").read_text())
    (tmp_path / "jobs.jsonl").write_text(lines.replace('"passed":true', f'"passed":{value}'))
    ran = kbs("check", files / "good.py", *files_of(files), "--device", f"recorded:{tmp_path}",
              "--json", at=tmp_path / "home")  # fmt: skip
    assert ran.code == 2
    assert "the answer is no Checked" in ran.error["message"]


def test_an_edited_recording_is_an_error_and_one_without_a_chain_is_told(
    kbs, files, recorded, tmp_path
):
    lines = (recorded[0] / "rec/jobs.jsonl").read_text()
    check = ("check", files / "good.py", *files_of(files), "--device", f"recorded:{tmp_path}",
             "--json")  # fmt: skip
    (tmp_path / "jobs.jsonl").write_text(lines.replace('"passed":true', '"passed":false'))
    ran = kbs(*check, at=tmp_path / "home")
    assert ran.code == 2
    assert "changed after it was recorded" in ran.error["message"]
    (tmp_path / "jobs.jsonl").write_text(re.sub(r',"chain":"\w+"', "", lines))
    ran = kbs(*check, at=tmp_path / "home")
    assert any("without a chain" in note for note in ran.json["warnings"])


def test_a_fault_of_the_reference_names_the_users_file(kbs, tmp_path):
    (tmp_path / "soft.py").write_text(REFERENCE.replace("def reference", "def computed"))
    (tmp_path / "good.py").write_text(HEAD + HONEST)
    ran = kbs("check", tmp_path / "good.py", "--ref", tmp_path / "soft.py", "--language", "triton",
              "--N=200", "--device", "host", "--json", at=tmp_path / "home")  # fmt: skip
    assert ran.code == 2
    assert ran.error["message"] == "defines no reference"
    assert ran.error["where"] == str(tmp_path / "soft.py")
    assert "def reference" in ran.error["remedy"]


def test_what_a_kernel_raises_is_told_at_its_own_line(kbs, files, tmp_path):
    (tmp_path / "boom.py").write_text("import triton\n\ndef run_kernel(x, y):\n    1 / 0\n")
    ran = kbs("check", tmp_path / "boom.py", *files_of(files), "--device", "host",
              at=tmp_path / "home")  # fmt: skip
    assert ran.code == 1
    assert "raised: the candidate raised an exception (boom.py:4: run_kernel fails" in ran.out
    assert 'File "boom.py", line 4' in ran.out
    assert "kbs_backends" not in ran.out
    assert "kbs_engine" not in ran.out
    assert "kbs-device-" not in ran.out


def test_a_wrong_kernel_is_not_timed(replay, tmp_path):
    ran = replay("bench", "wrong.py", "--output-dir", tmp_path / "out")
    assert ran.code == 1
    assert "FAIL  wrong_result" in ran.out
    assert "## Times" not in (tmp_path / "out/benchmark.md").read_text()


def test_what_was_not_recorded_is_an_error_that_names_the_job(replay):
    missing = replay("check", "good.py", "--rounds", "3", "--json")
    assert missing.code == 2
    assert "no recording of this check job (good.py" in missing.error["message"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--device", "auto"), "--device host"),
        (("--device", "gpu"), "is no device"),
        (("--num-trails", "5"), "--num-trails"),
        (("--dims", "N"), "is no dim"),
        (("--baselines", "cublas"), "is no baseline"),
        (("--num-trials", "1"), "at least 4"),
        (("--timing-method", "do_bench"), "host_time"),
    ],
)
def test_calls_that_cannot_work_say_what_can(kbs, files, tmp_path, options, told):
    given = options if "--device" in options else ("--device", "host", *options)
    ran = kbs("bench", files / "good.py", "--ref", files / "ref.py", "--language", "triton",
              *given, at=tmp_path, env={"CUDA_VISIBLE_DEVICES": ""})  # fmt: skip
    if "auto" in options and ran.code == 0:
        pytest.skip("a GPU is here")
    assert ran.code == 2
    assert told in ran.err


@pytest.mark.sweep
def test_a_reference_without_setup_takes_the_kernels_own_with_a_warning(kbs, files, tmp_path):
    ran = kbs("check", files / "good.py", "--ref", files / "bare.py", "--language", "triton",
              "--device", "host", "--N=64", "--rounds", "2", at=tmp_path)  # fmt: skip
    assert ran.code == 0, ran.err
    assert "give --setup BASELINE" in ran.out


@pytest.mark.sweep
def test_a_kernel_without_setup_or_entry_is_refused_by_name(kbs, files, tmp_path):
    (files / "empty.py").write_text("import torch\n")
    ran = kbs("check", files / "empty.py", "--ref", files / "ref.py", "--language", "triton",
              "--device", "host", "--N=8", "--json", at=tmp_path)  # fmt: skip
    assert ran.code == 1
    assert ran.json["reason"] == "load_failed"


def test_cuda_sources_say_that_they_need_a_gpu(kbs, files, tmp_path):
    (files / "k.cu").write_text('extern "C" void solve(float *x, float *y, int n) {}\n')
    ran = kbs("check", files / "k.cu", "--ref", files / "ref.py", "--device", "host", "--json",
              at=tmp_path)  # fmt: skip
    assert ran.code == 2
    assert "run on a GPU only" in ran.error["message"]
    assert "kbs asm" in ran.error["remedy"]

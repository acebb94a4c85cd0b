"""kbs check and kbs bench from the outside, on the host device."""

from __future__ import annotations

import json

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


@pytest.fixture
def run(kbs, files, tmp_path):
    def call(verb, kernel, *options, ref="ref.py", device="host"):
        return kbs(
            verb, files / kernel, "--ref", files / ref, "--language", "triton",
            "--device", device, *options, at=tmp_path / "home",
        )  # fmt: skip

    return call


def test_a_right_kernel_is_told_with_its_tolerance(run):
    ran = run("check", "good.py", "--N=200", "--rounds", "3")
    assert ran.code == 0, ran.err
    assert "PASS  3 rounds" in ran.out
    assert "derived from fp32" in ran.out
    assert "says anything about a GPU" in ran.out


def test_a_wrong_kernel_is_exit_1_with_reason_and_remedy(run):
    ran = run("check", "wrong.py", "--dims", "N=200", "--json")
    assert ran.code == 1
    assert ran.json["correct"] is False
    assert ran.json["reason"] == "wrong_result"
    assert "largest error" in ran.json["detail"]
    assert ran.json["provenance"]["device"] == "host"
    text = run("check", "wrong.py", "--dims", "N=200").out
    assert "FAIL  wrong_result: values differ" in text


def test_bench_writes_its_files_and_the_documented_shape(run, tmp_path):
    ran = run("bench", "good.py", "--N=200", "--num-trials", "6", "--process-pairs", "1",
              "--warmup-ms", "0", "--num-warmup", "1", "--baselines", "pytorch-eager,flashinfer",
              "--output-dir", tmp_path / "out", "--json")  # fmt: skip
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
    assert found["best_baseline"] == "pytorch-eager"
    assert json.loads((tmp_path / "out/benchmark.json").read_text()) == found
    page = (tmp_path / "out/benchmark.md").read_text()
    assert "Correctness: PASS" in page
    assert "| pytorch-eager |" in page
    assert "good.py (triton)" in page


def test_a_wrong_kernel_is_not_timed(run, tmp_path):
    ran = run("bench", "wrong.py", "--N=200", "--output-dir", tmp_path / "out")
    assert ran.code == 1
    assert "FAIL  wrong_result" in ran.out
    assert "## Times" not in (tmp_path / "out/benchmark.md").read_text()


def test_what_was_recorded_is_replayed_without_the_device(run, tmp_path):
    options = ("--N=100", "--rounds", "2", "--json")
    first = run("check", "good.py", *options, "--record", tmp_path / "rec")
    again = run("check", "good.py", *options, device=f"recorded:{tmp_path / 'rec'}")
    assert first.json == again.json
    missing = run("check", "good.py", "--N=101", "--json", device=f"recorded:{tmp_path / 'rec'}")
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
        (("--num-trials", "1"), "leave no sample"),
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


def test_a_reference_without_setup_takes_the_kernels_own_with_a_warning(run):
    ran = run("check", "good.py", "--N=64", "--rounds", "2", ref="bare.py")
    assert ran.code == 0, ran.err
    assert "give --setup BASELINE" in ran.out


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
    assert "kbs asm" in ran.error["message"]

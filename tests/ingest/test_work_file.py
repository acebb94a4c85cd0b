"""Work sidecars."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbs_engine.errors import WorkError
from kbs_ingest.work_file import find_work_file, read_work

REPORTS = Path(__file__).resolve().parents[1] / "data/reports"


@pytest.fixture
def write(tmp_path):
    def put(text):
        path = tmp_path / "a.work.yaml"
        path.write_text(text)
        return path

    return put


def test_shipped_sidecar():
    work = read_work(REPORTS / "h100_triton_torch.work.yaml")
    assert work.chip == "NVIDIA H100 80GB HBM3"
    softmax = work.for_launch(0, "t01_softmax_row")
    assert softmax.flops is None
    assert softmax.bytes_min == 2 * 67108864
    assert work.for_launch(3, "t04_matmul_tuned").flops == 137438953472
    assert work.for_launch(2, "x").permitted == ("fp32", "bf16")
    assert work.for_launch(9, "t04_matmul_tuned") is None


def test_names_and_the_longest_prefix(write):
    work = read_work(write("kernels:\n  gemm: {flops: 1}\n  gemm_big: {flops: 2}\n"))
    assert work.for_launch(0, "gemm_big_kernel").flops == 2
    assert work.for_launch(0, "gemm_small").flops == 1
    assert work.for_launch(0, "softmax") is None


def test_a_launch_counts_before_a_name(write):
    work = read_work(write("launches: {4: {flops: 7}}\nkernels: {gemm: {flops: 1}}\n"))
    assert work.for_launch(4, "gemm").flops == 7


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("- 1\n", 1, "mapping"), ("", 1, "mapping"), ("flops: 3\n", 1, "not known"),
        ("chip: 3\n", 1, "chip"), ("launches: [1]\n", 1, "mapping"),
        ("launches:\n  x: {flops: 1}\n", 2, "not a launch id"),
        ("launches:\n  -1: {flops: 1}\n", 2, "not a launch id"),
        ("launches:\n  0: {flops: -1}\n", 2, "negative"),
        ("launches:\n  0: {flop: 1}\n", 2, "flop"),
        ("launches:\n  0: {dtype: float}\n", 2, "float"),
        ("launches:\n  0:\n    kernel: gemm\n    flops: .nan\n", 4, "not a number"),
        ("launches:\n  0:\n", 2, "no fields"),
        ("launches:\n  0: {flops: 1}\n  0: {flops: 2}\n", 3, "twice"),
    ],
)  # fmt: skip
def test_faults_are_told_with_line_and_fix(write, text, line, message):
    with pytest.raises(WorkError) as caught:
        read_work(write(text))
    assert message in caught.value.message
    assert caught.value.where.endswith(f"a.work.yaml:{line}")
    assert caught.value.remedy


def test_missing_sidecar(tmp_path):
    with pytest.raises(WorkError, match="no such file"):
        read_work(tmp_path / "none.work.yaml")


def test_not_utf8(tmp_path):
    path = tmp_path / "a.work.yaml"
    path.write_bytes(b"chip: \xff\n")
    with pytest.raises(WorkError, match="UTF-8"):
        read_work(path)


@pytest.mark.parametrize("form", ["ncu-rep", "raw.csv", "details.csv", "details.txt"])
def test_found_beside_each_form(form):
    found = find_work_file(REPORTS / f"h100_triton_torch.{form}")
    assert found == REPORTS / "h100_triton_torch.work.yaml"


def test_the_closest_name_wins(tmp_path):
    for name in ("a.work.yaml", "a.b.work.yaml"):
        (tmp_path / name).write_text("")
    assert find_work_file(tmp_path / "a.b.ncu-rep").name == "a.b.work.yaml"
    assert find_work_file(tmp_path / "a.c.ncu-rep").name == "a.work.yaml"
    assert find_work_file(tmp_path / "z.ncu-rep") is None
    assert find_work_file(tmp_path / "noextension") is None

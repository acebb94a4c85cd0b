"""Correct citations in the words that reports use pass; their wrong twins do not."""

from __future__ import annotations

import pytest

from kbs_ingest.audit.scan import scan_text


@pytest.fixture
def ask(judge, wiki):
    def verdict(metric, text):
        place = str(wiki.chips["h100_sxm"].chip.find(metric, density="dense").citation)
        (found,) = scan_text(f"{text} <- {place}.\n", ".md").citations
        return judge.judge(found)

    return verdict


@pytest.mark.parametrize(("metric", "text"), [
    ("peak_fp32", "FP32 CUDA-core peak: 67 TFLOPS"),
    ("peak_fp32", "FP32 peak (CUDA cores): 67 TFLOPS"),
    ("peak_fp64", "FP64 CUDA cores: 34 TFLOPS"),
    ("tensor_core_count", "fourth-generation tensor cores: 528"),
    ("tensor_core_count", "4th-gen Tensor Cores: 528"),
    ("memory_bandwidth", "H100 SXM5 (GH100) memory bandwidth: 3.35 TB/s"),
    ("memory_bandwidth", "GH100 H100 SXM HBM3 bandwidth: 3.35 TB/s"),
    ("memory_bandwidth", "At 41 µs for 134 MB we are at 0.97 of memory bandwidth: 3.35 TB/s"),
    ("memory_bandwidth", "The kernel reaches 88 % of memory bandwidth: 3.35 TB/s"),
    ("memory_bandwidth", "We, at 41.2 µs, are at 91.2 % of the HBM3 bandwidth, 3.35 TB/s"),
])  # fmt: skip
def test_an_honest_wording_passes(ask, metric, text):
    found = ask(metric, text)
    assert (found.verdict, found.unexplained) == ("ok", ()), found


@pytest.mark.parametrize(("metric", "text"), [
    ("peak_fp32", "FP32 CUDA cores: 128"),
    ("tensor_core_count", "third-generation tensor cores: 528"),
    ("unit_count", "The full GH100 has SMs: 132"),
    ("memory_bandwidth", "H100 SXM5 (GA100) memory bandwidth: 3.35 TB/s"),
    ("memory_bandwidth", "GH200 (GH100) memory bandwidth: 3.35 TB/s"),
    ("memory_bandwidth", "80 % of memory bandwidth: 3.35 TB/s"),
    ("memory_bandwidth", "It is 0.97 of memory bandwidth: 3.35 TB/s"),
    ("pcie_bandwidth", "PCIe Gen4 bandwidth: 128 GB/s"),
    ("shared_per_unit", "shared memory / L1 per SM: 228 KB"),  # both have 256 KiB
])  # fmt: skip
def test_its_wrong_twin_does_not(ask, metric, text):
    assert ask(metric, text).verdict != "ok"


@pytest.mark.parametrize(("metric", "text", "word"), [
    ("pcie_bandwidth", "PCIe Gen5 x16 bandwidth: 128 GB/s", "x16"),
    ("interconnect_bandwidth", "fourth-generation NVLink bandwidth: 900 GB/s", "fourth"),
])  # fmt: skip
def test_what_the_page_leaves_open_is_told(ask, metric, text, word):
    found = ask(metric, text)
    assert (found.verdict, found.unexplained) == ("ok", (word,)), found


def test_a_line_of_another_metric_is_called_that(ask):
    told = ask("peak_fp32", "FP32 CUDA cores per SM: 67").detail
    assert told.startswith("the cited line states nothing of this metric; L27 states 128")

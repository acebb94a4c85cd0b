"""What stands behind a value or multiplies it makes another statement of it."""

from __future__ import annotations

import pytest

from kbs_ingest.audit import audit_paths
from kbs_ingest.audit.scan import scan_text
from tests.conftest import WIKI

BESIDE = [
    "3.35 TB/s per SM", "3.35 TB/s per stack", "3.35 TB/s per direction", "3.35 TB/s for 8 GPUs",
    "3.35 TB/s each", "3.35 TB/s/SM", "3.35 TB/s·W", "3.35 TB/s * 2", "3.35 TB/s × 8",
    "3.35 TB/s - 1 TB/s", "3.35 TB/s ± 1", "3.35 TB/s to 4.8 TB/s", "3.35 TB/s – 4.8 TB/s",
    "3.35 TB/s, or rather 4.8 TB/s", "3.35 TB/s or more", "3.35 TB/s or less", "3.35 TB/s is wrong",
    "3.35 TB/s (false)", "3.35 TB/s was never true and is outdated", "twice 3.35 TB/s",
    "half of 3.35 TB/s", "2 x 3.35 TB/s", "used to be 3.35 TB/s", "almost 3.35 TB/s",
    "3.0 to 3.35 TB/s", "3.0-3.35 TB/s", "3.35 TB/s across all GPUs", "3.35 TB/s (per SM)",
    "3.35 TB/s + 1 TB/s", "3.35 TB/s or 4.8 TB/s", "3.35 TB/s = 4.8 TB/s", "3.35TB/s per stack",
    "**3.35 TB/s** per link", "3.35 TB/s peak per stack", "3.35 TB/s per watt",
    "3.35 TB/s / 2", "3.35 TB/s+", "3.35 TB/s is not correct", "3.35 TB/s for each SM",
]  # fmt: skip
HONEST = [
    "3.35 TB/s", "3.35 TB/s per GPU", "3.35 TB/s per chip", "3.35 TB/s per card", "3.35 TB/s peak",
    "3.35 TB/s (3350 GB/s)", "3.35 TB/s or 3350 GB/s", "3.35 TB/s = 3350 GB/s",
    "3.35 TB/s - by the product page", "3.35 TB/s of HBM3 bandwidth", "3.35 TB/s / chip",
    "**3.35 TB/s**",
    "3.35 TB/s (datasheet)", "3.35 TB/s for the GPU", "up to 3.35 TB/s", "3.35TB/s", "3,350 GB/s",
    "3.35 TB/s maximum", "3.35 TB/s in total", "3.35 TB/s; 20 operations per byte",
]  # fmt: skip

LISTED = ["3.35 TB/s, 80 GB of HBM3", "3.35 TB/s - 80 GB", "3.35 TB/s, against 24 GB/s per SM"]


@pytest.fixture
def verdict(judge):
    def ask(text, suffix=".md"):
        return judge.judge(scan_text(f"{text}\n", suffix).citations[0])

    return ask


@pytest.fixture
def place(wiki):
    return lambda metric: str(wiki.chips["h100_sxm"].chip.find(metric, density="dense").citation)


@pytest.mark.parametrize("form", [
    "memory_bandwidth: {} <- {}", "- **H100 SXM HBM3 bandwidth**: {} <- {}",
    "H100 SXM HBM3 bandwidth = {} <- {}", "The H100 SXM HBM3 bandwidth is {} <- {}",
    "| H100 SXM HBM3 bandwidth | {} | <- {} |", "| H100 SXM HBM3 bandwidth | {} <- {} |",
])  # fmt: skip
def test_what_stands_beside_the_value_counts(verdict, place, form):
    where = place("memory_bandwidth")
    passed = [value for value in BESIDE if verdict(form.format(value, where)).verdict == "ok"]
    assert passed == []
    failed = [value for value in HONEST if verdict(form.format(value, where)).verdict != "ok"]
    assert failed == []


@pytest.mark.parametrize("value", LISTED)
def test_a_number_of_another_kind_behind_it_is_only_listed(verdict, place, value):
    text = f"memory_bandwidth: {value} <- {place('memory_bandwidth')}"
    assert verdict(text).verdict == "ok"


@pytest.mark.parametrize("after", [" per SM", " (per stack)", " each", " is wrong", " (false)",
                                   " for 8 GPUs"])  # fmt: skip
def test_what_follows_the_citation_counts(verdict, place, after):
    where = place("memory_bandwidth")
    assert verdict(f"memory_bandwidth: 3.35 TB/s <- {where}{after}").verdict == "wrong_value"


@pytest.mark.parametrize("after", [", not the 3.0 TB/s of the launch", " (per GPU)", "; each SM",
                                   ", 24 GB/s per SM", " - 80 % of it", " for the whole GPU",
                                   ", which is wrong for the H200"])  # fmt: skip
def test_what_the_sentence_goes_on_with_does_not(verdict, place, after):
    where = place("memory_bandwidth")
    assert verdict(f"memory_bandwidth: 3.35 TB/s <- {where}{after}").verdict == "ok"


@pytest.mark.parametrize(("metric", "text"), [
    ("interconnect_bandwidth", "NVLink bandwidth: 900 GB/s per link"),
    ("interconnect_bandwidth", "NVLink bandwidth: 900 GB/s per direction"),
    ("memory_bandwidth", "half the memory_bandwidth: 3.35 TB/s"),
    ("memory_bandwidth", "8 x H100 memory_bandwidth: 3.35 TB/s"),
    ("memory_bandwidth", "memory bandwidth of 8 GPUs: 3.35 TB/s"),
    ("memory_bandwidth", "memory bandwidth per stack: 3.35 TB/s"),
    ("memory_bandwidth", "a third of the memory bandwidth: 3.35 TB/s"),
    ("memory_bandwidth", "80 % of memory bandwidth: 3.35 TB/s"),
    ("clock_boost", "minimum boost clock: 1980 MHz"),
    ("clock_boost", "average boost clock: 1980 MHz"),
    ("shared_per_unit", "shared memory of the chip: 228 KiB"),
    ("shared_per_unit", "shared memory: 228 KiB per GPU"),
    ("peak_bf16_tensor", "BF16 tensor at 1410 MHz: 989.4 TFLOPS"),
    ("peak_bf16_tensor", "BF16 tensor: 989.4 TFLOPS at 1410 MHz"),
    ("peak_bf16_tensor", "BF16 tensor: 989.4 TFLOPS (at 1.41 GHz)"),
    ("unit_count", "H100 SXM SMs: 132 for 8 GPUs"),
])  # fmt: skip
def test_the_label_and_the_basis_of_the_row_count(verdict, place, metric, text):
    assert verdict(f"{text} <- {place(metric)}").verdict == "wrong_value", text


@pytest.mark.parametrize(("metric", "text"), [
    ("interconnect_bandwidth", "NVLink bandwidth: 900 GB/s in both directions"),
    ("interconnect_bandwidth", "NVLink bandwidth: 900 GB/s per GPU, both directions"),
    ("clock_boost", "maximum boost clock: 1980 MHz"),
    ("shared_per_unit", "shared memory per SM: 228 KiB"),
    ("shared_per_unit", "shared memory: 228 KiB per SM"),
    ("shared_per_unit", "shared memory per SM of the GPU: 228 KiB"),
    ("fp32_lanes_per_unit", "FP32 cores per SM: 128 per SM"),
    ("peak_bf16_tensor", "BF16 tensor at 1830 MHz: 989.4 TFLOPS"),
    ("peak_bf16_tensor", "BF16 tensor: 989.4 TFLOPS at 1.83 GHz"),
    ("peak_fp16_tensor", "half precision tensor peak: 989.4 TFLOPS"),
    ("peak_fp64", "double precision FP64 vector: 34 TFLOPS"),
    ("unit_count", "SMs per GPU: 132"),
    ("memory_bandwidth", "peak memory_bandwidth: 3.35 TB/s"),
    ("memory_bandwidth", "8x H100 SXM, each with HBM3 bandwidth: 3.35 TB/s"),
])  # fmt: skip
def test_what_agrees_with_the_row_passes(verdict, place, metric, text):
    assert verdict(f"{text} <- {place(metric)}").verdict == "ok", text


def test_a_measured_figure_is_no_peak(verdict):
    lines = (WIKI / "measured/h100_sxm_measured.md").read_text(encoding="utf-8").splitlines()
    page = next(n for n, text in enumerate(lines, start=1) if "`memory_bandwidth`" in text)
    where = f"gpu-wiki/measured/h100_sxm_measured.md:L{page}"
    for word in ("peak", "theoretical", "datasheet"):
        text = f"{word} memory_bandwidth: 3.012 TB/s <- {where}"
        assert verdict(text).verdict == "wrong_value"
    for text in ("copy bandwidth", "measured peak memory_bandwidth", "memory_bandwidth"):
        assert verdict(f"{text}: 3.012 TB/s <- {where}").verdict == "ok"


def test_a_value_that_says_something_else_is_not_reanchored(knowledge, tmp_path):
    path = tmp_path / "a.md"
    text = "memory_bandwidth: 3.35 TB/s or more <- gpu-wiki/hardware/nvidia/h100_sxm.md:L30\n"
    path.write_text(text, encoding="utf-8")
    report = audit_paths([path], knowledge, fix=True)
    assert [row.verdict for row in report.citations] == ["wrong_value"]
    assert path.read_text(encoding="utf-8") == text

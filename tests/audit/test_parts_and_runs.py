"""A row per SM is no total, a run's figure is no spec, and a CU is no SM."""

from __future__ import annotations

import pytest

from kbs_ingest.audit.scan import scan_text


@pytest.fixture
def verdict(judge, wiki):
    def ask(text, metric, chip="h100_sxm"):
        place = str(wiki.chips[chip].chip.find(metric, density="dense").citation)
        (found,) = scan_text(f"{text.replace('{}', place)}\n", ".md").citations
        return judge.judge(found)

    return ask


@pytest.mark.parametrize(("metric", "text"), [
    ("fp32_lanes_per_unit", "The H100 has FP32 cores: 128 <- {}"),
    ("fp32_lanes_per_unit", "The H100 has 128 CUDA cores <- {}"),
    ("fp32_lanes_per_unit", "FP32 cores in total: 128 <- {}"),
    ("fp64_lanes_per_unit", "FP64 cores: 64 <- {}"),
    ("fp64_lanes_per_unit", "NVIDIA H100 (sm_90a) FP64 cores: 64 <- {}"),
    ("fp64_lanes_per_unit", "SM count 132; FP64 cores: 64 <- {}"),
    ("shared_per_unit", "total shared memory: 228 KB <- {}"),
    ("shared_per_unit", "The whole chip's shared memory: 228 KB <- {}"),
    ("shared_per_unit", "shared memory of all SMs: 228 KB <- {}"),
    ("shared_per_unit", "| chip | shared memory | 228 KB | <- {} |"),
    ("shared_per_block_max", "shared memory: 227 KB <- {}"),
    ("registers_per_thread_max", "registers: 255 <- {}"),
    ("register_file_total", "register file per SM: 33792 KiB <- {}"),
    ("register_file_total", "register file of an SM: 33792 KiB <- {}"),
    ("unit_count", "SMs per TPC: 132 <- {}"),
])  # fmt: skip
def test_a_row_of_a_part_is_no_row_of_the_whole(verdict, metric, text):
    assert verdict(text, metric).verdict == "wrong_value"


@pytest.mark.parametrize(("metric", "text"), [
    ("fp64_lanes_per_unit", "Each SM has FP64 cores: 64 <- {}"),
    ("fp64_lanes_per_unit", "The H100's 132 SMs each have FP64 cores: 64 <- {}"),
    ("fp64_lanes_per_unit", "## Of an SM\n\n- FP64 cores: 64 <- {}"),
    ("fp64_lanes_per_unit", "| | per SM | |\n|---|---|---|\n| FP64 cores | 64 | <- {} |"),
    ("shared_per_unit", "An H100 SM has 228 KB of shared memory <- {}"),
    ("shared_per_unit", "shared memory: 228 KB/SM <- {}"),
    ("shared_per_unit", "shared memory: 228 KB <- {} (per SM)"),
    ("shared_per_unit", "per-SM shared memory: 228 KB <- {}"),
    ("shared_per_block_max", "H100 SXM 80GB shared memory per block, opt-in: 227 KB <- {}"),
    ("register_file_total", "register file of all SMs: 33792 KiB <- {}"),
    ("unit_count", "SM count: 132 <- {}"), ("unit_count", "SMs per GPU: 132 <- {}"),
    ("tensor_core_count", "tensor cores: 528 <- {}"),
])  # fmt: skip
def test_a_statement_that_names_the_part_of_its_row_passes(verdict, metric, text):
    found = verdict(text, metric)
    assert (found.verdict, found.unexplained) == ("ok", ()), found


RUNS = [
    ("tdp", "power used: 700 W <- {}"), ("tdp", "board power: 700 W <- {} in our run"),
    ("tdp", "board power: 700 W in our run <- {}"), ("tdp", "power during training: 700 W <- {}"),
    ("tdp", "board power: 700 W drawn by the kernel <- {}"),
    ("tdp", "board power: 700 W <- {} (used by the kernel)"),
    ("memory_capacity", "memory capacity used: 80 GB <- {}"),
    ("unit_count", "SMs used by the kernel: 132 <- {}"), ("unit_count", "SMs in use: 132 <- {}"),
    ("unit_count", "The kernel uses 132 SMs <- {}"),
    ("clock_boost", "boost clock in our run: 1980 MHz <- {}"),
    ("clock_boost", "In our run the boost clock is 1980 MHz <- {}"),
    ("l2_size", "L2 used by the kernel: 50 MB <- {}"),
    ("l2_size", "L2 of the softmax kernel: 50 MB <- {}"),
    ("l2_size", "The kernel has L2 cache: 50 MB <- {}"),
    ("memory_bandwidth", "the kernel's memory bandwidth: 3.35 TB/s <- {}"),
    ("memory_bandwidth", "kernel bandwidth: 3.35 TB/s <- {}"),
    ("l2_size", "| what | used by the kernel |\n|---|---|\n| L2 | 50 MB <- {} |"),
]  # fmt: skip


@pytest.mark.parametrize(("metric", "text"), RUNS)
def test_what_a_run_used_is_no_spec(verdict, metric, text):
    found = verdict(text, metric)
    assert (found.verdict, "has" in found.detail) == ("wrong_value", True), found


@pytest.mark.parametrize("text", [
    "HBM3 bandwidth used in the roofline: 3.35 TB/s <- {}",
    "HBM3 bandwidth: 3.35 TB/s (used as roof) <- {}",
    "The GPU used has HBM3 bandwidth: 3.35 TB/s <- {}",
    "The roof of the kernel is the HBM3 bandwidth: 3.35 TB/s <- {}",
    "The kernel is bound by HBM3 bandwidth: 3.35 TB/s <- {}",
    "Roofline for the softmax kernel: HBM3 bandwidth: 3.35 TB/s <- {}",
    "Our run was on an H100 SXM with HBM3 bandwidth: 3.35 TB/s <- {}",
    "The kernel's roof is the HBM3 bandwidth: 3.35 TB/s <- {}",
    "Our card has HBM3 bandwidth: 3.35 TB/s <- {}",
])  # fmt: skip
def test_a_roof_of_a_kernel_is_none_of_its_figures(verdict, text):
    found = verdict(text, "memory_bandwidth")
    assert (found.verdict, found.unexplained) == ("ok", ()), found


def test_a_measured_row_carries_a_figure_of_a_run(judge):
    page = "measured/h100_sxm_measured.md"
    rows = judge.knowledge.pages[page].facts
    line = next(fact.line for fact in rows if fact.metric == "memory_bandwidth")
    text = f"copy bandwidth of our kernel: 3.012 TB/s <- gpu-wiki/{page}:L{line}"
    (found,) = scan_text(text, ".md").citations
    assert judge.judge(found).verdict == "ok"


@pytest.mark.parametrize(("chip", "metric", "text"), [
    ("h100_sxm", "unit_count", "CUs: 132 <- {}"),
    ("h100_sxm", "shared_per_unit", "LDS per SM: 228 KB <- {}"),
    ("h100_sxm", "interconnect_bandwidth", "Infinity Fabric bandwidth: 900 GB/s <- {}"),
    ("mi300x", "unit_count", "MI300X SMs: 304 <- {}"),
    ("h100_sxm", "unit_count", "disabled SMs: 132 <- {}"),
    ("h100_sxm", "memory_bandwidth", "texture memory bandwidth: 3.35 TB/s <- {}"),
    ("h100_sxm", "memory_bandwidth", "memory bandwidth of the host: 3.35 TB/s <- {}"),
])  # fmt: skip
def test_parts_of_another_maker_and_other_memories_are_refused(verdict, chip, metric, text):
    assert verdict(text, metric, chip).verdict == "wrong_value"


@pytest.mark.parametrize(("chip", "metric", "text"), [
    ("mi300x", "unit_count", "MI300X CUs: 304 <- {}"),
    ("mi300x", "unit_count", "MI300X compute units: 304 <- {}"),
    ("h100_sxm", "pcie_bandwidth", "PCIe bandwidth to the host: 128 GB/s <- {}"),
])  # fmt: skip
def test_a_maker_s_own_words_pass(verdict, chip, metric, text):
    assert verdict(text, metric, chip).verdict == "ok"

"""What hardware has or can do is a spec; what a run did, set or saw is none."""

from __future__ import annotations

import pytest

from kbs_ingest.audit import audit_paths


def kinds(text, knowledge, tmp_path, name="text.md"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return [row.kind for row in audit_paths([path], knowledge).uncited]


@pytest.mark.parametrize(
    "text",
    [
        "Bandwidth at block size 256: 2.81 TB/s",
        "We saw 2.81 TB/s of memory bandwidth in the copy test",
        "Clocks were fixed to 1500 MHz",
        "The SM clock was locked to 1755 MHz with nvidia-smi -lgc.",
        "an SM clock of 1755 MHz (nvidia-smi)",
        "memory clock: 2619 MHz",
        "The peak of our kernel is 702 TFLOPS",
        "NVLink traffic was 210 GB/s",
        "The persistent kernel runs on 128 SMs",
        "L2 persistence window 16 MB",
        "16 MB of L2 are set aside.",
        "On H100 we saw about 2.8 TB/s.",
        "The power limit was set to 500 W.",
        "BF16 GEMM: 702 TFLOPS",
        "The grid covers 120 SMs.",
        "HBM3 bandwidth with BLOCK=256: 2.91 TB/s",
        "The kernel has 2.81 TB/s of bandwidth.",
        "The L2 holds 40 MB that the kernel keeps.",
        "FP16 tensor pipe active at 702 TFLOPS",
        "The kernel delivers 2.9 TB/s of HBM bandwidth.",
        "| kernel | bandwidth (TB/s) |\n|---|---|\n| v3 | 2.9 |",
        "| H100 run | achieved bandwidth (TB/s) |\n|---|---|\n| v3 | 2.9 |",
        "The kernel uses 65536 registers per SM",
        "The H100 runs at 1500 MHz during the test",
        "Each SM holds 2 blocks with 96 KB of shared memory each.",
        "The SM has 2 resident blocks that use 96 KB of shared memory.",
        "The kernel runs at 0.93 of speed of light, 97.1 % of it.",
        "The peak throughput of our kernel is 2.9 TB/s of DRAM bandwidth.",
        "The H100 delivers 2.9 TB/s in this kernel.",
        "DRAM throughput: 2.9 TB/s",
    ],
)
def test_runs_settings_and_observations_are_no_specs(text, knowledge, tmp_path):
    assert kinds(text, knowledge, tmp_path) == []


@pytest.mark.parametrize(
    "text",
    [
        "The H100 has 132 SMs.",
        "H100 offers 3.35 TB/s of memory bandwidth.",
        "The GPU can do 989.4 TFLOPS of dense BF16.",
        "The datasheet says 3.35 TB/s.",
        "Our kernel gets 2.9 TB/s against a theoretical bandwidth of 3.35 TB/s.",
        "HBM3 capacity 80 GB",
        "The maximum SM clock is 1980 MHz.",
        "H100 bandwidth: 3.35e12 B/s",
        "| GPU | peak BF16 (TFLOPS) |\n|---|---|\n| H100 | 1979 |",
        "| GPU | HBM bandwidth (TB/s) |\n|---|---|\n| H100 SXM | 9.99 |",
        "The H100 delivers 1979 TFLOPS of BF16.",
        "The MI300X delivers 5.3 TB/s of peak bandwidth.",
        "8xH100 with 80GB HBM3",
        "8x H100 with 80GB",
        "an RTX 4090 has 24GB of memory",
        "Each SM of the H100 has 99999 registers.",
        "registers per SM: 65536",
        "the H100 has a TDP of 0.7 kW",
        "H100 has 9.99 terabytes per second of memory bandwidth",
        "The H100 runs at 1980 MHz boost.",
        "The H100 SM has 228 KB of shared memory.",
        "Each SM of the H100 has 228 KB of shared memory.",
        "The shared memory of an SM is 228 KB.",
        "Per-SM shared memory is 228 KB.",
        "A CU has 64 KB of LDS.",
        "The peak DRAM throughput is 3.35 TB/s.",
        "The maximum FP16 tensor throughput is 989.4 TFLOPS.",
        "The H100 offers 3.35 TB/s.",
        "Speed of light: 3.35 TB/s.",
    ],
)
def test_what_hardware_has_or_can_do_is_a_spec(text, knowledge, tmp_path):
    assert kinds(text, knowledge, tmp_path) == ["uncited"]


def test_a_rough_rate_in_a_second_clause_is_vague(knowledge, tmp_path):
    cite = "<- gpu-wiki/hardware/nvidia/h20.md:Specs"
    text = f"H20 HBM3 bandwidth: 4.0 TB/s {cite}, the H100 about 3.3 TB/s\n"
    assert kinds(text, knowledge, tmp_path) == ["vague"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", "PEAK_BW = 3.35e12\n"),
        ("a.py", "peak_bw_gbps = 3350\n"),
        ("a.py", "MAX_TFLOPS: float = 989.4\n"),
        ("a.cu", "constexpr double kPeakBandwidth = 3.35e12;\n"),
        ("a.json", '{"peak_bandwidth": 3350}\n'),
        ("a.json", '{"source": "PEAK_FLOPS = 989e12\\nx = 1"}\n'),
        ("a.cu", "#define PEAK_TFLOPS 9999\n"),
        ("a.toml", "peak_bandwidth = 9999\n"),
        ("a.json", '{"h100":{"memory_bandwidth_gbs":3350}}\n'),
        ("a.json", '{"h100": {\n "x": {"a": 1},\n "memory_bandwidth_gbs": 3350}}\n'),
        ("a.py", "HBM_BW = 3.35e12\n"),
        ("a.py", "H100_TFLOPS = 989\n"),
        ("a.py", "A100_BW_GBS: float = 1555\n"),
        ("a.cu", "#define H100_TFLOPS 989\n"),
        ("a.cu", "constexpr double kHbmBandwidth = 3.35e12;\n"),
        ("a.md", "```python\npeak_flops = 989.4e12\n```\n"),
    ],
)
def test_a_name_of_a_peak_with_a_number_is_a_spec(name, text, knowledge, tmp_path):
    assert kinds(text, knowledge, tmp_path, name) == ["uncited"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", '{"pct_of_peak_bandwidth": 88.1, "peak_bandwidth_fraction": 12}\n'),
        ("a.json", '{"peak_bandwidth": null, "max_flops_measured": 702, "bandwidth": 2810}\n'),
        ("a.json", '{"run": {"memory_bandwidth_gbs": 2810}, "h100": {}}\n'),
        ("a.cu", "#define MAX_BW_PCT 80\n#define MAX_BLOCKS 128\n"),
        ("a.py", "hbm_bw = 2.81e12\nHBM_BW_MEASURED = 2.81e12\nH100_BLOCKS = 132\n"),
        ("a.py", "HBM_BW = moved / seconds\n"),
        ("a.py", "peak_bw = props.bandwidth\npeak_flops = 0\n"),
        ("a.py", "PEAK_BW = 3.35e12  # H100 SXM HBM3 bandwidth: 3.35 TB/s <- {}\n"),
        ("a.py", "# H100 SXM HBM3 bandwidth: 3.35 TB/s <- {}\npeak_bw_gbps = 3350\n"),
    ],
)
def test_shares_measured_and_cited_names_are_none(name, text, knowledge, tmp_path):
    text = text.replace("{}", "gpu-wiki/hardware/nvidia/h100_sxm.md:Specs")
    assert kinds(text, knowledge, tmp_path, name) == []

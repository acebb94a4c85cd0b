"""A long report that cites properly raises nothing; one that does not is told where."""

from __future__ import annotations

import random

import pytest

from kbs_ingest.audit import audit_paths
from tests.audit.planted import cited

MEASURED = (
    "Median {us:.1f} µs over 20 rounds, {rate:.2f} TB/s, {pct:.1f} % of peak.",
    "The kernel achieves {rate:.2f} TB/s of DRAM bandwidth, {pct:.0f} % of the roof.",
    "Measured throughput: {rate:.2f} TB/s (p50 {us:.1f} µs, p95 {us:.1f} µs).",
    "ncu reports dram__throughput.avg.pct_of_peak_sustained_elapsed = {pct:.1f}.",
    "Before: {us:.1f} µs; after: {us:.1f} µs; speed-up 1.{n}x.",
    "It sustains {tflops:.0f} TFLOPS on BF16 tensor cores at {pct:.0f} % utilisation.",
    "Each block uses {kib} KiB of shared memory and {regs} registers per thread.",
    "The working set of {mb} MB does not fit into L2, so every pass reads DRAM.",
    "The input is a tensor of {mb} MB and the output {mb} MB.",
    "Traffic {mb} MB read, {mb} MB written; effective bandwidth {rate:.2f} TB/s.",
    "Grid of {regs} blocks, {n} waves, tile 128x128, num_warps=8, num_stages=4.",
    "Occupancy is {pct:.0f} % because shared memory limits it to 2 blocks.",
    "Next: try double buffering; expected gain 0.{n}0 of the gap.",
    "`BLOCK_M = 128`, `BLOCK_N = 256`: compiled for sm_90a in {n}.2 s.",
    "The clock stayed at {clock} MHz during the run, as the profile shows.",
    "Roofline: arithmetic intensity {n}.5 FLOP/B against a ridge of 295.",
)


def proper_report(wiki, size: int, seed: int) -> str:
    """A report of ``size`` lines as a careful engineer writes it: every spec is cited."""
    draw = random.Random(seed)
    chips = [page.chip for page in wiki.chips.values()]
    lines: list[str] = ["# Optimization report", ""]
    while len(lines) < size:
        chip = draw.choice(chips)
        specs = [spec for spec in chip.specs if spec.value is not None and spec.unit]
        chosen = draw.sample(specs, min(4, len(specs)))
        lines.append(f"## {chip.name}, iteration {draw.randint(1, 40)}")
        lines.extend(f"- {cited(spec, chip.name)}" for spec in chosen)
        lines += ["", "| Metric | Value |", "|---|---|"]
        lines.extend(f"| {spec.words} | {cited(spec, chip.name)} |" for spec in chosen[:2])
        lines += ["", "```text", cited(chosen[0], chip.id), "```", ""]
        lines.append(f"{chip.name} L9 cache: UNKNOWN (gpu-wiki not found)")
        for _ in range(draw.randint(4, 14)):
            lines.append(
                draw.choice(MEASURED).format(
                    us=draw.uniform(3, 900), rate=draw.uniform(0.2, 7), pct=draw.uniform(20, 98),
                    tflops=draw.uniform(50, 900), kib=draw.choice((16, 48, 96, 164, 200)),
                    regs=draw.choice((32, 64, 128, 168, 255)), mb=draw.randint(8, 900),
                    n=draw.randint(1, 9), clock=draw.randint(900, 1980),
                )
            )  # fmt: skip
        lines.append(f"The roof of {chosen[0].words} stays at {shown(chosen[0])} here.")
        lines.append("")
    return "\n".join(lines[:size]) + "\n"


def shown(spec) -> str:
    return f"{spec.value:.12g} {spec.unit}" if isinstance(spec.value, float) else spec.value


@pytest.mark.parametrize("seed", range(4))
def test_no_false_alarm_in_a_long_report_that_cites_properly(wiki, knowledge, tmp_path, seed):
    path = tmp_path / "report.md"
    text = proper_report(wiki, 2000, seed)
    assert text.count("\n") == 2000
    path.write_text(text, encoding="utf-8")
    report = audit_paths([path], knowledge)
    assert len(report.citations) > 300
    assert [row for row in report.citations if row.verdict != "ok"] == []
    assert [f"{row.line}: {row.kind}: {row.text}" for row in report.uncited] == []


@pytest.mark.parametrize(
    "text",
    [
        "The peak bandwidth is 3.35 TB/s.",
        "HBM3 bandwidth: 4.0 TB/s",
        "H100 SXM peak: 989.4 TFLOPS dense BF16",
        "It has 132 SMs.",
        "SM count: 132",
        "The L2 is 50 MB.",
        "50 MB L2 cache",
        "TDP 700 W",
        "boost clock 1980 MHz",
        "65536 registers per SM",
        "228 KiB of shared memory per SM",
        "NVLink gives 900 GB/s.",
        "| H100 | peak bandwidth | 3.35 TB/s |",
        "Median 41 µs against a theoretical peak of 3.35 TB/s.",
    ],
)
def test_a_spec_without_a_citation_is_found(text, knowledge, tmp_path):
    found = audit(text, knowledge, tmp_path)
    assert [row.kind for row in found] == ["uncited"], found
    assert found[0].line == 1


@pytest.mark.parametrize(
    "text",
    [
        "The peak bandwidth is approximately 3.35 TB/s.",
        "HBM3 bandwidth: ~3.35 TB/s <- gpu-wiki/hardware/nvidia/h100_sxm.md:L34",
        "The peak should be 989.4 TFLOPS dense.",
        "Its bandwidth is similar to the H100.",
        "The boost clock is usually 1980 MHz.",
        "B200 has roughly 148 SMs.",
    ],
)
def test_vague_wording_beside_a_spec_is_found(text, knowledge, tmp_path):
    assert "vague" in {row.kind for row in audit(text, knowledge, tmp_path)}


@pytest.mark.parametrize(
    "text",
    [
        "Median 41.2 µs, 2.98 TB/s, 88.9 % of peak bandwidth.",
        "The kernel achieves 2.98 TB/s of HBM bandwidth.",
        "Measured copy bandwidth: 3.05 TB/s.",
        "About 12 % faster than before.",
        "The loop runs approximately 40 times.",
        "NVIDIA H100 80GB HBM3",
        "A100-SXM4-80GB",
        "NVIDIA GH200 Grace Hopper 144GB HBM3e",
        "The buffer is 134 MB, larger than L2.",
        "Each block uses 48 KiB of shared memory.",
        "168 registers per thread, 0 spills",
        "L2 hit rate should be above 60 %.",
        "Clock locked at ±50 MHz.",
        "Holds 20 of 100 SMs.",
    ],
)
def test_measured_and_kernel_figures_are_no_specs(text, knowledge, tmp_path):
    assert audit(text, knowledge, tmp_path) == []


def test_a_citing_header_row_covers_its_table_and_a_cited_value_may_be_repeated(
    knowledge, tmp_path
):
    cite = "<- gpu-wiki/hardware/nvidia/h100_sxm.md:Specs"
    table = f"| part | peak bandwidth {cite} |\n|---|---|\n| H100 SXM | 3.3 TB/s |\n"
    assert audit(table, knowledge, tmp_path) == []
    repeated = (
        f"H100 SXM HBM3 bandwidth: 3.35 TB/s {cite}\n\nThe peak bandwidth of 3350 GB/s holds.\n"
    )
    assert audit(repeated, knowledge, tmp_path) == []


def test_code_is_read_by_its_comments_and_json_by_its_strings(knowledge, tmp_path):
    code = tmp_path / "kernel.cu"
    code.write_text('// peak bandwidth 3.35 TB/s\nconst char *s = "peak bandwidth 3.35 TB/s";\n')
    data = tmp_path / "v1.json"
    data.write_text('{"peak_bandwidth": 3.35,\n "note": "peak bandwidth 3.35 TB/s"}\n')
    report = audit_paths([code, data], knowledge)
    assert [(row.file.rsplit("/", 1)[1], row.line) for row in report.uncited] == [
        ("kernel.cu", 1),
        ("v1.json", 1),
        ("v1.json", 2),
    ]


def audit(text, knowledge, tmp_path):
    path = tmp_path / "text.md"
    path.write_text(text, encoding="utf-8")
    return list(audit_paths([path], knowledge).uncited)

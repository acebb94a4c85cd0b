"""The shipped H100 report through the command line: what it must say, and must not."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def kernels(kbs, report):
    ran = kbs("recommend", report, "--json")
    assert ran.code == 0, ran.err
    return {kernel["launch"]: kernel for kernel in ran.json["kernels"]}


def roof(kernel, kind):
    return next(
        r for r in kernel["roofline"]["roofs"] if r["kind"] == kind and r["basis"] == "cited"
    )


def ids(rows):
    return [row["id"] for row in rows]


def methods(kernel, top):
    return [row["method"] for row in kernel["recommendations"][:top]]


def test_all_five_launches_are_read_in_order(kernels):
    assert [kernels[launch]["name"] for launch in sorted(kernels)] == [
        "t01_softmax_row",
        "t02_matmul_small_tiles_no_pipeline",
        "t03_layernorm_two_pass_small_block",
        "t04_matmul_tuned",
        "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT",
    ]
    assert all(kernel["chip"] == "h100_sxm" for kernel in kernels.values())
    assert sum(kernel["time_share"] for kernel in kernels.values()) == pytest.approx(1)


def test_softmax_is_near_peak_and_gets_no_nonsense(kernels):
    kernel = kernels[0]
    assert kernel["near_peak"]
    assert kernel["time_ns"] == 41184
    assert roof(kernel, "memory")["time_ns"] == pytest.approx(40_065, rel=1e-3)
    assert kernel["limiter"] == "dram"
    assert any("112.2 MB of 134.2 MB" in flag for flag in kernel["flags"])
    assert all(cause["severity"] <= 0.3 for cause in kernel["causes"])
    assert all(row["score"] < 0.05 for row in kernel["recommendations"])
    assert "near peak" in kernel["note"]


def test_tiny_tiles_starve_the_tensor_pipe(kernels):
    kernel = kernels[1]
    assert kernel["causes"][0]["id"] == "tensor_pipe_underfed"
    assert kernel["algorithm_bound"] == "compute"
    assert kernel["limiter"] != "dram"
    assert "at_compute_roof" not in ids(kernel["causes"])
    assert "fma_pipe_saturated" not in ids(kernel["causes"] + kernel["effects"])
    top = methods(kernel, 3)
    assert "larger_block_tile" in top
    assert {"more_pipeline_stages", "software_pipelining"} & set(top)


def test_layernorm_reads_too_much_and_that_explains_the_rest(kernels):
    kernel = kernels[2]
    metrics = kernel["metrics"]
    moved = metrics["dram_read_bytes"] + metrics["dram_write_bytes"]
    assert moved == pytest.approx(249.9e6, rel=1e-3)
    assert metrics["dram_pct"] == pytest.approx(78.5, abs=0.1)
    assert not kernel["near_peak"]
    first = kernel["causes"][0]
    assert first["id"] == "excess_dram_traffic"
    assert {"dram_bandwidth_saturated", "long_scoreboard_stall"} <= set(first["explains"])
    assert "occupancy_limited_block_size" in ids(kernel["causes"])
    assert metrics["block_size"] == 32
    assert {"single_pass_algorithm", "row_in_registers", "block_size_tuning"} & set(
        methods(kernel, 4)
    )


def test_vendor_gemm_is_near_peak_at_the_clock_that_ran(kernels):
    kernel = kernels[4]
    compute = roof(kernel, "compute")
    rate = 137438953472 / (kernel["time_ns"] * 1e-9)
    assert rate == pytest.approx(787e12, rel=2e-3)
    assert rate / compute["cited_value"] == pytest.approx(0.80, abs=0.01)
    assert rate / compute["value"] == pytest.approx(0.90, abs=0.01)
    assert kernel["near_peak"]
    assert "clock_throttled" in ids(kernel["causes"] + kernel["effects"])
    assert all(row["score"] < 0.05 for row in kernel["recommendations"])


def test_no_peak_stands_without_a_citation(kernels):
    for kernel in kernels.values():
        for found in kernel["roofline"]["roofs"]:
            page = (
                "measured/h100_sxm_measured"
                if found["basis"] == "measured"
                else "hardware/nvidia/h100_sxm"
            )
            assert f"<- gpu-wiki/{page}.md:L" in found["citation"]


def test_every_recommendation_shows_its_parts_and_its_evidence(kernels):
    for kernel in kernels.values():
        for row in kernel["recommendations"]:
            assert row["score"] == pytest.approx(row["chance"] * row["gain"] * row["fit"])
            assert row["gain"] <= kernel["roofline"]["gap"] + 1e-9
            assert row["addresses"]
            assert len(row["triggers"]) == len(row["addresses"])
            assert f"gpu-wiki/methods/{row['axis']}/{row['method']}.md:L" in row["citations"][0]
            low, high = row["predicted_gain"]
            assert 0 <= low <= high <= 1


def test_vendor_rules_stand_beside_our_diagnosis(kernels):
    rules = {rule["rule"] for kernel in kernels.values() for rule in kernel["vendor_rules"]}
    assert {"SOLBottleneck", "CPIStall", "IssueSlotUtilization"} <= rules
    assert any(
        rule["estimated_speedup_pct"] for kernel in kernels.values()
        for rule in kernel["vendor_rules"]
    )  # fmt: skip
    assert any(row["vendor_rules"] for row in kernels[1]["recommendations"])


def test_the_raw_csv_of_the_same_run_says_the_same(kbs, report, kernels):
    ran = kbs("diagnose", report.with_name("h100_triton_torch.raw.csv"), "--json")
    assert ran.code == 0, ran.err
    for kernel in ran.json["kernels"]:
        same = kernels[kernel["launch"]]
        assert kernel["name"] == same["name"]
        assert kernel["near_peak"] == same["near_peak"]
        assert kernel["limiter"] == same["limiter"]
        assert ids(kernel["causes"]) == ids(same["causes"])


def test_text_names_citations_evidence_and_filters(kbs, report):
    ran = kbs("recommend", report, "--launch", "2")
    assert ran.code == 0, ran.err
    for part in (
        "t03_layernorm_two_pass_small_block  launch 2",
        "cited memory roof 3.35 TB/s",
        "NVIDIA H100 SXM5 80GB HBM3 bandwidth: 3.35 TB/s <- gpu-wiki/hardware/nvidia/h100_sxm.md:L",
        "excess_dram_traffic [memory]",
        "score = chance × gain × fit",
        "Filtered out",
    ):
        assert part in ran.out
    assert "t01_softmax_row" not in ran.out


def test_language_filters_methods(kbs, report):
    ran = kbs("recommend", report, "--launch", "1", "--language", "triton", "--json")
    removed = {row["method"]: row for row in ran.json["kernels"][0]["filtered"]}
    assert removed["register_prefetch"]["filter"] == "language"
    kept = methods(ran.json["kernels"][0], 50)
    assert "register_prefetch" not in kept


def test_an_h100_gets_no_method_that_only_blackwell_can_run(kernels):
    for kernel in kernels.values():
        assert "tcgen05_mma" not in methods(kernel, 100)
    removed = {row["method"]: row for row in kernels[1]["filtered"]}
    assert removed["tcgen05_mma"]["filter"] == "architecture"
    assert "sm_90a has no tcgen05" in removed["tcgen05_mma"]["reason"]

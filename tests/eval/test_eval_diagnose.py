"""`kbs eval diagnose`: figures worked out by hand, baselines, and files that are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbs_engine.errors import InputError
from kbs_engine.evaluation.baselines import largest_gap, thresholds
from kbs_engine.evaluation.claims import Claim, Labelled, Truth
from kbs_engine.evaluation.diagnosis import PREDICTORS, score
from kbs_engine.evaluation.vendor import MEANINGS, vendor_any_claims, vendor_claims
from kbs_engine.profiles import VendorRule
from kbs_ingest.truth_file import read_dominant, read_launches, read_truth

TRUTH = Path(__file__).with_name("h100_triton_torch.truth.yaml")
AXES = {
    "uncoalesced_global_load": "memory",
    "small_grid": "latency",
    "fma_pipe_saturated": "compute",
    "at_memory_roof": "none",
}


def claim(*ids, axis="memory", severity=0.5):
    return Claim(says=ids[0], ids=ids, axes=(axis,), severity=severity)


def labelled(truth, *claims):
    return Labelled(kernel="k", launch=0, report="r", truth=truth, claims={"ours": claims})


def faulty(*cause, axis="memory"):
    return Truth(key="k", line=1, cause=cause, axis=(axis,))


HEALTHY = Truth(key="k", line=1, healthy=True)


def test_scores_by_hand():
    cases = [
        labelled(faulty("a"), claim("a"), claim("b")),  # top-1, axis
        labelled(faulty("c"), claim("x"), claim("y"), claim("c")),  # third, axis right
        labelled(faulty("d"), claim("x", axis="latency"), *[claim("y")] * 2, claim("d")),  # fourth
        labelled(faulty("e", "f"), claim("f", axis="compute")),  # second accepted id, axis wrong
        labelled(faulty("g")),  # nothing is claimed
        labelled(HEALTHY, claim("a", severity=0.3)),  # at the bar is no alarm
        labelled(HEALTHY, claim("a", severity=0.1), claim("b", severity=0.31)),
        labelled(HEALTHY),
    ]
    found = score(cases, "ours")
    assert found.top1 == pytest.approx(2 / 5)
    assert found.top3 == pytest.approx(3 / 5)
    assert found.axis == pytest.approx(2 / 5)
    assert found.false_alarms == 1


def test_without_faulty_kernels_there_are_no_shares():
    found = score([labelled(HEALTHY)], "ours")
    assert (found.top1, found.top3, found.axis, found.false_alarms) == (None, None, None, 0)


@pytest.mark.parametrize(
    ("metrics", "axes", "first"),
    [
        ({"memory_pct": 92, "compute_pct": 20, "dram_pct": 92}, "memory",
         "dram_bandwidth_saturated"),
        ({"memory_pct": 70, "compute_pct": 59, "l2_pct": 70, "dram_pct": 30}, "memory",
         "l2_bandwidth_saturated"),
        ({"memory_pct": 20, "compute_pct": 75, "fma_pct": 75}, "compute", "fma_pipe_saturated"),
        ({"memory_pct": 59.9, "compute_pct": 10}, "latency", "low_eligible_warps"),
    ],
)  # fmt: skip
def test_thresholds(metrics, axes, first):
    found = thresholds(metrics)
    assert found[0].axes == (axes,)
    assert found[0].ids == (first,)


def test_thresholds_within_the_margin_claim_both_axes_and_without_totals_nothing():
    assert thresholds({"memory_pct": 70, "compute_pct": 65})[0].axes == ("memory", "compute")
    assert thresholds({"memory_pct": 70}) == ()


def test_a_copy_near_its_roof_is_no_alarm_of_the_thresholds_and_one_of_the_gap_formula():
    copy = {
        "memory_pct": 95, "dram_pct": 95, "compute_pct": 10, "warp_cycles_per_issue": 10,
        "stall_long_scoreboard": 6, "stall_selected": 9,
    }  # fmt: skip
    assert thresholds(copy)[0].severity == pytest.approx(0.05)
    gaps = largest_gap(copy)
    assert [row.axes[0] for row in gaps] == ["compute", "latency", "memory"]
    assert [row.severity for row in gaps] == pytest.approx([0.9, 0.6, 0.05])
    assert gaps[1].ids == ("long_scoreboard_stall",)


def test_the_gap_formula_near_peak_and_with_nothing_measured():
    near = {"dram_pct": 90, "compute_pct": 90, "warp_cycles_per_issue": 10, "stall_wait": 1}
    assert largest_gap(near) == ()
    unknown = largest_gap({})
    assert [row.axes[0] for row in unknown] == ["memory", "latency", "compute"]
    assert {row.severity for row in unknown} == {0.5}


def rule(name, title="", message="", speedup=10.0, scope="global"):
    return VendorRule(
        rule=name, title=title, message=message, estimated_speedup_pct=speedup, scope=scope
    )


@pytest.mark.parametrize(
    ("found", "ids"),
    [
        (rule("CPIStall", "Long Scoreboard Stalls"), {"long_scoreboard_stall"}),
        (rule("CPIStall", "Math Pipe Throttle Stalls"),
         {"math_pipe_throttle_stall", "fma_pipe_saturated", "alu_pipe_saturated",
          "xu_pipe_saturated", "fp64_pipe_saturated"}),
        (rule("CPIStall", "Barrier Stalls"), {"barrier_stall"}),
        (rule("CPIStall", "LG Throttle Stalls"), {"lg_throttle_stall"}),
        (rule("TheoreticalOccupancy", "", "is limited by the number of required registers, and "
              "the required amount of shared memory."),
         {"occupancy_limited_registers", "occupancy_limited_shared"}),
        (rule("LaunchConfiguration", "Tail Effect"), {"tail_effect"}),
        (rule("LaunchConfiguration", "Small Grid"), {"small_grid"}),
        (rule("UncoalescedGlobalAccess", "Uncoalesced Global Accesses"),
         {"uncoalesced_global_load", "uncoalesced_global_store", "partial_sector_writes"}),
        (rule("SharedMemoryConflicts", "Shared Store Bank Conflicts"), {"shared_bank_conflicts"}),
        (rule("MemoryCacheAccessPattern", "L1TEX Local Load Access Pattern"), {"register_spills"}),
        (rule("FPInstructions", "FP32 Non-Fused Instructions"), {"non_fused_arithmetic"}),
        (rule("HighPipeUtilization", "Very High Utilization", "Shared is the highest-utilized "
              "pipeline (90.2%). It's dominated by its Tensor (FP) sub-pipeline."), set()),
        (rule("HighPipeUtilization", "High Utilization", "FMA is the highest-utilized pipeline"),
         {"fma_pipe_saturated", "tensor_cores_idle"}),
        (rule("SomethingNew", "Words"), set()),
    ],
)  # fmt: skip
def test_what_a_rule_of_nsight_names(found, ids):
    assert set(vendor_claims([found])[0].ids) == ids


def test_every_id_that_a_rule_is_mapped_to_is_a_symptom(wiki):
    for meaning in MEANINGS:
        assert set(meaning.names) | set(meaning.hints) <= wiki.rules.keys(), meaning.rule
        assert set(meaning.axes) <= {"memory", "compute", "latency"}


def test_global_rules_rank_by_estimate_and_ties_keep_the_order_of_the_report():
    rules = [
        rule("FPInstructions", speedup=5),
        rule("ThreadDivergence", speedup=90, scope="local"),
        rule("LaunchConfiguration", "Tail Effect", speedup=25),
        rule("WorkloadImbalance", speedup=25),
        rule("SOLBottleneck", "High Throughput", speedup=None, scope=""),
    ]
    said = [row.says.partition(":")[0].partition(" ")[0] for row in vendor_claims(rules)]
    assert said == ["LaunchConfiguration", "WorkloadImbalance", "FPInstructions"]
    lenient = vendor_any_claims(rules)
    assert len(lenient) == 1
    assert {"thread_divergence", "tail_effect", "workload_imbalance"} <= set(lenient[0].ids)
    assert "non_fused_arithmetic" not in lenient[0].ids


# ---------------------------------------------------------------- files
def write(tmp_path, text, name="truth.yaml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


GOOD = """0: {healthy: true}
my_kernel:
  cause: [small_grid]
my_kernel_v2:
  cause: fma_pipe_saturated
  axis: [compute, latency]
  work: {kernel: gemm, flops: 1e9}
pair:
  planted: [small_grid, uncoalesced_global_load]
  cause: measured
  axis: measured
"""


def test_a_truth_file_is_read(tmp_path):
    truth = read_truth(write(tmp_path, GOOD), AXES)
    assert truth.find(0, ("any",)).healthy
    assert truth.find(0, ("my_kernel",), by_number=False).cause == ("small_grid",)
    assert truth.find(3, ("my_kernel_v2<float>",)).axis == ("compute", "latency")
    assert truth.find(3, ("my_kernel",)).axis == ("latency",)
    assert truth.find(3, ("my_kernel_v2",)).work.flops == 1e9
    assert truth.find(3, ("other",)) is None
    assert list(truth.skipped) == ["pair"]
    assert truth.skips(9, ("pair_kernel",))


def test_a_measured_cause_comes_from_the_times(tmp_path):
    times = write(tmp_path, '{"cases": {"pair": {"dominant": "small_grid"}, "x": {}}}', "t.json")
    truth = read_truth(write(tmp_path, GOOD), AXES, dominant=read_dominant(times))
    found = truth.find(0, ("pair",), by_number=False)
    assert (found.cause, found.axis, truth.skipped) == (("small_grid",), ("latency",), {})


BAD = {
    "empty": ("", 1, "mapping"),
    "a list": ("- a\n", 1, "mapping"),
    "no cause": ("a: {healthy: true}\nb: {axis: memory}\n", 2, "neither a cause"),
    "no fields": ("a: {healthy: true}\nb: small_grid\n", 2, "truth entry"),
    "unknown symptom": ("a:\n  cause: [small_grids]\n", 2, "near: small_grid"),
    "unknown axis": ("a:\n  cause: [small_grid]\n  axis: memry\n", 3, "near: memory"),
    "healthy in words": ("a:\n  healthy: perhaps\n", 2, "not true or false"),
    "both": ("a:\n  healthy: true\n  cause: [small_grid]\n", 3, "healthy and has a cause"),
    "cause a mapping": ("a:\n  cause: {x: 1}\n", 2, "no list"),
    "measured without planted": ("a:\n  cause: measured\n", 2, "planted"),
    "bad work": ("a:\n  cause: [small_grid]\n  work: {flop: 1}\n", 3, "flop"),
    "negative launch": ("-1: {healthy: true}\n", 1, "launch number"),
    "twice": ("a: {healthy: true}\na: {healthy: true}\n", 2, "given twice"),
    "no yaml": ("a: [\n", 2, "YAML"),
    "a tag": ("a: !!python/object:os.system {}\n", 1, "tag"),
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_a_malformed_truth_file_is_refused_with_its_line(tmp_path, name):
    text, line, words = BAD[name]
    path = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read_truth(path, AXES)
    assert caught.value.where == f"{path}:{line}"
    assert words in caught.value.message
    assert caught.value.remedy


def test_a_measured_cause_that_was_not_planted_is_refused(tmp_path):
    with pytest.raises(InputError, match="planted are"):
        read_truth(write(tmp_path, GOOD), AXES, dominant={"pair": "fma_pipe_saturated"})


RECORDED = (
    '{"reports": [{"report": "x.ncu-rep", "csv": "x.raw.csv.gz", "launches": '
    '[{"index": 0, "id": "1", "case": "b"}, {"id": "2", "case": null}]}]}'
)


@pytest.mark.parametrize(
    ("text", "report", "case"),
    [
        ("{0: a, 1: b}", "x.ncu-rep", "b"),
        ("x.ncu-rep: {1: b}\ny.ncu-rep: {1: c}\n", "y.raw.csv", "c"),
        (RECORDED, "x.raw.csv", "b"),
    ],
)  # fmt: skip
def test_launch_maps(tmp_path, text, report, case):
    names = read_launches(write(tmp_path, text))
    assert names.case(Path(report), 1, alone=False) == case
    assert names.case(Path(report), 7, alone=False) is None


@pytest.mark.parametrize("text", ["", "[1]", "{x: y}", "{²: a}", "{0: [1]}", '{"reports": [{}]}'])
def test_a_malformed_launch_map_is_refused(tmp_path, text):
    with pytest.raises(InputError) as caught:
        read_launches(write(tmp_path, text))
    assert ":1" in caught.value.where


# ---------------------------------------------------------------- command line
def test_the_shipped_report(kbs, report):
    ran = kbs("eval", "diagnose", report, TRUTH, "--json")
    assert ran.code == 0, ran.err
    found = ran.json
    assert found["counts"] == {"kernels": 5, "faulty": 2, "healthy": 3}
    for name in PREDICTORS:
        assert set(found[name]) == {"top1", "top3", "axis", "false_alarms"}
    assert found["ours"] == {"top1": 1.0, "top3": 1.0, "axis": 1.0, "false_alarms": 0}
    assert found["ours"]["top1"] > found["vendor"]["top1"]
    first = found["cases"][1]
    assert first["kernel"] == "t02_matmul_small_tiles_no_pipeline"
    assert first["ours"][0]["id"] == "tensor_pipe_underfed"
    assert (first["hit1"], first["hit3"], first["axis_hit"], first["alarm"]) == (
        True, True, True, None,
    )  # fmt: skip
    assert found["cases"][0]["alarm"] is False


def test_the_table(kbs, report):
    ran = kbs("-v", "eval", "diagnose", report, TRUTH)
    assert ran.code == 0, ran.err
    assert "2 faulty kernels, 3 healthy" in ran.out
    assert "Nsight first rule" in ran.out
    assert "right: t03_layernorm_two_pass_small_block" in ran.out


def test_work_of_the_truth_takes_the_place_of_the_sidecar(kbs, report, tmp_path):
    alone = tmp_path / "alone.ncu-rep"
    alone.write_bytes(report.read_bytes())
    work = "{kernel: normalization, dtype: bf16, bytes_in: 67108864, bytes_out: 67108864}"
    truth = write(tmp_path, f"2: {{cause: [excess_dram_traffic], work: {work}}}\n")
    common = ("eval", "diagnose", alone, truth, "--allow-missing", "--json")
    with_work = kbs(*common).json
    without = kbs(*common, "--without-work").json
    assert with_work["ours"]["top1"] == 1.0
    assert without["ours"]["top1"] == 0.0
    assert "4 launches have no label" in with_work["notes"][0]


def test_what_has_no_partner_is_an_error(kbs, report, tmp_path):
    truth = write(tmp_path, "0: {healthy: true}\nno_such_kernel: {healthy: true}\n")
    ran = kbs("eval", "diagnose", report, truth, "--json")
    assert ran.code == 2
    assert "4 launches have no label" in ran.error["message"]
    assert "no_such_kernel" in ran.error["message"]
    assert "--allow-missing" in ran.error["remedy"]
    ran = kbs("eval", "diagnose", report, truth, "--json", "--allow-missing")
    assert ran.code == 0
    assert ran.json["counts"]["kernels"] == 1


def test_launches_by_case_name(kbs, report, tmp_path):
    names = write(tmp_path, "{0: one, 1: two, 2: three, 3: four, 4: five}", "launches.yaml")
    truth = write(
        tmp_path,
        "two: {cause: [tensor_pipe_underfed]}\nthree: {cause: [excess_dram_traffic]}\n"
        "one: {healthy: true}\nfour: {healthy: true}\nfive: {healthy: true}\n",
    )
    ran = kbs("eval", "diagnose", report, truth, "--launches", names, "--json")
    assert ran.code == 0, ran.err
    assert ran.json["ours"]["top1"] == 1.0
    assert ran.json["cases"][1]["kernel"] == "two"


def test_errors_of_the_files_reach_the_user(kbs, report, tmp_path):
    truth = write(tmp_path, "a:\n  cause: [small_grids]\n")
    ran = kbs("eval", "diagnose", report, truth, "--json")
    assert ran.code == 2
    assert ran.error["where"] == f"{truth}:2"
    ran = kbs("eval", "diagnose", report, tmp_path / "none.yaml", "--json")
    assert ran.code == 2
    assert "no such file" in ran.error["message"]

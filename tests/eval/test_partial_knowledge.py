"""Words and numbers of any origin: what is understood, what is denied, what stays unknown."""

from __future__ import annotations

import pytest

from kbs.partial import Advisor, Asked, pairs
from kbs_engine.errors import UsageError
from kbs_engine.partial_words import family_of, language_of
from kbs_engine.single_numbers import clues_from_numbers
from kbs_engine.situation import Situation
from kbs_engine.symptom_words import _CUES, read_cues
from kbs_ingest.loose_metrics import understand_metrics
from kbs_ingest.metric_aliases import ALIASES


def test_every_cue_and_alias_leads_to_something_known(wiki):
    assert _CUES.keys() <= wiki.rules.keys()
    names = {name for one in wiki.metric_maps.values() for name in one.metrics}
    targets = {target for target, _ in ALIASES.values()}
    assert targets - names == {"kernel_count", "warp_execution_efficiency_pct"}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("8-way bank conflicts on the shared tile", {"shared_bank_conflicts"}),
        ("registers spill to local memory", {"register_spills"}),
        ("uncoalesced stores", {"uncoalesced_global_load", "uncoalesced_global_store"}),
        ("the tensor cores are idle", {"tensor_cores_idle"}),
        ("wave quantization leaves a tail", {"tail_effect"}),
        ("no bank conflicts, no spilling", set()),
        ("conflict-free access; bank conflicts are zero", set()),
        ("", set()),
    ],
)
def test_words(text, named):
    assert set(read_cues(text).named) == named


def test_what_a_text_denies_is_kept():
    assert read_cues("occupancy is fine and there are no bank conflicts").denied >= {
        "shared_bank_conflicts"
    }


@pytest.mark.parametrize(
    ("text", "at_roof"),
    [
        ("already at 93 % of peak bandwidth", True),
        ("within noise, close to the roofline", True),
        ("reaches 30 % of peak", False),
        ("not close to the roofline", False),
    ],
)
def test_at_the_roof(text, at_roof):
    assert read_cues(text).at_roof is at_roof


@pytest.mark.parametrize(
    ("words", "family"),
    [
        ("gemm", "gemm"), ("matmul", "gemm"), ("layernorm", "normalization"),
        ("flash attention decode", "attention_decode"), ("MoE grouped GEMM", "grouped_gemm"),
        ("spmv_csr", "sparse"), ("conv2d", "convolution"), ("other", None), ("", None),
        ("my_kernel", None),
    ],
)  # fmt: skip
def test_families(words, family):
    assert family_of(words) == family


@pytest.mark.parametrize(
    ("words", "language"),
    [
        ("cuda", "cuda-cpp"), ("CUDA C++", "cuda-cpp"), ("Triton", "triton"), ("", None),
        ("cute-dsl", "cute-dsl"), ("ROCm HIP", "hip"), ("opencl", None), ("other", None),
    ],
)  # fmt: skip
def test_languages(words, language):
    assert language_of(words) == language


@pytest.mark.parametrize(
    ("name", "value", "metric", "expected"),
    [
        ("dram_pct", 85, "dram_pct", 85),
        ("gpu__time_duration.sum", "12 us", "duration_ns", 12_000),
        ("Achieved Occupancy", "41.5 %", "achieved_occupancy_pct", 41.5),
        ("achieved_occupancy", 0.415, "achieved_occupancy_pct", 41.5),
        ("occupancy_pct", 0.5, "achieved_occupancy_pct", 0.5),
        ("memory_sol_pct", 91, "memory_pct", 91),
        ("latency_ms", 2, "duration_ns", 2e6),
        ("gld_efficiency", "22.92%", "load_bytes_per_sector_pct", 22.92),
        ("warp_execution_efficiency", "50%", "threads_per_instruction", 16),
        ("smem_kb", 96, "shared_bytes_per_block", 98304),
        ("Stall Long Scoreboard", 14.1, "stall_long_scoreboard", 14.1),
        ("smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", 3.5,
         "stall_barrier", 3.5),
        ("VALUUtilization", 60, "lane_utilization_pct", 60),
        ("L2 hit rate", "38%", "l2_hit_pct", 38),
    ],
)  # fmt: skip
def test_names_of_any_profiler(wiki, name, value, metric, expected):
    found = understand_metrics({name: value}, list(wiki.metric_maps.values())[::-1])
    assert found.metrics.get(metric) == pytest.approx(expected)


def test_a_name_that_was_guessed_is_told_and_an_unknown_one_stays_words(wiki):
    maps = [wiki.metric_maps["nvidia"], wiki.metric_maps["amd"]]
    found = understand_metrics({"memory_sol_pct": 91, "frobnication": 7, "x": "n/a"}, maps)
    assert found.metrics == {"memory_pct": 91}
    assert found.notes == (
        "memory_sol_pct is read as memory_pct = 91",
        "frobnication is no metric that is known; taken as words",
    )
    assert found.words == "frobnication 7"


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("dram_pct", "500", "dram_pct is 500 %, above 100 %; not used"),
        ("dram_pct", "-5", "dram_pct is negative (-5); not used"),
        ("memory_sol_pct", "500 %", "memory_pct is 500 %, above 100 %; not used"),
        ("warp_execution_efficiency", "500%", "warp_execution_efficiency is 500 %"),
        ("registers_per_thread", "-3", "registers_per_thread is negative (-3); not used"),
        ("dram_pct", "much", "dram_pct: much is no number; taken as words"),
        ("dram_pct", "\uff11\uff12", "is no number; taken as words"),
        ("foo", "1", "foo is no metric that is known; taken as words"),
        ("dram_pct", float("inf"), "dram_pct is not finite: taken as not measured"),
    ],
)
def test_what_cannot_be_used_is_told_and_not_used(wiki, name, value, told):
    found = understand_metrics({name: value}, [wiki.metric_maps["nvidia"], wiki.metric_maps["amd"]])
    assert found.metrics == {}
    assert any(told in note for note in found.notes), found.notes


def test_a_little_over_a_hundred_percent_is_replay_and_stays(wiki):
    found = understand_metrics({"dram_pct": "104"}, [wiki.metric_maps["nvidia"]])
    assert found.metrics == {"dram_pct": 104.0}


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e400", "1e400 %", "NaN%"])
def test_a_number_that_is_none_is_refused(value):
    with pytest.raises(UsageError, match="not a finite number"):
        pairs([f"dram_pct={value}"])
    assert pairs(["dram_pct=85 %", "x=n/a"]) == {"dram_pct": "85 %", "x": "n/a"}


def test_vendor_counters_make_ratios(wiki):
    counters = {
        "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": 3.2e7,
        "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": 1e6,
    }
    found = understand_metrics(counters, [wiki.metric_maps["nvidia"]])
    assert found.metrics["store_sectors_per_request"] == 32


def test_a_share_of_warp_cycles_is_not_read_as_cycles(wiki):
    found = understand_metrics({"stall_long_scoreboard_pct": 62}, [wiki.metric_maps["nvidia"]])
    assert found.metrics == {}
    assert found.words == "stall long scoreboard 62%"


def test_single_numbers():
    found = clues_from_numbers({"store_sectors_per_request": 32, "registers_per_thread": 40}, None)
    assert [clue.symptom for clue in found] == ["uncoalesced_global_store"]
    assert clues_from_numbers({"tensor_pct": 0.0}, "gemm")[0].symptom == "tensor_cores_idle"
    assert clues_from_numbers({"tensor_pct": 0.0}, "softmax") == ()
    assert clues_from_numbers({}, None) == ()


def diagnose(store, **asked):
    return Advisor(store).ask(Asked(**asked))[0].diagnosis


def test_a_rule_that_was_asked_outweighs_words(store):
    words = diagnose(store, text="DRAM bandwidth bound")
    share = {cause.id: cause.recoverable for cause in words.causes}
    asked = diagnose(store, text="DRAM bandwidth bound", metrics={"dram_pct": 12.0})
    less = {cause.id: cause.recoverable for cause in (*asked.causes, *asked.effects)}
    assert less["dram_bandwidth_saturated"] < 0.5 * share["dram_bandwidth_saturated"]


def test_assumed_shares_say_so(store):
    found = diagnose(store, text="8-way bank conflicts")
    assert all("share assumed" in cause.message for cause in found.causes)
    assert any("assumed" in flag for flag in found.flags)
    assert found.not_measurable == ()
    assert diagnose(store, metrics={"dram_pct": 12.0}).not_measurable != ()


def test_a_gpu_of_several_form_factors_gives_its_architecture_alone(store):
    chip = Advisor(store).ask(Asked(text="bank conflicts", situation=Situation(chip_name="H100")))
    assert chip[0].chip.arch == "sm_90a"
    assert chip[0].chip.specs == ()
    assert any("only the architecture" in flag for flag in chip[0].diagnosis.flags)
    none = Advisor(store).ask(Asked(text="spills", situation=Situation(chip_name="Voodoo 2")))
    assert none[0].chip is None


def test_a_bandwidth_is_held_against_the_cited_one(store):
    near = Situation(chip_name="h100_sxm")
    found = diagnose(store, metrics={"dram_bytes_per_s": 3.2e12}, situation=near)
    assert found.metrics["dram_pct"] == pytest.approx(100 * 3.2e12 / 3.35e12, rel=0.01)
    assert any("dram_pct is dram_bytes_per_s" in flag for flag in found.flags)
    beyond = diagnose(store, metrics={"dram_bytes_per_s": 9e12}, situation=near)
    assert "dram_pct" not in beyond.metrics


def test_words_bring_hints_and_a_roof_lowers_them(store):
    words = "each block walks the whole key/value cache serially in decode attention"
    far = Advisor(store).ask(Asked(text=words, kernel="attention decode"))
    near = Advisor(store).ask(Asked(text=f"{words}; already at 93 % of peak", kernel="attention"))
    assert max(far.hints, key=lambda name: far.hints[name].share) == "split_kv"
    assert near.hints["split_kv"].share < 0.2 * far.hints["split_kv"].share
    assert Advisor(store).ask(Asked(metrics={"dram_pct": 12.0})).hints == {}


def test_recommend_from_words_and_numbers(kbs):
    ran = kbs(
        "recommend", "--text", "8-way bank conflicts in the shared tile", "--metric",
        "Achieved Occupancy=70 %", "--chip", "h100_sxm", "--language", "cuda", "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    first = ran.json["kernels"][0]["recommendations"][0]
    assert first["method"] in ("smem_padding", "smem_swizzle")
    assert 0 < first["hint"]["pages"] <= 1


@pytest.mark.parametrize("bad", ["dram_pct", "=3", "dram_pct="])
def test_a_metric_without_name_or_value_is_refused(kbs, bad):
    ran = kbs("recommend", "--metric", bad, "--json")
    assert ran.code == 2
    assert "NAME=VALUE" in ran.error["message"]


def test_words_beside_a_report_are_refused(kbs, report):
    ran = kbs("recommend", report, "--text", "slow", "--json")
    assert ran.code == 2
    assert "without a report" in ran.error["message"]


@pytest.mark.parametrize("told", [{"duration_ns": -5}, {"time_ms": "-5"}, {"latency_us": 0}])
def test_a_told_duration_that_is_none_is_not_known(wiki, told):
    found = understand_metrics(told, list(wiki.metric_maps.values())[::-1])
    assert "duration_ns" not in found.metrics
    assert any("no duration" in note for note in found.notes)

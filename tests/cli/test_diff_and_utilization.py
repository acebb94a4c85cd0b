"""kbs diff, kbs utilization, --plot and --source as a person or a program calls them."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET

import pytest

from tests.conftest import ROOT

SOURCES = ROOT / "tests/data/reports/h100_source_counters.ncu-rep"


def test_small_tiles_against_tuned_tiles_reads_sensibly(kbs, report):
    ran = kbs("diff", report, report, "--launch-a", 1, "--launch-b", 3, "--json")
    assert ran.code == 0, ran.err
    (row,) = ran.json["pairs"]
    terms = {term["id"]: term for term in row["terms"]}
    assert row["a"]["name"] == "t02_matmul_small_tiles_no_pipeline"
    assert row["speed_ratio"] == pytest.approx(1558816 / 189824)
    total = sum(term["log"] for term in row["terms"]) + row["unexplained"]["log"]
    assert total == pytest.approx(math.log(row["speed_ratio"]))
    assert abs(row["unexplained"]["log"]) < 0.02
    assert terms["clock"]["log"] == pytest.approx(math.log(1.6382 / 1.7981), abs=1e-3)
    assert terms["instructions"]["log"] > 0.5
    assert terms["traffic"]["log"] > 0.3
    assert "L1" in terms["traffic"]["words"]
    assert terms["stalls"]["log"] > 2
    assert terms["occupancy"]["log"] < -1
    assert terms["stalls"]["parts"][0]["id"] == "long_scoreboard"
    changes = {one["opcode"]: one["change"] for one in row["opcodes"]}
    assert changes["HMMA"] == "vanished"
    assert changes["HGMMA"] == changes["LDGSTS"] == "appeared"
    assert row["missing_sections"] == []


def test_diff_in_words(kbs_here, report):
    ran = kbs_here("diff", report, report, "--launch-a", 1, "--launch-b", 3)
    assert "B is 8.21 times as fast as A" in ran.out
    for words in (
        "SM clock: 1.798 GHz -> 1.638 GHz",
        "unexplained",
        "opcodes that appeared: LDGSTS",
        "traffic at the limiting level (L1): 8.623 GB -> 1.644 GB",
        "long_scoreboard",
    ):
        assert words in ran.out
    back = kbs_here("diff", report, report, "--launch-a", 3, "--launch-b", 1)
    assert "B is 8.21 times as slow as A" in back.out


def test_a_report_against_itself_is_pairwise_and_zero(kbs_here, report):
    ran = kbs_here("diff", report, report, "--json")
    rows = ran.json["pairs"]
    assert len(rows) == 5
    for row in rows:
        assert row["speed_ratio"] == 1.0
        assert all(term["log"] == 0 for term in row["terms"])
        assert row["opcodes"] == []
    assert "the same time" in kbs_here("diff", report, report, "--launch-a", 0, "--launch-b", 0).out


def test_unequal_counts_are_summed_as_one_call(kbs_here, report):
    ran = kbs_here(
        "diff", report, report, "--launch-a", 0, "--launch-a", 2, "--launch-b", 3, "--json"
    )
    (row,) = ran.json["pairs"]
    assert row["a"]["launches"] == [0, 2]
    assert row["a"]["time_ns"] == pytest.approx(41184 + 95040)
    both = kbs_here("diff", report, report, "--name", "matmul", "--one-call", "--json").json[
        "pairs"
    ]
    assert len(both) == 1
    assert both[0]["log_speed_ratio"] == 0


def test_diff_names_the_sections_that_are_missing(kbs_here, report, tmp_path):
    bare = tmp_path / "bare.csv"
    bare.write_text(
        '"ID","Process ID","Process Name","Host Name","Kernel Name","gpu__time_duration.sum"\n'
        '"","","","","","ns"\n"0","1","a","h","k","100"\n'
    )
    ran = kbs_here("diff", bare, report, "--launch-b", 0)
    assert ran.code == 0, ran.err
    assert "unexplained" in ran.out
    assert "--section WarpStateStats" in ran.out


def test_diff_refuses_a_launch_that_is_not_there(kbs_here, report):
    ran = kbs_here("diff", report, report, "--launch-a", 99, "--json")
    assert ran.code == 2
    assert "t04_matmul_tuned" in ran.error["remedy"]


TUNED = ("utilization", "--chip", "h100_sxm", "--block", 256, "--registers", 195,
         "--shared", 147456)  # fmt: skip


def test_utilization_of_the_tuned_gemm(kbs_here):
    ran = kbs_here(*TUNED, "--tile", "M=128,N=256,K=64", "--dims", "M=4096,N=4096,K=4096",
              "--dtype", "bf16", "--kernel-time-ns", 189824, "--json")  # fmt: skip
    assert ran.code == 0, ran.err
    row = ran.json
    assert row["grid"] == 512
    assert row["occupancy"]["occupancy_pct"] == 12.5
    assert set(row["occupancy"]["binding"]) == {"registers", "shared"}
    assert row["tail"]["waves"] == pytest.approx(512 / 132)
    assert row["tail"]["rounds"] == 4
    assert row["tile"]["kernel_ns"] == pytest.approx(143_258, rel=1e-3)
    assert row["tile"]["share"] == pytest.approx(0.755, abs=1e-3)


def test_the_call_that_the_docs_print_is_one(kbs_here):
    text = (ROOT / "docs/cli.md").read_text()
    printed = re.search(r"`kbs (utilization [^`]*)`", text)[1]
    ran = kbs_here(*printed.replace("GPU", "h100_sxm").replace(" N", " 64").split())
    assert ran.code == 0, ran.err


def test_utilization_cites_every_limit(kbs_here):
    ran = kbs_here(*TUNED, "--grid", 512)
    assert ran.code == 0
    assert "occupancy: 1 blocks, 8 warps per SM, 12.5 %" in ran.out
    assert ran.out.count("<- gpu-wiki/hardware/nvidia/") == 14


def test_a_block_that_does_not_fit_is_exit_1(kbs_here):
    ran = kbs_here("utilization", "--chip", "h100_sxm", "--grid", 1, "--block", 256,
                   "--registers", 64, "--shared", 300000)  # fmt: skip
    assert ran.code == 1
    assert "does not fit: 300000 bytes of shared memory per block, the limit is 232448" in ran.out


def test_unknown_limits_are_exit_0_and_never_guessed(kbs_here):
    ran = kbs_here(
        "utilization", "--chip", "rtx_5090", "--grid", 100, "--block", 256, "--registers", 64
    )
    assert ran.code == 0
    assert "register_alloc_unit: UNKNOWN (gpu-wiki not found)" in ran.out
    assert "occupancy: UNKNOWN" in ran.out
    assert "waves: UNKNOWN" in ran.out


@pytest.mark.parametrize(
    "more",
    [
        (),
        ("--grid", 1, "--tile", "M=1,N=1,K=1"),
        ("--grid", 1, "--dtype", "bf16"),
        ("--tile", "M=1,N=1", "--dims", "M=1,N=1,K=1", "--dtype", "bf16"),
        ("--tile", "M=0,N=1,K=1", "--dims", "M=1,N=1,K=1", "--dtype", "bf16"),
        ("--tile", "M=1,M=2,N=1,K=1", "--dims", "M=1,N=1,K=1", "--dtype", "bf16"),
        ("--tile", "M=1,N=1,K=1;rm", "--dims", "M=1,N=1,K=1", "--dtype", "bf16"),
    ],
)
def test_half_a_question_is_wrong_usage(kbs_here, more):
    ran = kbs_here(*TUNED, *more)
    assert ran.code == 2
    assert ran.out == ""
    assert "Traceback" not in ran.err


def test_an_unknown_chip_is_refused(kbs_here):
    ran = kbs_here("utilization", "--chip", "h999", "--grid", 1, "--block", 32, "--registers", 32)
    assert ran.code == 1


@pytest.mark.parametrize("command", ["roofline", "diagnose"])
def test_plot_writes_an_svg_and_leaves_json_alone(kbs_here, report, tmp_path, command):
    path = tmp_path / "roof.svg"
    ran = kbs_here(command, report, "--plot", path, "--json")
    assert ran.code == 0, ran.err
    assert len(ran.json["kernels"]) == 5
    assert str(path) in ran.err
    texts = [text.text or "" for text in ET.parse(path).getroot().iter() if text.text]
    assert any("<- gpu-wiki/hardware/nvidia/h100_sxm.md:L" in text for text in texts)
    assert any("FLOPs not known, drawn as bandwidth only" in text for text in texts)


def test_plot_of_a_task_and_of_a_folder_that_is_not_there(kbs_here, tmp_path):
    task = ("roofline", "--chip", "h100_sxm", "--kernel", "gemm", "--dtype", "bf16", "--flops",
            1e9, "--bytes-in", 1e6, "--bytes-out", 1e6, "--time-ns", 5000)  # fmt: skip
    assert kbs_here(*task, "--plot", tmp_path / "a.svg").code == 0
    assert (tmp_path / "a.svg").read_text().startswith("<svg")
    ran = kbs_here(*task, "--plot", tmp_path / "no/where.svg", "--json")
    assert ran.code == 2
    assert ran.error["remedy"]


def test_source_lines_of_a_recorded_report(kbs_here):
    ran = kbs_here("diagnose", SOURCES, "--source", "--json")
    assert ran.code == 0, ran.err
    kernels = ran.json["kernels"]
    found = {
        kernel["name"].split("(")[0]: {row["cause"]: row for row in kernel["guilty_lines"]}
        for kernel in kernels
    }
    assert found["store_by_column"]["uncoalesced_global_store"]["line"] == 16
    assert found["load_with_stride"]["uncoalesced_global_load"]["line"] == 21
    assert found["read_shared_by_column"]["shared_bank_conflicts"]["line"] == 35
    line = kernels[2]["lines"][0]
    assert {"file", "line", "text", "values", "shares", "instructions"} <= set(line)
    assert line["instructions"][0]["sass"]
    assert kernels[0]["source_note"] == ""
    text = kbs_here("diagnose", SOURCES, "--source").out
    assert "Guilty lines" in text
    assert "// fault: a column, 32 threads on one bank" in text


@pytest.mark.parametrize("form", ["ncu-rep", "raw.csv"])
def test_source_counters_that_were_not_collected_are_told(kbs_here, report, form):
    path = report.with_name(f"h100_triton_torch.{form}")
    ran = kbs_here("diagnose", path, "--source", "--launch", 1)
    assert ran.code == 0
    assert "not collected; ncu --section SourceCounters --import-source yes would" in ran.out
    row = kbs_here("diagnose", path, "--source", "--launch", 1, "--json").json["kernels"][0]
    assert row["lines"] == row["guilty_lines"] == []
    assert row["source_note"].startswith("source counters: not collected")


COUNTERS = ("gpu__time_duration.sum", "sm__cycles_elapsed.avg.per_second",
            "smsp__inst_issued.sum", "smsp__inst_executed.sum")  # fmt: skip


def _raw(path, *cells):
    named = ",".join(f'"{name}"' for name in COUNTERS)
    valued = ",".join(f'"{cell}"' for cell in cells)
    path.write_text(
        f'"ID","Process ID","Process Name","Host Name","Kernel Name",{named}\n'
        f'"","","","","","ns","hz","inst","inst"\n"0","1","a","h","k",{valued}\n'
    )
    return path


@pytest.mark.parametrize("time", ["-5", "0"])
def test_a_time_that_is_none_makes_no_ratio_no_sentence_and_no_rank(kbs_here, tmp_path, time):
    bad = _raw(tmp_path / "bad.csv", time, 1e9, 10, 10)
    good = _raw(tmp_path / "good.csv", 5000, 1e9, 10, 10)
    ran = kbs_here("diff", bad, good)
    assert ran.code == 2
    assert "has no duration" in ran.err
    told = kbs_here("diagnose", bad, "--chip", "h100_sxm")
    assert told.code == 0, told.err
    assert "time unknown" in told.out
    assert "taken as not measured" in told.out
    assert "about as long as launching" not in told.out
    assert "of the profiled time" not in told.out


def test_a_negative_counter_is_no_side_of_a_ratio(kbs_here, tmp_path):
    good = _raw(tmp_path / "good.csv", 5000, 1e9, 10, 10)
    for at in range(1, len(COUNTERS)):
        cells = [5000, 1e9, 10, 10]
        cells[at] = -cells[at]
        ran = kbs_here("diff", _raw(tmp_path / "bad.csv", *cells), good)
        assert ran.code == 0, ran.err

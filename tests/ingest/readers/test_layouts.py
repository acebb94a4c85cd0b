"""Exports of the releases of 2019 to 2025, in the layouts in which they occur in public."""

from __future__ import annotations

import pytest

from kbs_ingest.readers.ncu_text import CUT
from tests.ingest.readers import layouts as L  # noqa: N812


def test_details_of_2020(one):
    profile = one(L.DETAILS_2020)
    assert profile.metrics == pytest.approx(
        {
            "dram_clock_hz": 768683274.02, "cycles_elapsed": 10251,
            "sm_clock_hz": 1138271055.75, "memory_pct": 46.47, "compute_pct": 12.71,
            "dram_pct": 45.0, "l1_pct": 16.39, "l2_pct": 31.08, "duration_ns": 8992,
            "registers_per_thread": 16, "grid_size": 1024, "achieved_occupancy_pct": 87.88,
        }
    )  # fmt: skip
    assert profile.compute_capability is None
    assert profile.name == "saxpy(int, float*)"


def test_details_of_2023_with_noise_rules_and_short_rows(one):
    profile = one(L.DETAILS_2023)
    assert profile.metrics["dram_clock_hz"] == pytest.approx(1.21e9)
    assert profile.metrics["sm_clock_hz"] == pytest.approx(581.85e6)
    assert profile.metrics["duration_ns"] == pytest.approx(764100)
    assert profile.metrics["memory_pct"] == 89.74
    assert profile.metrics["dram_bytes_per_s"] == pytest.approx(272.10e9)
    assert profile.metrics["block_size"] == 128
    (rule,) = profile.vendor_rules
    assert (rule.rule, rule.estimated_speedup_pct, rule.scope) == ("SOLBottleneck", 12.5, "global")
    assert rule.title == "Memory is more heavily utilized than Compute"


def test_rule_columns_without_a_speedup(one):
    text = L.lines(
        L.OLD_HEADER + L.RULES,
        L.old("SpeedOfLight", "", "", "") + ',"SOLBottleneck","WRN","Low utilization."',
        L.old(L.SOL, "Duration", "usecond", "2.50") + ",",
    )
    (rule,) = one(text).vendor_rules
    assert rule.estimated_speedup_pct is None


def test_nvtx_columns_between_are_found_by_name(one):
    header = L.NEW_HEADER.replace(
        '"Kernel Name"',
        '"thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",'
        '"Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg","Kernel Name"',
    )
    row = L.new(L.SOLT, "Duration", "us", "2.50")
    row = row.replace('"127.0.0.1",', '"127.0.0.1","layer, 1:none:none:none","",')
    profile = one(L.lines(header, row))
    assert profile.name == "saxpy(int, float*)"
    assert profile.metrics["duration_ns"] == 2500


def test_metric_names_in_place_of_labels(one):
    text = L.lines(
        L.NEW_HEADER,
        L.new("Command line profiler metrics", "dram__bytes_read.sum", "Mbyte", "67.12"),
        L.new("Command line profiler metrics", "gpu__time_duration.sum", "second", "4.0e-05"),
    )
    metrics = one(text).metrics
    assert metrics["dram_read_bytes"] == pytest.approx(67.12e6)
    assert metrics["duration_ns"] == pytest.approx(40000)


def test_few_columns_are_enough(one):
    text = L.lines(
        "==PROF== Connected to process 4711",
        '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"',
        '"0","kernel_deadbeef","gpu__time_duration.sum","ns","12,345.60"',
        '"0","kernel_deadbeef","sm__throughput.avg.pct_of_peak_sustained_elapsed","%","n/a"',
    )
    profile = one(text)
    assert profile.metrics == {"duration_ns": 12345.6}


def test_unit_changes_between_launches(read_text):
    text = L.lines(
        L.NEW_HEADER,
        L.new(L.SOLT, "Duration", "us", "95.04"),
        L.new(L.SOLT, "Duration", "ms", "1.56", launch="1"),
        L.new(L.SOLT, "Duration", "ns", "880.50", launch="2"),
    )
    times = [one.metrics["duration_ns"] for one in read_text(text).profiles]
    assert times == pytest.approx([95040, 1.56e6, 880.5])


def test_several_processes_with_the_same_ids(read_text):
    text = L.lines(
        L.NEW_HEADER,
        L.new(L.SOLT, "Duration", "us", "2.50", pid="1"),
        "worker 2 starts here",
        L.NEW_HEADER,
        L.new(L.SOLT, "Duration", "us", "7.50", pid="2"),
    )
    report = read_text(text)
    assert [(one.launch, one.metrics["duration_ns"]) for one in report.profiles] == [
        (0, 2500), (1, 7500)]  # fmt: skip
    assert "more than once" in report.profiles[0].flags[0]


def test_output_of_the_program_between_rows(read_text):
    text = L.lines(
        'loss "0.5',
        L.NEW_HEADER,
        L.new(L.SOLT, "Duration", "us", "2.50"),
        "step,loss,time,rate,lr,mem,a,b",
        "10,0.25,3,4,5,6,7,8",
        '==PROF== Profiling "saxpy" - 1: 0%....50%....100% - 3 passes',
        "progress 10 %" + L.new(L.SOLT, "Duration", "us", "3.50", launch="1"),
    )
    assert len(read_text(text).profiles) == 2


def test_raw_page_of_2024(read_text):
    columns = [
        ("dram__bytes_read.sum", "byte"), ("gpu__time_duration.sum", "nsecond"),
        ("sm__throughput.avg.pct_of_peak_sustained_elapsed", "%"),
    ]  # fmt: skip
    text = "==PROF== Connected to process 1\n" + L.raw(
        columns, ["2,000,000,000", "2,000,000", "30.0"], ["4096", "3,000", "nan"]
    )
    first, second = read_text(text).profiles
    assert first.metrics["dram_read_bytes"] == 2e9
    assert first.metrics["duration_ns"] == 2e6
    assert first.metrics["grid_size"] == 4096
    assert second.metrics["dram_read_bytes"] == 4096
    assert "compute_pct" not in second.metrics


def test_raw_page_without_units_leaves_out_what_has_a_unit(one):
    text = L.raw(
        [("gpu__time_duration.sum", ""), ("smsp__inst_executed.sum", "")], ["41.18", "8192"]
    )
    text = "\n".join(line for number, line in enumerate(text.splitlines()) if number != 1)
    profile = one(text)
    assert "duration_ns" not in profile.metrics
    assert profile.metrics["inst_executed"] == 8192
    assert any("no row of units" in flag for flag in profile.flags)


def test_opcode_instances_in_a_raw_cell(one):
    cell = "8,192 (FADD: 4,096; HGMMA: 96; IMAD: 4,000)"
    profile = one(L.raw([("sass__inst_executed_per_opcode", "inst")], [cell]))
    assert profile.metrics["opcode_FADD"] == 4096
    assert profile.metrics["opcode_total"] == 8192
    assert profile.metrics["tensor_ops"] == 96
    assert profile.metrics["fp64_ops"] == 0


def test_unknown_unit_is_flagged_and_left_out(one):
    profile = one(L.raw([("dram__bytes_read.sum", "Kibyte")], ["67.12"]))
    assert "dram_read_bytes" not in profile.metrics
    assert "Kibyte" in profile.flags[0]


def test_unit_that_does_not_fit_is_flagged_and_left_out(one):
    profile = one(L.raw([("gpu__time_duration.sum", "byte")], ["67.12"]))
    assert "duration_ns" not in profile.metrics
    assert "does not fit" in profile.flags[0]


def test_impossible_percentage_is_kept_and_flagged(one):
    name = "sm__warps_active.avg.pct_of_peak_sustained_active"
    profile = one(L.raw([(name, "%")], ["131.50"]))
    assert profile.metrics["achieved_occupancy_pct"] == 131.5
    assert any("above 100 %" in flag for flag in profile.flags)


@pytest.mark.parametrize("cell", ["n/a", "nan", "inf", "-inf", "", "no data", "(!) n/a", "-nan"])
def test_what_is_not_measured_is_absent(one, cell):
    text = L.raw([("dram__bytes_read.sum", "byte"), ("smsp__inst_executed.sum", "")], [cell, "1"])
    assert "dram_read_bytes" not in one(text).metrics


def test_text_of_2020(read_text):
    report = read_text(L.TEXT_2020)
    (profile,) = report.profiles
    assert report.format == "ncu-text"
    assert profile.name == "saxpy(int, float*)"
    assert profile.metrics == pytest.approx(
        {
            "dram_clock_hz": 1.21e9, "sm_clock_hz": 763.55e6, "cycles_elapsed": 2184141,
            "memory_pct": 91.78, "dram_pct": 9.08, "duration_ns": 2.86e6, "compute_pct": 41.95,
            "block_size": 256, "waves_per_sm": 3.45,
        }
    )  # fmt: skip
    assert profile.vendor_rules[0].message.endswith("to another unit.")


def test_text_of_command_line_metrics(one):
    profile = one(L.TEXT_METRICS)
    assert profile.name == "void cask__5x_cudnn::offsets<(bool)0, (bool)0>(cask__5x_cudnn::Params)"
    assert profile.metrics["dram_read_bytes"] == pytest.approx(26620)
    assert profile.metrics["load_sectors_per_request"] == 4
    assert "inst_executed" not in profile.metrics
    assert profile.compute_capability == "7.0"


def test_summary_pages_are_averages_and_say_so(read_text):
    report = read_text(L.SUMMARY)
    assert report.format == "ncu-summary-csv"
    first, second = report.profiles
    assert first.metrics["duration_ns"] == 2250
    assert first.metrics["achieved_occupancy_pct"] == 74.92
    assert second.metrics["duration_ns"] == 2.25e6
    assert "averages over 14 launches" in first.flags[0]


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: text.encode("utf-16"),
        lambda text: b"\xff\xfe" + text.encode("utf-16-le"),
        lambda text: text.encode("utf-16-le"),
        lambda text: text.encode("utf-16-be"),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.replace("\n", "\r").encode(),
        lambda text: text.encode() + b"\0\0",
        lambda text: text.replace("app", "\xe4pp").encode("latin-1"),
    ],
    ids=["bom", "utf16", "utf16le-bom", "utf16le", "utf16be", "crlf", "cr", "nul", "latin1"],
)
def test_encodings_and_line_ends(read_text, encode):
    for text in (L.DETAILS_2020, L.TEXT_2020, L.raw([("dram__bytes_read.sum", "byte")], ["1.5"])):
        assert read_text(encode(text)).profiles[0].metrics == read_text(text).profiles[0].metrics


def test_semicolons_as_some_spreadsheets_save(one):
    text = L.DETAILS_2020.replace('","', '";"')
    assert one(text).metrics["duration_ns"] == 8992


def test_saved_again_without_quotes(one):
    text = (
        "ID,Kernel Name,Section Name,Metric Name,Metric Unit,Metric Value\n"
        "0,saxpy,GPU Speed Of Light Throughput,Duration,us,2.5\n"
    )
    assert one(text).metrics["duration_ns"] == 2500


def test_older_reports_give_pipe_shares_from_active_cycles(one):
    pipe = "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active"
    text = L.raw(
        [(pipe, "%"), ("sm__cycles_active.avg", "cycle"), ("sm__cycles_elapsed.avg", "cycle")],
        ["50.0", "80.0", "100.0"],
    )
    profile = one(text)
    assert profile.metrics["alu_pct"] == pytest.approx(40)
    assert "worked out" in profile.flags[-1]


def test_bytes_stand_for_sectors(one):
    name = "l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum"
    assert one(L.raw([(name, "Kbyte")], ["64.0"])).metrics["local_load_bytes"] == 64000


@pytest.mark.parametrize("cell", ["-5", "0", "-0.0", "-1e300"])
def test_a_duration_that_is_not_positive_is_not_measured(one, cell):
    profile = one(L.raw([("gpu__time_duration.sum", "ms")], [cell]))
    assert "duration_ns" not in profile.metrics
    assert profile.time_ns is None
    assert any("no duration" in flag for flag in profile.flags)


def test_a_column_that_stands_twice_with_one_value_is_no_doubt(one):
    profile = one(L.raw([("dram__bytes_read.sum", "byte")] * 2, ["67", "67"]))
    assert profile.metrics["dram_read_bytes"] == 67


@pytest.mark.parametrize("share", [0.2, 0.4, 0.6, 0.8, 0.95])
def test_a_text_that_ends_in_a_table_or_a_line_is_doubted(shipped, read_text, share):
    text = shipped("details.txt").read_text()
    cut = read_text(text[: int(len(text) * share)]).profiles
    assert all(one.flags == () for one in cut[:-1])
    assert cut[-1].flags == (CUT,)


def test_a_text_that_ends_after_a_table_is_not(shipped, read_text):
    text = shipped("details.txt").read_text()
    parts = text.split("    Section: ")
    for count in (3, 6, 9):
        assert all(
            one.flags == () for one in read_text("    Section: ".join(parts[:count])).profiles
        )

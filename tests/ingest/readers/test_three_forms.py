"""The report file, its raw CSV, its details CSV and its text say the same."""

from __future__ import annotations

import csv

import pytest

from kbs_ingest.readers import read_report
from kbs_ingest.readers.vendor_units import parse_unit

NAMES = (
    "t01_softmax_row",
    "t02_matmul_small_tiles_no_pipeline",
    "t03_layernorm_two_pass_small_block",
    "t04_matmul_tuned",
    "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT",
)
FORMS = ("raw.csv", "details.csv", "details.txt")


@pytest.fixture(scope="module")
def reports(nvidia, shipped):
    return {form: read_report(shipped(form), nvidia) for form in ("ncu-rep", *FORMS)}


@pytest.mark.parametrize("form", ["ncu-rep", *FORMS])
def test_every_form_gives_the_same_five_launches(reports, form):
    profiles = reports[form].profiles
    assert tuple(one.name for one in profiles) == NAMES
    assert [one.launch for one in profiles] == [0, 1, 2, 3, 4]
    assert {one.compute_capability for one in profiles} == {"9.0"}
    assert all(one.flags == () for one in profiles)


def test_formats_are_named(reports):
    assert [reports[form].format for form in ("ncu-rep", *FORMS)] == [
        "ncu-rep", "ncu-raw-csv", "ncu-details-csv", "ncu-text"]  # fmt: skip


def test_the_device_is_named_where_the_form_has_it(reports):
    assert {one.chip for one in reports["ncu-rep"].profiles} == {"NVIDIA H100 80GB HBM3"}
    assert {one.chip for one in reports["raw.csv"].profiles} == {"NVIDIA H100 80GB HBM3"}
    assert {one.chip for one in reports["details.csv"].profiles} == {None}


def display_step(unit, decimals):
    """Half of the last printed digit, in base units."""
    parsed = parse_unit(unit)
    return 0.5 * 10.0**-decimals * parsed.factor


def raw_units(path):
    """Unit and printed decimals of each raw column and row."""
    rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    return [
        {
            name: (unit, len(cell.partition(".")[2]))
            for name, unit, cell in zip(rows[0], rows[1], row, strict=True)
        }
        for row in rows[2:]
    ]


def test_raw_csv_agrees_with_the_report_within_its_printed_digits(reports, nvidia, shipped):
    printed = raw_units(shipped("raw.csv"))
    compared = 0
    for truth, raw, units in zip(
        reports["ncu-rep"].profiles, reports["raw.csv"].profiles, printed, strict=True
    ):
        for name, value in raw.metrics.items():
            rule = nvidia.metrics[name]
            vendor = next((one for one in rule.names if one in units), None)
            if vendor is None:
                tolerance = 0.02 * abs(value) + 0.01
            else:
                tolerance = display_step(*units[vendor]) * abs(rule.scale)
            assert value == pytest.approx(truth.metrics[name], rel=1e-9, abs=tolerance), name
            compared += 1
    assert compared > 700


def test_raw_csv_lacks_nothing_but_the_opcode_mix(reports, nvidia):
    mix = {
        name for name, rule in nvidia.metrics.items()
        if any(term[0].startswith("opcode:") for term in rule.sum)
    }  # fmt: skip
    for truth, raw in zip(reports["ncu-rep"].profiles, reports["raw.csv"].profiles, strict=True):
        missing = truth.metrics.keys() - raw.metrics.keys()
        assert {one for one in missing if not one.startswith("opcode_")} == mix


@pytest.mark.parametrize("form", ["details.csv", "details.txt"])
def test_details_agree_with_the_report_within_two_decimals(reports, form, shipped):
    steps = details_steps(shipped("details.csv"))
    for truth, shown in zip(reports["ncu-rep"].profiles, reports[form].profiles, strict=True):
        assert len(shown.metrics) > 55
        for name, value in shown.metrics.items():
            step = max(steps[truth.launch].values()) if name == "dram_bytes_per_s" else None
            limit = step or 0.0051 * max(1.0, _scale(name, truth, steps))
            assert value == pytest.approx(truth.metrics[name], rel=1e-9, abs=limit), name


def _scale(name, profile, steps):
    """Factor of the unit in which the details page shows a metric."""
    labels = {
        "duration_ns": "Duration", "sm_clock_hz": "SM Frequency",
        "dram_clock_hz": "DRAM Frequency", "shared_config_bytes":
        "Shared Memory Configuration Size", "shared_dynamic_bytes":
        "Dynamic Shared Memory Per Block", "shared_driver_bytes":
        "Driver Shared Memory Per Block", "shared_bytes_per_block":
        "Driver Shared Memory Per Block",
    }  # fmt: skip
    factor = steps[profile.launch].get(labels.get(name, ""), 0.005) / 0.005
    return factor * (3 if name == "shared_bytes_per_block" else 1)


def details_steps(path):
    steps = {}
    for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
        unit = parse_unit(row["Metric Unit"])
        if row["Metric Name"] and unit:
            steps.setdefault(int(row["ID"]), {})[row["Metric Name"]] = 0.005 * unit.factor
    return steps


def test_kbyte_is_1000_bytes(reports):
    assert reports["ncu-rep"].profiles[0].metrics["shared_bytes_per_block"] == 1040
    assert reports["raw.csv"].profiles[0].metrics["shared_bytes_per_block"] == pytest.approx(1040)
    assert reports["raw.csv"].profiles[4].metrics["shared_bytes_per_block"] == pytest.approx(214212)


def test_known_truths_of_the_five_kernels(reports):
    softmax, small, norm, tuned, vendor = (one.metrics for one in reports["ncu-rep"].profiles)
    assert softmax["duration_ns"] == 41184
    assert softmax["dram_read_bytes"] + softmax["dram_write_bytes"] == 112234752
    assert softmax["fp32_nonfused_ops"] == 4325376  # ncu's own rule prints this number
    assert small["shared_load_conflict_ways"] == pytest.approx(1.001, abs=1e-3)  # ldmatrix
    assert norm["load_bytes_per_sector_pct"] == pytest.approx(100 * 20.363636 / 32)
    assert tuned["gmma_instructions"] == tuned["opcode_HGMMA"] == 1048576
    assert vendor["cluster_size"] == 2
    assert vendor["tensor_pct"] == pytest.approx(90.21, abs=0.01)


def test_ratios_of_nothing_are_absent(reports):
    for form in ("ncu-rep", "raw.csv"):
        tuned, vendor = reports[form].profiles[3:]
        assert "load_bytes_per_sector_pct" not in tuned.metrics  # all loads are asynchronous
        assert "load_excess_sectors" not in tuned.metrics
        assert "store_bytes_per_sector_pct" not in vendor.metrics  # all stores are bulk copies
        assert "l1_global_load_hit_pct" not in vendor.metrics


def test_opcode_mix_is_complete(reports):
    mix = {
        name: count for name, count in reports["ncu-rep"].profiles[0].metrics.items()
        if name.startswith("opcode_") and not name.startswith("opcode_MUFU_")
    }  # fmt: skip
    assert mix.pop("opcode_total") == 8192000 == sum(mix.values())
    assert len(mix) == 26
    assert mix["opcode_FMUL"] == 3178496


@pytest.mark.parametrize("form", ["ncu-rep", "details.csv", "details.txt"])
def test_nsights_own_rules_are_kept(reports, form):
    rules = reports[form].profiles[1].vendor_rules
    stall = next(one for one in rules if "29.3 cycles being stalled" in one.message)
    assert stall.estimated_speedup_pct == pytest.approx(5.018, abs=1e-3)
    assert stall.scope == "global"
    low = next(one for one in rules if one.message.startswith("All compute pipelines"))
    assert low.estimated_speedup_pct == pytest.approx(86.44, abs=0.005)
    assert low.scope == "local"
    assert all("@" not in one.message for one in rules)


def test_rules_of_the_three_forms_are_the_same(reports):
    words = [
        sorted(
            (one.message.split()[:8], round(one.estimated_speedup_pct or 0, 2))
            for one in reports[form].profiles[2].vendor_rules
        )
        for form in ("ncu-rep", "details.csv", "details.txt")
    ]
    assert words[0] == words[1] == words[2]


def test_rules_have_identifiers_where_the_form_has_them(reports):
    for form in ("ncu-rep", "details.csv"):
        assert "CPIStall" in {one.rule for one in reports[form].profiles[0].vendor_rules}


def test_sections_are_identifiers(reports):
    for form in ("ncu-rep", "details.csv", "details.txt"):
        sections = set(reports[form].profiles[0].sections)
        assert {"SpeedOfLight", "LaunchStats", "WarpStateStats", "SchedulerStats"} <= sections

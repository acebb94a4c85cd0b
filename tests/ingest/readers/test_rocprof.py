"""Exports of AMD's profilers."""

from __future__ import annotations

import pytest

from kbs_engine.errors import ReportError
from kbs_ingest.readers import read_report, report_vendor
from tests.ingest.readers import layouts as L  # noqa: N812


def test_counter_collection_is_pivoted_by_dispatch(read_text, amd):
    report = read_text(L.COUNTERS_V3, metric_map=amd)
    first, second = report.profiles
    assert first.name == "void add<float>(float*, float const*)"
    assert (first.launch, second.launch) == (1, 2)
    assert first.metrics == pytest.approx(
        {
            "duration_ns": 10240, "grid_size": 16384, "thread_count": 1048576, "block_size": 64,
            "registers_per_thread": 8, "accumulation_registers_per_thread": 4,
            "scalar_registers_per_wave": 16, "shared_bytes_per_block": 1024,
            "scratch_bytes_per_thread": 0, "dram_read_bytes": 2048 * 1024,
            "achieved_occupancy_pct": 0.0434259040, "l2_hit_pct": 75.0,
        }
    )  # fmt: skip
    assert "not run on AMD hardware" in report.notes[0]


def test_kernel_trace_gives_times_and_shapes(read_text, amd):
    (one,) = read_text(L.TRACE_V3, metric_map=amd).profiles
    assert one.metrics["duration_ns"] == 443520
    assert one.metrics["grid_size"] == 4096
    assert one.metrics["block_size"] == 256


def test_pmc_perf_is_wide(read_text, amd):
    (one,) = read_text(L.PMC_PERF, metric_map=amd).profiles
    assert one.metrics["waves_launched"] == 1024
    assert one.metrics["shared_load_conflict_ways"] == pytest.approx(4 / 3)
    assert one.metrics["duration_ns"] == 4000


def test_a_folder_joins_its_passes_and_names_the_gpu(tmp_path, amd):
    for number, text in ((1, L.COUNTERS_V3), (2, L.COUNTERS_V3.replace("FETCH", "WRITE"))):
        folder = tmp_path / f"pmc_{number}"
        folder.mkdir()
        (folder / "99_counter_collection.csv").write_text(text)
        (folder / "99_agent_info.csv").write_text(L.AGENTS)
    report = read_report(tmp_path, amd)
    first = report.profiles[0]
    assert first.metrics["dram_read_bytes"] == first.metrics["dram_write_bytes"] == 2048 * 1024
    assert first.chip == "AMD Instinct MI300X"
    assert first.metrics["sm_count"] == 304
    assert first.flags == ()


def test_a_counter_given_twice_with_other_values_is_flagged(read_text, amd):
    text = L.COUNTERS_V3 + L.COUNTERS_V3.splitlines()[1].replace("2048.0", "4096.0") + "\n"
    first = read_text(text, metric_map=amd).profiles[0]
    assert first.metrics["dram_read_bytes"] == 2048 * 1024
    assert "more than once" in first.flags[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (L.COUNTERS_V3.rsplit(",", 2)[0], "fields"),
        (L.COUNTERS_V3.splitlines()[0] + "\n", "no dispatch"),
        (L.COUNTERS_V3.replace("2048.000000", "2O48.000000"), "not a number"),
        (L.COUNTERS_V3.replace("\n2,2,", "\n2,,"), "dispatch id"),
    ],
)
def test_damaged_exports(read_text, amd, text, message):
    with pytest.raises(ReportError, match=message):
        read_text(text, metric_map=amd)


def test_the_vendor_is_told_before_reading(tmp_path, shipped):
    path = tmp_path / "export.csv"
    for text in (L.COUNTERS_V3, L.TRACE_V3, L.PMC_PERF):
        path.write_text(text)
        assert report_vendor(path) == "amd"
    path.write_text(L.DETAILS_2020)
    assert report_vendor(path) == "nvidia"
    assert report_vendor(shipped("ncu-rep")) == "nvidia"
    assert report_vendor(tmp_path) == "amd"

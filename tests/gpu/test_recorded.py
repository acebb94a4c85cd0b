"""What was measured on a GPU, replayed: the same figures from the recorded answers."""

from __future__ import annotations

import json

import pytest

from kbs_engine.blobs import BlobStore
from kbs_ingest.readers import read_report
from kbs_ingest.wiki import load_wiki
from tests.gpu import page
from tests.gpu.session import ROOT
from tests.gpu.store import replayed, stored, unpacked


@pytest.fixture(scope="module")
def table():
    return stored("languages")["data"]


def test_the_table_comes_out_of_the_recording(tmp_path, table):
    assert json.dumps(replayed(tmp_path)) == json.dumps(table)


def test_every_kernel_is_right_and_above_its_floor(table):
    for row in table:
        assert row["check"]["passed"], row["task"]
        assert len(row["check"]["rounds"]) == 10
        if row["language"] != "cute-dsl":  # its cubin was not kept in the session
            assert row["compile"]["ok"]
            assert row["functions"]
        arm = row["arms"][0]
        if row["task"] != "attention":  # nothing tells the floor of that one
            assert arm["floor_ns"] < row["median_ns"]
        assert arm["timing"]["count"] == 118


def test_reports_of_the_recording_are_profiles_of_the_kernels(tmp_path, table):
    blobs = BlobStore(unpacked(tmp_path) / "blobs")
    row = next(row for row in table if (row["task"], row["language"]) == ("softmax", "triton"))
    report = tmp_path / "profile.ncu-rep"
    report.write_bytes(blobs.get(row["profile"]["report_sha256"]))
    metric_map = load_wiki([ROOT / "gpu-wiki"]).metric_maps["nvidia"]
    (profile,) = read_report(report, metric_map).profiles
    assert profile.name in row["functions"]


def test_isolation_costs_less_than_half_a_second():
    data = stored("isolation")["data"]
    assert data["median_after_the_first_s"] < 0.5 < data["new_interpreter_s"]
    assert all(set(one["isolation"].values()) == {"on"} for one in data["workers"])


def test_a_hostile_candidate_cost_one_candidate():
    rows = stored("hostile")["data"]
    assert {row["expected"] for row in rows} == set(page.DOES)
    for row in rows:
        assert row["found"]["passed"] is False
        assert row["found"]["reason"] == row["expected"]
        assert row["next_passes"] is True


def test_the_parts_of_an_iteration_are_the_whole_of_it():
    record = stored("iteration")
    parts = record["jobs"]
    kinds = [row["job"] for row in parts]
    assert [kinds.count(kind) for kind in ("compile", "check", "profile", "sanitize")] == [
        4,
        7,
        1,
        1,
    ]
    assert abs(sum(row["seconds"] for row in parts) - record["version_seconds"]["v1"]) < 0.2


def test_kernels_near_the_roof_were_not_refused():
    for row in stored("near_roof")["data"]:
        assert row["reason"] is None
        assert 0.0 < row["share_of_floor"] < 1.0
    (copy,) = (row for row in stored("near_roof")["data"] if row["case"] == "copy")
    assert copy["share_of_floor"] > 0.75


def test_slowed_kernels_were_found():
    points = {point["asked"]: point["point"] for point in stored("power")["data"]["points"]}
    assert points[0.05]["share"] >= 0.8
    assert points[0.1]["share"] >= 0.99
    assert min(point["comparisons"] for point in points.values()) >= 36


def test_kernels_compared_with_themselves_did_not_win():
    record = stored("self_comparison")
    data, earlier = record["data"], record["earlier"]
    assert data["comparisons"] > 1000
    for summary in (data["summary"], *earlier):
        assert summary["share"] <= 0.05
        assert summary["false_wins"] == 0
    for name in ("summary", "disjoint"):
        assert data[name]["false_wins"] == 0


def test_all_was_measured_on_a_named_card():
    for name in ("languages", "isolation", "near_roof", "power", "self_comparison"):
        record = stored(name)
        assert record["provenance"]["gpu"]
        assert record["provenance"]["driver"]
        assert record["date"].startswith("20")
        assert not record["dry"]


def test_the_page_is_generated():
    assert page.PAGE.read_text(encoding="utf-8") == page.page(), "run python -m tests.gpu.page"

"""Geometry of the roofline chart and its SVG: in the frame, apart, and never invented."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbs.render.svg import draw, write_chart
from kbs_engine.chart import (
    Box,
    decades,
    fit,
    label_boxes,
    marks,
    segments,
    tags,
)
from kbs_engine.chartdata import ChartData, ChartLaunch, ChartPoint, ChartRoof, chart_data
from kbs_engine.errors import UsageError
from kbs_engine.work import Work
from kbs_ingest.readers import read_report
from kbs_ingest.work_file import find_work_file, read_work
from tests.conftest import REPORT

AREA = Box(70, 50, 620, 420)


@pytest.fixture(scope="module")
def launches(store):
    work = read_work(find_work_file(REPORT))
    return [
        ChartLaunch(
            launch=one.launch,
            name=one.name,
            metrics=one.metrics,
            chip=store.chip(one.chip),
            work=work.for_launch(one.launch, one.name),
        )
        for one in read_report(REPORT, store.metric_map("nvidia")).profiles
    ]


def roofs(*memory, compute=()):
    levels = ("dram", "l2", "l1")
    return tuple(
        [ChartRoof(level=levels[i], value=v, label=f"{levels[i]} roof", origin="here")
         for i, v in enumerate(sorted(memory))]
        + [ChartRoof(level=None, value=v, label="peak", origin="here") for v in compute]
    )  # fmt: skip


data = st.builds(
    lambda widths, peaks, points: ChartData(
        title="t",
        names={n: f"k{n}" for n, _, _ in points},
        roofs=roofs(*widths, compute=peaks),
        points=tuple(
            ChartPoint(launch=n, level="dram", intensity=ai, rate=rate) for n, ai, rate in points
        ),
        bandwidths=(),
    ),
    st.lists(st.floats(1e11, 1e14), min_size=1, max_size=3, unique=True),
    st.lists(st.floats(1e12, 1e16), max_size=3, unique=True),
    st.lists(st.tuples(st.integers(0, 20), st.floats(1e-3, 1e5), st.floats(1e9, 1e16)), max_size=8),
)


@settings(max_examples=200)
@given(data)
def test_points_and_roofs_stay_inside_the_frame(chart):
    frame = fit(chart, AREA)
    for mark in marks(chart, frame):
        assert AREA.x - 0.5 <= mark.x <= AREA.x + AREA.width + 0.5
        assert AREA.y - 0.5 <= mark.y <= AREA.y + AREA.height + 0.5
    for line in segments(chart, frame):
        for x in (line.x1, line.x2):
            assert AREA.x - 0.5 <= x <= AREA.x + AREA.width + 0.5
        for y in (line.y1, line.y2):
            assert AREA.y - 0.5 <= y <= AREA.y + AREA.height * 2


@settings(max_examples=100)
@given(data)
def test_every_drawing_is_well_formed(chart):
    root = ET.fromstring(draw(chart))
    assert root.tag.endswith("svg")
    assert "NaN" not in draw(chart)
    assert "inf" not in draw(chart)


@given(st.floats(1e-6, 1e10), st.floats(2.0, 1e9))
def test_ticks_lie_between_the_borders(low, factor):
    ticks = decades(low, low * factor)
    assert all(low <= tick <= low * factor for tick in ticks)
    assert ticks == sorted(ticks)


def test_a_bandwidth_roof_is_a_line_of_slope_one_and_ends_at_the_ridge():
    chart = ChartData(
        title="t", names={}, roofs=roofs(1e12, compute=(1e14,)), points=(), bandwidths=()
    )
    frame = fit(chart, AREA)
    line = next(one for one in segments(chart, frame) if one.roof.level == "dram")
    assert line.x2 == pytest.approx(frame.x(100.0))
    assert line.y2 == pytest.approx(frame.y(1e14))
    angle = math.degrees(math.atan2(line.y2 - line.y1, line.x2 - line.x1))
    assert angle == pytest.approx(frame.slope_degrees, abs=1e-6)


def test_numbers_do_not_cover_labels_or_points(launches):
    chart = chart_data(launches)
    frame = fit(chart, AREA)
    points, lines = marks(chart, frame), segments(chart, frame)
    boxes = [tag.box for tag in tags(points, label_boxes(lines))]
    for index, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[index + 1 :])
        assert not any(box.overlaps(Box(p.x - 5, p.y - 5, 10, 10)) for p in points)
        assert not any(box.overlaps(label) for label in label_boxes(lines))


def test_roofs_are_cited_or_printed_by_the_profiler(launches):
    chart = chart_data(launches)
    by_level = {roof.level: roof for roof in chart.roofs if roof.level}
    assert "3.35 TB/s <- gpu-wiki/hardware/nvidia/h100_sxm.md:L" in by_level["dram"].origin
    assert by_level["l2"].value == pytest.approx(5120 * 1.7057e9, rel=1e-3)
    assert "printed by the profiler" in by_level["l2"].origin
    assert by_level["l1"].value == pytest.approx(16896 * 1.957e9, rel=1e-3)
    peaks = [roof for roof in chart.roofs if not roof.level]
    assert [roof.label for roof in peaks] == ["bf16 tensor 989.4 TFLOP/s"]
    assert "<- gpu-wiki/" in peaks[0].origin


def test_intensity_is_known_flops_over_measured_bytes(launches):
    points = {(p.launch, p.level): p for p in chart_data(launches).points}
    metrics, flops = launches[1].metrics, launches[1].work.flops
    moved = metrics["dram_read_bytes"] + metrics["dram_write_bytes"]
    assert points[1, "dram"].intensity == pytest.approx(flops / moved)
    assert points[1, "dram"].rate == pytest.approx(flops / metrics["duration_ns"] * 1e9)
    link = 56.22806566239903 / 100 * 5120 * 1705133896.4958022
    assert points[1, "l2"].intensity == pytest.approx(points[1, "l2"].rate / link)
    assert points[1, "dram"].intensity > points[1, "l2"].intensity > points[1, "l1"].intensity


def test_asynchronous_copies_have_no_point_at_l1(launches):
    chart = chart_data(launches)
    assert not [p for p in chart.points if p.launch in (3, 4) and p.level == "l1"]
    assert any("launches 3, 4: no L1 point" in note for note in chart.notes)


def test_a_launch_of_unknown_flops_is_bandwidth_only_and_said_so(launches):
    chart = chart_data(launches[:1])
    assert chart.points == ()
    assert {row.level for row in chart.bandwidths} == {"dram", "l2", "l1"}
    dram = next(row for row in chart.bandwidths if row.level == "dram")
    assert dram.share == pytest.approx(112_234_752 / 41184e-9 / 3.35e12)
    assert any("FLOPs not known" in note for note in chart.notes)
    assert "Bandwidth only" in draw(chart)


def test_a_task_without_a_report_stands_on_its_compulsory_bytes(chip):
    work = Work(kernel="gemm", dtype="bf16", permitted=("bf16",), flops=1e9, bytes_in=1e6,
                bytes_out=1e6)  # fmt: skip
    task = ChartLaunch(launch=0, name="task", metrics={}, chip=chip("h100_sxm"), work=work,
                       time_ns=5000.0)  # fmt: skip
    chart = chart_data([task])
    assert [(p.level, p.intensity) for p in chart.points] == [("dram", pytest.approx(500.0))]
    assert any("compulsory bytes" in note for note in chart.notes)


def test_a_task_without_time_has_no_point(chip):
    work = Work(kernel="gemm", dtype="bf16", permitted=("bf16",), flops=1e9, bytes_in=1e6,
                bytes_out=1e6)  # fmt: skip
    chart = chart_data(
        [ChartLaunch(launch=0, name="task", metrics={}, chip=chip("h100_sxm"), work=work)]
    )
    assert chart.points == ()
    assert any("500 FLOP per DRAM byte" in note for note in chart.notes)


def test_without_chip_and_counters_there_is_no_roof():
    chart = chart_data([ChartLaunch(launch=0, name="k", metrics={"duration_ns": 5.0})])
    assert chart.roofs == ()
    assert any("UNKNOWN" in note for note in chart.notes)
    ET.fromstring(draw(chart))


def test_launches_of_several_reports_are_numbered_through(launches):
    chart = chart_data([launches[1], launches[1]])
    assert set(chart.names) == {0, 1}
    assert any("numbered through" in note for note in chart.notes)


def test_many_launches_fit(launches):
    import msgspec

    many = [msgspec.structs.replace(launches[n % 5], launch=n) for n in range(200)]
    root = ET.fromstring(draw(chart_data(many)))
    assert float(root.get("height")) < 1600
    assert any("more launches" in (text.text or "") for text in root.iter() if text.text)


def test_names_are_escaped(launches):
    import msgspec

    odd = msgspec.structs.replace(launches[1], name="void f<a & b>(--x) ]]>\"'")
    ET.fromstring(draw(chart_data([odd])))


def test_a_chart_that_cannot_be_written_is_an_error_with_a_remedy(launches, tmp_path):
    with pytest.raises(UsageError) as caught:
        write_chart(chart_data(launches[:1]), tmp_path / "no" / "where.svg")
    assert caught.value.remedy

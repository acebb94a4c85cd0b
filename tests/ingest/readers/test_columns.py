"""Columns are found by name: whatever their order, an export reads the same."""

from __future__ import annotations

import csv
import io
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbs_engine.errors import ReportError
from kbs_ingest.readers import read_report, report_vendor
from tests.ingest.readers import layouts as L  # noqa: N812

RAW = L.raw(
    [("dram__bytes_read.sum", "Mbyte"), ("gpu__time_duration.sum", "us"),
     ("launch__registers_per_thread", "register/thread")],
    ["2.5", "41.0", "32"], ["n/a", "7.5", "16"], launch_names=('k<"a, b">'.replace('"', '""'), "b"),
)  # fmt: skip
BROKEN = L.lines(
    L.NEW_HEADER + L.RULES,
    L.new("SpeedOfLight", "", "", "") + ',"SOLBottleneck","WRN","Two\nlines, of ""words"". Look."',
    L.new(L.SOLT, "Duration", "us", "764.10"),
)
NVIDIA = {
    "2020": L.DETAILS_2020, "2023": L.DETAILS_2023, "summary": L.SUMMARY, "raw": RAW,
    "line breaks": BROKEN,
    "processes": L.lines(
        L.NEW_HEADER, L.new(L.SOLT, "Duration", "us", "2.50", pid="1"),
        L.new(L.SOLT, "Duration", "us", "7.50", pid="2"),
    ),
    "few columns": L.lines(
        '"ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"',
        f'"0","k1","{L.SOLT}","Duration","us","41"',
        f'"0","k1","{L.SOLT}","DRAM Throughput","%","81"',
        '"0","k1","Launch Statistics","Registers Per Thread","register/thread","32"',
    ),
}  # fmt: skip
AMD = {
    "rocprofv3": L.COUNTERS_V3, "trace": L.TRACE_V3, "rocprof-compute": L.PMC_PERF,
    "rocprof": L.lines(
        "Index,KernelName,gpu-id,queue-id,pid,tid,grd,wgr,lds,scr,vgpr,sgpr,SQ_WAVES,DurationNs",
        '0,"copy(double*, double*)",1,0,99,99,65536,256,2048,0,12,16,1024,4000',
    ),
}  # fmt: skip


def quoted(cell):
    return '"{}"'.format(cell.replace('"', '""'))


WRITERS = {
    "all quoted": quoted,
    "numbers bare": lambda cell: cell if re.fullmatch(r"[\d.]+", cell) else quoted(cell),
    "as needed": lambda cell: quoted(cell) if re.search('[",\n]', cell) else cell,
}
"""How programs write a cell."""
KEYS = {"Kernel Name", "Kernel_Name", "KernelName"}


def table_of(text):
    """Header and rows, without what the program printed around them."""
    rows = [row for row in csv.reader(io.StringIO(text)) if len(row) > 4]
    start = next(
        i for i, row in enumerate(rows) if {"Kernel Name", "Kernel_Name", "KernelName"} & set(row)
    )
    width = len(rows[start])
    return [row + [""] * (width - len(row)) for row in rows[start:]]


def written(table, order, write=quoted):
    return "".join(",".join(write(row[i]) for i in order) + "\n" for row in table)


@pytest.fixture(scope="module")
def read(tmp_path_factory, nvidia, amd):
    """Read a text as a report, always at the same path."""
    path = tmp_path_factory.mktemp("columns") / "report.csv"

    def from_text(text):
        path.write_text(text)
        return read_report(path, amd if report_vendor(path) == "amd" else nvidia)

    return from_text


@settings(max_examples=30)
@given(
    data=st.data(), name=st.sampled_from(sorted(NVIDIA)), writer=st.sampled_from(sorted(WRITERS))
)
def test_an_export_of_ncu_reads_the_same_in_any_order_of_columns(read, data, name, writer):
    table = table_of(NVIDIA[name])
    order = data.draw(st.permutations(range(len(table[0]))))
    assert read(written(table, order, WRITERS[writer])) == read(NVIDIA[name])


@settings(max_examples=20)
@given(data=st.data(), name=st.sampled_from(sorted(AMD)), writer=st.sampled_from(sorted(WRITERS)))
def test_an_export_of_rocprof_reads_the_same_in_any_order_of_columns(read, data, name, writer):
    table = table_of(AMD[name])
    order = data.draw(st.permutations(range(len(table[0]))))
    assert read(written(table, order, WRITERS[writer])) == read(AMD[name])


@pytest.mark.parametrize("form", ["raw.csv", "details.csv"])
@pytest.mark.parametrize("place", ["last", "shuffled"])
def test_the_recorded_exports_too(read, shipped, form, place):
    text = shipped(form).read_text()
    table = table_of(text)
    order = [*range(1, len(table[0])), 0]
    if place == "shuffled":
        random.Random(1).shuffle(order)
    assert read(written(table, order)) == read(text)


@pytest.mark.parametrize("text", [RAW, NVIDIA["processes"]], ids=["raw", "details"])
def test_an_export_without_ids_is_refused(read, text):
    table = table_of(text)
    order = [i for i, name in enumerate(table[0]) if name != "ID"]
    with pytest.raises(ReportError, match="no column ID"):
        read(written(table, order))


@pytest.mark.parametrize("text", [RAW, NVIDIA["processes"]], ids=["raw", "details"])
@pytest.mark.parametrize("first", [0, 7])
def test_a_damaged_id_is_refused_and_not_passed_over(read, text, first):
    table = table_of(text)
    table[-1][0] = "1x"
    order = [*range(first, len(table[0])), *range(first)]
    with pytest.raises(ReportError, match="the launch id is '1x'"):
        read(written(table, order))


@pytest.mark.parametrize("cut", range(3, 60, 4))
def test_a_row_that_is_cut_before_its_id_is_refused(read, cut):
    table = table_of(RAW)
    whole = written(table, [*range(1, len(table[0])), 0])
    start = whole.rstrip("\n").rindex("\n") + 1
    with pytest.raises(ReportError):
        read(whole[: start + 30 + cut])

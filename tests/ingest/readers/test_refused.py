"""Everything that is no usable report says what it is, where, and what to do."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from kbs_engine.errors import ReportError
from kbs_ingest.readers import read_report
from kbs_ingest.readers.dispatch import report_vendor
from tests.ingest.readers import layouts as L  # noqa: N812

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
RAW = L.raw([("dram__bytes_read.sum", "byte")], ["67.12"])
SOURCE_2022 = (
    '"Kernel Name","void f<(bool)1>(float *, int)",\n'
    '"Address","Source","Warp Stall Sampling (All Cycles)","# Samples"\n'
    '"1","MOV R1, c[0x0][0x28]","12","3"\n'
)
SOURCE_2025 = '"#","Address","Source","Warp Stall Sampling (All Samples)"\n"1","0x7","MOV","12"\n'
NSYS = (
    "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
    '100.0,179106560,61,2936173.1,2889824.0,2864096,3829824,169012.8,"saxpy(float*)"\n'
)
NSYS_TRACE = "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,Name\n1,2,3,4,5,6,saxpy\n"
NVPROF = '==12== NVPROF is profiling\n==NVPROF== x\n"Device","Kernel","Invocations","Metric Name"\n'
PERMISSION = (
    "==PROF== Connected to process 17664 (/usr/bin/python3.12)\n"
    "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
    "Performance Counters on the target device 0.\n==PROF== Disconnected from process 17664\n"
)
NO_KERNELS = (
    "==PROF== Connected to process 3300 (/usr/bin/python3.10)\nconv\n"
    "==PROF== Disconnected from process 3300\n==WARNING== No kernels were profiled.\n"
)

CASES = {
    "empty": (b"", "empty", "again"),
    "blank": (b"\n \r\n", "empty", "again"),
    "png": (PNG, "PNG", "--page raw --csv"),
    "gzip": (b"\x1f\x8b\x08\0", "gzip", "unpack"),
    "zip": (b"PK\x03\x04abc", "zip", "unpack"),
    "elf": (b"\x7fELF\2\1", "program", "ncu"),
    "pdf": (b"%PDF-1.7", "PDF", "export"),
    "binary": (bytes(range(256)) * 40, "binary", "export"),
    "prose": (b"The kernel took 12 us.\n", "no profiler output", "--page raw --csv"),
    "source 2022": (SOURCE_2022, "source page", ".ncu-rep"),
    "source 2025": (SOURCE_2025, "source page", ".ncu-rep"),
    "nsys": (NSYS, "Nsight Systems", "ncu --set full"),
    "nsys trace": (NSYS_TRACE, "Nsight Systems", "ncu --set full"),
    "nvprof": (NVPROF, "nvprof", "Nsight Compute"),
    "permission": (PERMISSION, "ERR_NVGPUCTRPERM", "NVreg_RestrictProfilingToAdminUsers=0"),
    "no kernels": (NO_KERNELS, "no kernel", "--kernel-name"),
    "ncu error": ("==ERROR== Failed to find metric foo\n", "Failed to find metric", "again"),
    "header only": (L.NEW_HEADER + "\n", "no launch", "again"),
    "header, no kernels": (L.NEW_HEADER + "\n" + NO_KERNELS, "no kernel", "--launch-count"),
    "header, permission": (PERMISSION + L.NEW_HEADER + "\n", "ERR_NVGPUCTRPERM", "root"),
    "units row only": ("\n".join(RAW.splitlines()[:2]) + "\n", "no launch", "again"),
    "no header": (RAW.split("\n", 1)[1], "", "--page raw --csv"),
    "header cut away": (
        L.DETAILS_2020.split("\n", 1)[1].replace("Duration", "gpu__time_duration.sum"),
        "header row",
        "--page raw --csv",
    ),
    "cut in a quote": (RAW[:-4], "cut off", "again"),
    "cut between fields": (RAW.rsplit(',"', 1)[0] + "\n", "fields", "again"),
    "a column twice": (
        L.raw([("dram__bytes_read.sum", "byte")] * 2, ["67.12", "68"]),
        "dram__bytes_read.sum has 2 columns, which differ: 67.12, 68",
        "again",
    ),
    "row too long": (RAW.rstrip() + ',"1","2"\n', "fields", "again"),
    "details cut": (L.DETAILS_2020.rsplit(',"', 2)[0] + "\n", "fields", "again"),
    "damaged number": (RAW.replace("67.12", "67.1.2"), "dram__bytes_read.sum", "LC_ALL=C"),
    "details damaged number": (L.DETAILS_2020.replace("46.47", "46x47"), "Memory", "LC_ALL=C"),
    "two styles": (
        L.lines(
            L.NEW_HEADER,
            L.new(L.SOLT, "Elapsed Cycles", "cycle", "1,234.5"),
            L.new(L.SOLT, "Elapsed Cycles", "cycle", "1.234,5", launch="1"),
        ),
        "two styles",
        "LC_ALL=C",
    ),
    "damaged id": (RAW.replace('"0","473"', '"","473"'), "id", "again"),
    "text without a table": (
        "  saxpy (4, 1, 1)x(8, 1, 1), Context 1, Stream 7, Device 0\n    ---- ---- ----\n",
        "no metric",
        "--page raw",
    ),
    "rocprof analysis": ("Metric_ID,Metric,Avg,Unit,Peak\n2.1.0,VALU FLOPs,1,x,2\n",
                         "rocprof-compute", "pmc_perf.csv"),
    "rocprof with the nvidia map": (L.COUNTERS_V3, "rocprof", "amd.yaml"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_refused(read_text, tmp_path, name):
    content, message, remedy = CASES[name]
    with pytest.raises(ReportError) as caught:
        read_text(content, name="odd.ncu-rep")
    error = caught.value
    assert message.casefold() in error.message.casefold()
    assert remedy in error.remedy
    assert error.where.startswith(str(tmp_path / "odd.ncu-rep"))


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("permission", 2), ("no kernels", 4), ("ncu error", 1), ("cut in a quote", 3),
        ("cut between fields", 3), ("details cut", 13), ("damaged number", 3),
        ("details damaged number", 5),
    ],
)  # fmt: skip
def test_the_line_is_told(read_text, name, line):
    with pytest.raises(ReportError) as caught:
        read_text(CASES[name][0])
    assert caught.value.where.endswith(f":{line}")


def test_missing_file(tmp_path, nvidia):
    with pytest.raises(ReportError, match="no such file"):
        read_report(tmp_path / "none.ncu-rep", nvidia)


@pytest.mark.parametrize("ask", [read_report, lambda path, _: report_vendor(path)])
def test_a_pipe_is_refused_before_it_is_opened(tmp_path, nvidia, ask):
    pipe = tmp_path / "report.csv"
    os.mkfifo(pipe)
    with pytest.raises(ReportError, match="not a regular file") as caught:
        ask(pipe, nvidia)
    assert "write it to a file first" in caught.value.remedy


def test_process_substitution_is_refused(nvidia):
    reading, writing = os.pipe()
    try:
        with pytest.raises(ReportError, match="not a regular file"):
            read_report(Path(f"/dev/fd/{reading}"), nvidia)
    finally:
        os.close(reading)
        os.close(writing)


def test_what_a_terminal_would_obey_is_stripped(read_text):
    name = "sax\x1b[31mpy\x9b1m\x07(int,\tfloat*)"
    text = L.DETAILS_2020.replace("saxpy(int, float*)", name)
    report = read_text(text + "==ERROR== it \x1b[2Jfailed\n")
    assert {profile.name for profile in report.profiles} == {"sax[31mpy1m(int, float*)"}
    assert report.notes == ("ncu printed: it [2Jfailed",)


def test_a_long_name_is_kept(read_text):
    name = "k" * 8000
    report = read_text(L.DETAILS_2020.replace("saxpy(int, float*)", name))
    assert {profile.name for profile in report.profiles} == {name}


def test_folder_without_reports(tmp_path, nvidia):
    with pytest.raises(ReportError, match="folder"):
        read_report(tmp_path, nvidia)


def test_nsys_report_by_its_name(read_text):
    with pytest.raises(ReportError, match="Nsight Systems"):
        read_text(b"\x01\x02\x03", name="a.nsys-rep")


def test_sqlite_database(tmp_path, nvidia):
    path = tmp_path / "results.db"
    database = sqlite3.connect(path)
    database.execute("create table kernels (id)")
    database.commit()
    database.close()
    with pytest.raises(ReportError, match="SQLite") as caught:
        read_report(path, nvidia)
    assert "--output-format csv" in caught.value.remedy


def test_errors_beside_results_are_notes(read_text):
    report = read_text(L.DETAILS_2020 + "==ERROR== The application returned an error code (11).\n")
    assert report.notes == ("ncu printed: The application returned an error code (11).",)


def test_nvidia_export_with_the_amd_map_is_refused(read_text, amd):
    with pytest.raises(ReportError, match="NVIDIA"):
        read_text(L.DETAILS_2020, metric_map=amd)

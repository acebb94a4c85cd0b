"""A long line takes no longer than its length: no pattern tries all pairs of places."""

from __future__ import annotations

import contextlib
import time

import pytest

from kbs_engine.errors import ReportError
from kbs_ingest.loose_metrics import understand_metrics
from kbs_ingest.readers import opcode_cells
from kbs_ingest.readers.dispatch import report_vendor

MANY = 200_000
SECONDS = 10.0
"""A hundred times what any of these takes; two parts that compete take minutes."""

BLANKS = " " * MANY
KERNEL = "  saxpy(float*) (1, 1, 1)x(32, 1, 1), Context 1, Stream 7, Device 0, CC 9.0\n"
RULER = "    ---------- ----- -----\n"
TEXTS = {
    "words": '"ID","Kernel Name",' + "x" * MANY + "\n1,foo\n",
    "words alone": "x" * MANY,
    "underscores": "a__" * (MANY // 3),
    "digits": "1" * MANY,
    "digits in quotes": '"1",' * (MANY // 4),
    "an error of blanks": "==ERROR==" + BLANKS + "\n",
    "many errors": "==ERROR==" * (MANY // 9),
    "Nsight Systems": "Time (%)," * (MANY // 9),
    "Nsight Systems traces": "Start (ns)," * (MANY // 11),
    "rocprof": "KernelName " * (MANY // 11),
    "an analysis": "Metric," * (MANY // 7),
    "a kernel of blanks": f"  k{BLANKS}x, Device 0, CC 9\n{RULER}",
    "a ruler": KERNEL + " ---" * (MANY // 4) + "!\n",
    "a section": f"{KERNEL}    Section: a{BLANKS}b\n{RULER}",
    "a finding": f"{KERNEL}{RULER}    OPT   a{BLANKS}b\n          c{BLANKS}d\n",
    "a speedup": f"{KERNEL}{RULER}    OPT   Est. Speedup: " + "1," * (MANY // 2) + "\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_file_of_one_long_line(name, read_text, tmp_path):
    began = time.process_time()
    with contextlib.suppress(ReportError):
        read_text(TEXTS[name])
    report_vendor(tmp_path / "report.csv")
    assert time.process_time() - began < SECONDS


@pytest.mark.parametrize("cell", [f"5{BLANKS}x", f"({BLANKS}", f"5 {BLANKS}(a", "(" * MANY])
def test_a_long_cell(cell):
    began = time.process_time()
    assert opcode_cells.split_instances(cell) == (cell, "")
    assert time.process_time() - began < SECONDS


@pytest.mark.parametrize("value", [f"1{BLANKS}!", f"{BLANKS}1 a{BLANKS}!", "1" * MANY + "!"])
def test_a_long_number(value, nvidia):
    began = time.process_time()
    understand_metrics({"dram_pct": value}, [nvidia])
    assert time.process_time() - began < SECONDS


def test_a_total_keeps_no_blanks():
    assert opcode_cells.split_instances("12  (FADD: 4; FMUL: 8)") == ("12", "FADD: 4; FMUL: 8")

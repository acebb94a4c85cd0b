"""The recorder's parts that need no GPU."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
MINE = ("record", "record_ncu", "record_parts", "case")


@pytest.fixture
def record(monkeypatch):
    for folder in (HERE,):
        monkeypatch.syspath_prepend(str(folder))
    before = list(sys.path)
    module = importlib.import_module("record")
    yield module
    sys.path[:] = before
    for name in MINE:
        sys.modules.pop(name, None)


def launches(*kernels):
    return [{"id": str(i), "kernel": kernel} for i, kernel in enumerate(kernels)]


def owners(mapped):
    return [entry["case"] for entry in mapped]


def test_declared_counts_map_the_launches(record):
    mapped, way = record.record_ncu.map_launches(
        launches("a1_x", "b2_y(float *)", "b2_y(float *)"), [("a1_x", 1), ("b2_y", 2)], ""
    )
    assert (owners(mapped), way) == (["a1_x", "b2_y", "b2_y"], "declared")


def test_markers_in_the_log_correct_a_wrong_count(record):
    log = (
        '==CASE== a1\n==PROF== Profiling "gemm" - 0: 0%\n==PROF== Profiling "reduce" - 1: 0%\n'
        '==CASE== b2\n==PROF== Profiling "b2" - 2: 0%\n'
    )
    mapped, way = record.record_ncu.map_launches(
        launches("gemm", "reduce", "b2"), [("a1", 1), ("b2", 1)], log
    )
    assert (owners(mapped), way) == (["a1", "a1", "b2"], "markers")


def test_a_foreign_kernel_in_the_range_is_not_given_to_a_neighbour(record):
    mapped, way = record.record_ncu.map_launches(
        launches("fill", "a1", "b2"), [("a1", 1), ("b2", 1)], ""
    )
    assert owners(mapped) == [None, "a1", "b2"]
    assert way.startswith("names")


def test_swapped_names_are_not_mapped_by_count(record):
    mapped, way = record.record_ncu.map_launches(launches("b2", "a1"), [("a1", 1), ("b2", 1)], "")
    assert owners(mapped) == ["b2", "a1"]
    assert way.startswith("names")


def test_a_case_that_takes_the_process_down_is_recorded(record):
    events = [
        {"case": "a", "state": "start"},
        {"case": "a", "state": "done", "result": {"ok": True}},
        {"case": "b", "state": "start"},
    ]
    found = record.outcomes(events, "exit -11")
    assert found["a"] == {"ok": True}
    assert "exit -11" in found["b"]["error"]


def test_a_journal_cut_off_in_the_last_line_is_read(record, tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_text('{"case": "a", "state": "start"}\n{"case": "a", "sta')
    assert record.read_journal(path) == [{"case": "a", "state": "start"}]


def test_a_fix_that_writes_nothing_fails_the_check(record, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    case = importlib.import_module("case")
    x = torch.arange(8.0)
    y = torch.empty(8)
    ready = case.Prepared(run=lambda: y.copy_(2 * x), outputs=lambda: [y])
    parts = record.record_parts
    assert parts.judge(torch, ready, ready.run, [2 * x])["ok"]
    y.fill_(0)
    assert not parts.judge(torch, ready, lambda: None, [2 * x])["ok"]
    assert not parts.judge(torch, ready, lambda: y.copy_(3 * x), [2 * x])["ok"]


def test_unknown_part_is_refused(record):
    with pytest.raises(SystemExit):
        record.parse(["--part", "chekc"])

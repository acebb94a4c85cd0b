"""docs/case_studies.md says what a recording holds, and that nothing is recorded where it is so."""

from __future__ import annotations

import msgspec
import pytest

from tests.cases.case_list import case_studies
from tests.cases.records import CaseRecord, Factor, Gain, Recording, Searched, add_case
from tests.cases.records import read_recording as read
from tools import case_table

TEXT = case_table.PAGE.read_text(encoding="utf-8")
FASTER = Factor(ratio=3.25, low=3.11, high=3.42, verdict="faster")
SLOWER = Factor(ratio=0.85, low=0.84, high=0.86, verdict="slower")
EVEN = Factor(ratio=1.0, low=0.99, high=1.01, verdict="within noise")


def record(name: str, **changes) -> CaseRecord:
    fields = {
        "id": name, "date": "2026-01-05", "device": "cuda", "gpu": "A GPU", "driver": "1.2",
        "v0_ns": 120e3, "best_ns": 40e3, "over_v0": FASTER, "over_eager": EVEN,
        "over_vendor": EVEN, "roof_ns": 30e3, "gpu_seconds": 71.5, "samples": 1600, "variants": 9,
        "iterations": 2, "best_version": 2, "origin": ("template t", "tunables"),
        "confirmed": ("tma_load",), "ended": "near_peak",
    }  # fmt: skip
    return CaseRecord(**{**fields, **changes})


def made(*rows: CaseRecord) -> str:
    return case_table.page(TEXT, Recording(cases={row.id: row for row in rows}))


def line(text: str, heading: str, case: str) -> str:
    part = text.partition(f"\n## {heading}")[2].partition("\n## ")[0]
    return next(row for row in part.splitlines() if row.startswith(f"| `{case}`"))


def test_the_page_is_what_the_recording_says():
    assert case_table.page(TEXT, read(case_table.RECORDED)) == TEXT


def test_every_case_stands_with_its_command_and_is_not_recorded_without_a_recording():
    text = made()
    for case in case_studies():
        assert case_table.command(case) in text
        assert f"| `{case.id}` | {case.title} |" in text
        row = line(text, "Speed", case.id)
        assert case_table.NOT_RECORDED in row
        # but for goals and what is known of an earlier tool, no figure
        assert row.count("×") == (1 if case.known else 0)
    assert "No case is recorded yet." in text


def test_a_recorded_case_shows_its_figures_with_intervals():
    row = line(made(record("softmax_triton")), "Speed", "softmax_triton")
    assert "120 µs" in row
    assert "3.25× [3.11, 3.42]" in row
    assert "75 %" in row
    assert row.endswith("no slower than the best library: met |")
    spent = line(made(record("softmax_triton")), "What it took", "softmax_triton")
    assert "71.5" in spent
    assert "template t, tunables" in spent


@pytest.mark.parametrize(
    ("case", "changes", "told"),
    [
        ("softmax_triton", {"over_compile": SLOWER}, "no slower than the best library: missed"),
        ("gemm_triton", {"over_vendor": SLOWER}, "0.9 of the vendor library: missed"),
        ("gemm_triton", {}, "0.9 of the vendor library: met"),
        ("gemm_triton", {"origin": ("rewrite tma_load",)}, "by rewrites alone: met"),
        ("gemm_triton", {"origin": (), "over_v0": None}, "by rewrites alone: missed"),
    ],
)
def test_goals_are_judged_by_what_was_measured(case, changes, told):
    assert told in line(made(record(case, **changes)), "Speed", case)


def test_no_better_is_told_and_a_failure_is_no_figure():
    text = made(
        record("softmax_cuda", best_version=0, over_v0=None),
        CaseRecord(id="gemm_triton", date="2026-01-05", device="", error="Traceback\nOSError: no"),
    )
    assert "no better found" in line(text, "Speed", "softmax_cuda")
    assert "no result" in line(text, "Speed", "gemm_triton")
    assert "`gemm_triton`: OSError: no" in text


def test_what_a_host_timed_is_no_figure():
    text = made(record("softmax_triton", device="host"))
    assert case_table.NOT_RECORDED in line(text, "Speed", "softmax_triton")


def test_other_searches_knowledge_and_calibration():
    gains = tuple(
        Gain(version=1, method="tma_load", predicted_low=0.1, predicted_high=0.3, realised=realised,
             low=realised - 0.01, high=realised + 0.01, verdict="effective", opcodes="confirmed")
        for realised in (0.2, 0.5)
    )  # fmt: skip
    random = Searched(how="random", gpu_seconds=70.0, tried=30, space=81, best_ns=60e3,
                      champion=FASTER, trace=((9.0, 80e3), (20.5, 60e3), (70.0, 60e3)))  # fmt: skip
    skipped = Searched(how="autotune", gpu_seconds=0, tried=0, skipped="no tunables")
    one = record("softmax_triton", gains=gains, compared=(random, skipped), found_gpu_seconds=12.3)
    without = record("softmax_triton", knowledge=False, best_version=4, iterations=4)
    text = case_table.page(
        TEXT,
        Recording(
            cases={one.id: one}, with_others={one.id: one}, without_knowledge={one.id: without}
        ),
    )
    assert "| kbs optimize | – | 71.5 | 12.3 |" in line(
        text, "The same budget spent otherwise", one.id
    )
    assert "| random | champion | 70.0 | 20.5 | 30 of 81 |" in text
    assert "| no tunables |" in text
    assert "| v2 of 2 | 71.5 |" in line(text, "With knowledge and without", one.id)
    assert "| v4 of 4 | 71.5 |" in line(text, "With knowledge and without", one.id)
    assert "| `tma_load` | 2 | 1 (50 %) | 0 | 1 | 20.0 % | 35.0 % |" in text


def test_a_dry_recording_is_refused_and_changes_nothing(tmp_path, capsys):
    path = tmp_path / "cases.json"
    add_case(path, record("softmax_triton", device="host"), dry=True)
    assert case_table.main([str(path)]) == 2
    assert "dry recording" in capsys.readouterr().err
    assert case_table.PAGE.read_text(encoding="utf-8") == TEXT


def test_a_case_is_added_without_losing_others_and_apart_from_those_without_knowledge(tmp_path):
    path = tmp_path / "cases.json"
    for row in (record("a"), record("b"), record("a", knowledge=False), record("a", samples=1)):
        add_case(path, row, dry=False)
    found = read(path)
    assert set(found.cases) == {"a", "b"}
    assert found.cases["a"].samples == 1
    assert set(found.without_knowledge) == {"a"}
    other = Searched(how="random", gpu_seconds=1.0, tried=1)
    add_case(path, record("a", samples=2, compared=(other,)), dry=False)
    assert read(path).with_others["a"].samples == 2
    assert read(path).cases["a"].samples == 1, "a run of its own stands as it was"
    assert msgspec.json.decode(path.read_bytes())["schema_version"] == 1

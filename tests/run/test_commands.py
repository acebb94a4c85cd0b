"""kbs gate and kbs report on real folders, from the command line."""

from __future__ import annotations

import shutil

import pytest

from tests.run import tampering


@pytest.fixture
def place(made, tmp_path):
    """The run and its home folder, at a place of the test's own."""
    shutil.copytree(made / "run", tmp_path / "run")
    return tmp_path


def test_a_version_passes_once_and_opens_the_next(kbs, place):
    run = place / "run"
    looked = kbs("gate", run / "v1", "--dry-run", "--json", at=place / "home")
    assert looked.code == 0
    assert looked.json["passed"] is True
    assert looked.json["next"] is None
    assert not (run / "v2").exists()
    passed = kbs("gate", run / "v1", at=place / "home")
    assert (passed.code, passed.out) == (0, "v1 passed; v2 is open\n")
    assert (run / "current_iteration.txt").read_text() == "v2\n"
    (run / "v2/kernel.py").write_text("x = 1\n")
    again = kbs("gate", run / "v1", at=place / "home")
    assert again.code == 1
    assert "current_version: current_iteration.txt: names v2, not v1" in again.out


def test_a_cut_journal_is_refused_by_the_home_that_knows_the_run(kbs, build):
    builder = build()
    builder.version(0)
    builder.close()
    run, home = builder.run.root, builder.home
    lines = (run / "events.jsonl").read_bytes().splitlines(keepends=True)
    (run / "events.jsonl").write_bytes(b"".join(lines[:-2]))
    done = kbs("gate", run / "v0", at=home)
    assert done.code == 1
    assert "journal_chain: " in done.out
    assert "its tail was cut off" in done.out


def test_each_reason_stands_on_its_line_with_the_fix(kbs, place):
    run = place / "run"
    tampering.edited_sample(run)
    tampering.missing_heading(run)
    done = kbs("gate", run / "v1", "--verbose", at=place / "home")
    assert done.code == 1
    lines = done.out.splitlines()
    assert any(line.startswith("raw_samples: v1/bench.json: ") for line in lines)
    assert any(line.startswith("hypothesis: v1/hypothesis.txt") for line in lines)
    assert any(line.startswith("refused raw_samples") for line in lines)
    assert any(line.startswith("ok      journal_chain") for line in lines)
    assert not (run / "v2").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(("nowhere/v0",), "no run stands here"), (("run/best",), "is no version"),
     (("run/v7",), "no v7 stands")],
)  # fmt: skip
def test_wrong_usage_is_exit_2(kbs, place, arguments, words):
    done = kbs("gate", *(place / a for a in arguments), "--json", at=place / "home")
    assert done.code == 2
    assert words in done.error["message"]


@pytest.mark.parametrize("text", ["", "{", '{"schema_version": 99}', "null"])
def test_a_damaged_state_is_an_error_with_its_place(kbs, place, text):
    (place / "run/state.json").write_text(text)
    done = kbs("gate", place / "run/v1", "--json", at=place / "home")
    assert done.code == 2
    assert "state.json" in done.error["where"]
    assert done.error["remedy"]


def test_report_writes_what_there_is(kbs, place):
    done = kbs("report", place / "run", "--json", at=place / "home")
    assert done.code == 0
    assert done.json["written"] == ["baseline_report.md", str(place / "run/report.html")]
    assert (place / "run/report.html").read_text().startswith("<!doctype html>")
    shown = kbs("report", place / "run", "--stdout", at=place / "home")
    assert "Bottleneck drift" in shown.out

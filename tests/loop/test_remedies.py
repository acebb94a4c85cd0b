"""What the gate says to do about a fault mends it: every remedy is followed as it is told."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from kbs.cli import cli
from kbs_engine.gate import check_version
from kbs_engine.run import RunFolder
from tests.loop.test_orders import go, started
from tests.thinned import thinned

COMMAND = re.compile(r"`([^`]+)`")
NAMED = re.compile(r"^write (v\d+) into it")
ROUNDS = 3
"""A fault may hide another: a file that cannot be read is not compared."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that made v1 and ended, and its home."""
    folder = tmp_path_factory.mktemp("remedies")
    with started(folder, iterations=1, slots=1) as run:
        assert go(run)["ended"] == "iterations_done"
    return run.root


@pytest.fixture
def run(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "copied")


def number(name: str):
    """The first digit of a file is another one."""

    def edit(run: Path) -> None:
        text = (run / name).read_text()
        at = re.search(r"(?<=[ .])[1-8](?=\d)", text)
        assert at is not None, name
        (run / name).write_text(f"{text[: at.start()]}9{text[at.end() :]}")

    return edit


def leaf(name: str, **changes):
    """Fields of a record are others."""

    def edit(run: Path) -> None:
        record = json.loads((run / name).read_text())
        (run / name).write_text(json.dumps({**record, **changes}))

    return edit


def text(name: str, content: str):
    return lambda run: (run / name).write_text(content)


def gone(name: str):
    def remove(run: Path) -> None:
        path = run / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    return remove


FAULTS = {
    "analysis.md edited": number("v1/analysis.md"),
    "analysis.md of v0 edited": text("v0/analysis.md", "# Analysis of v0\n\nTwice as fast.\n"),
    "analysis.md empty": text("v0/analysis.md", ""),
    "analysis.md gone": gone("v1/analysis.md"),
    "analysis.md no text": lambda run: (run / "v0/analysis.md").write_bytes(b"\xff\xfe\xff"),
    "correctness.md edited": text("v1/correctness.md", "Verdict: FAIL\n"),
    "bench.json edited": number("v1/bench.json"),
    "bench.json no record": text("v1/bench.json", "{"),
    "bench.json gone": gone("v0/bench.json"),
    "attribution.json": leaf("v1/attribution.json", methods=[]),
    "methods.json": leaf("v1/methods.json", methods=[], skipped=[]),
    "roofline.json": leaf("v0/roofline.json", time_ns=1.0),
    "sass_check.json": leaf("v1/sass_check.json", methods=[]),
    "request.json": leaf("v0/request.json", ranked=[]),
    "kernel.py": text("v1/kernel.py", "x = 1\n"),
    "a repeated kernel": lambda run: shutil.copy(run / "v0/kernel.py", run / "v1/kernel.py"),
    "a branch": gone("v1/branches/b0/bench.json"),
    "branches": gone("v1/branches"),
    "plan.md empty": text("v0/plan.md", "\n"),
    "hypothesis.txt gone": gone("v0/hypothesis.txt"),
    "summary.md": number("summary.md"),
    "final_report.md no text": lambda run: (run / "final_report.md").write_bytes(b"\xff"),
    "benchmark.md gone": gone("benchmark.md"),
    "benchmark.json edited": number("benchmark.json"),
    "benchmark.json gone": gone("benchmark.json"),
    "baseline_report.md": number("baseline_report.md"),
    "README.md no text": lambda run: (run / "README.md").write_bytes(b"\xff"),
    "README.md gone": gone("README.md"),
    "ref.py": text("ref.py", "x = 1\n"),
    "test_kernel.py gone": gone("test_kernel.py"),
    "report.html": text("report.html", "<p>"),
    "best_ns": leaf("state.json", best_ns=1.0),
    "versions": leaf("state.json", versions=[]),
    "settings": leaf("state.json", epochs=[]),
    "memory edited": leaf("memory/v1.json", correctness={"status": "FAIL"}),
    "memory masked": leaf("memory/v1.json", masked=True),
    "v0's memory masked": leaf("memory/v0.json", masked=True),
    "memory no record": text("memory/v1.json", "{"),
    "memory gone": gone("memory/v0.json"),
    "memory of a stranger": text("memory/v7.json", '{"version": 7}'),
    "current version": text("current_iteration.txt", "v7\n"),
    "a later version": lambda run: (run / "v9").mkdir(),
    "a file by hand": text("v1/notes.json", "{}"),
    "a version gone": gone("v0"),
}


def follow(run: Path, where: str, remedy: str) -> None:
    """Do what a remedy says, in its words."""
    if named := NAMED.match(remedy):
        (run / "current_iteration.txt").write_text(f"{named[1]}\n")
        return
    if remedy.startswith(("remove it", "move v")):
        path = run / where.partition(":")[0]
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        return
    told = COMMAND.search(remedy)
    assert told is not None, remedy
    if not told[1].startswith("kbs "):
        subprocess.run(told[1], shell=True, check=True, capture_output=True, cwd=run)
        return
    words = told[1].split()[1:]
    done = CliRunner().invoke(cli, ["--home", str(run.parent / "home"), *words])
    assert done.exit_code == 0, (remedy, done.output, done.exception)


def refused(run: Path):
    with RunFolder.open(run) as opened:
        return check_version(opened, 1, final=True)


@pytest.mark.parametrize("fault", thinned(FAULTS, 4))
def test_what_is_told_mends_it(run, fault):
    FAULTS[fault](run)
    told = refused(run)
    assert told
    for _ in range(ROUNDS):
        for where, remedy in dict.fromkeys((row.where, row.remedy) for row in told):
            follow(run, where, remedy)
        if not (told := refused(run)):
            return
    raise AssertionError("\n".join(map(str, told)))

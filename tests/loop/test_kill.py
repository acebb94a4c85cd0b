"""Kill -9 anywhere: `resume` reaches the same end, no finished job twice, none lost."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from kbs_engine.gate import damage
from kbs_engine.run import Journal, RunFolder
from tests.loop.cases import CASES
from tests.loop.replaying import begin_replay, snapshot

ROOT = Path(__file__).resolve().parents[2]
KILLED = -9


def go(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    paths = [ROOT, *(ROOT / name for name in ("engine", "ingest", "backends"))]
    return subprocess.run(
        [sys.executable, "-m", "tests.loop.killed", str(root), *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
        capture_output=True,
        text=True,
        check=False,
    )


def begun(folder: Path) -> Path:
    root = folder / "run"
    begin_replay(CASES["no_better"], root, iterations=2)
    return root


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], int]:
    root = begun(tmp_path_factory.mktemp("unbroken"))
    done = go(root)
    assert done.returncode == 0, done.stderr
    return snapshot(root), int(done.stdout)


def check_resume(folder: Path, unbroken: tuple[dict[str, str], int], seed: int) -> None:
    expected, syncs = unbroken
    rng = random.Random(seed)
    root = begun(folder)
    for _ in range(rng.choice((1, 1, 2))):
        where, when = str(rng.randint(1, syncs)), rng.choice(("before", "after"))
        died = go(root, where, when)
        assert died.returncode in (KILLED, 0), died.stderr
        with RunFolder.open(root) as run:
            assert damage(run) == (), "what a crash leaves is no damage"
    finished_before = Journal(root / "events.jsonl").finished_jobs()
    (root.parent / "submitted.txt").unlink(missing_ok=True)
    done = go(root)
    assert done.returncode == 0, done.stderr
    assert snapshot(root) == expected
    journal = Journal(root / "events.jsonl")
    assert journal.verify() is None
    finished = Counter(event.data["job_key"] for event in journal.of_kind("job_finished"))
    assert max(finished.values()) == 1
    told = root.parent / "submitted.txt"
    again = told.read_text().split() if told.exists() else []
    assert not set(again) & set(finished_before)
    assert journal.in_flight() == ()


@pytest.mark.parametrize("seed", range(2))
def test_killed_at_a_random_moment(tmp_path, unbroken, seed):
    check_resume(tmp_path, unbroken, seed)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(2, 102))
def test_killed_at_a_hundred_moments(tmp_path, unbroken, seed):
    check_resume(tmp_path, unbroken, seed)

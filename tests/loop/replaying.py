"""Replays of recorded runs: no index, no GPU, no clock of their own."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from kbs.cli import cli
from kbs.looping.beginning import RunOptions, begin
from kbs.measuring.dims import read_dims
from kbs.measuring.options import TaskOptions
from kbs_engine.jobs import TimingSettings
from tests.loop.cases import CREATED, KERNELS, Case


def kbs(home: Path, *arguments: str, code: int = 0) -> str:
    """One command in this process; its stdout."""
    done = CliRunner().invoke(cli, ["--home", str(home), *arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == code, done.output
    return done.stdout


def kbs_json(home: Path, *arguments: str) -> dict:
    """The JSON answer of one command."""
    answer: dict = json.loads(kbs(home, "--json", *arguments))
    return answer


def begin_replay(case: Case, root: Path, *, iterations: int, slots: int = 3) -> None:
    """The run folder of a replay, begun at the date of all replays."""
    task = TaskOptions(
        reference=KERNELS / "ref.py", dims=read_dims(["M=64,N=256"]), language="triton"
    )
    options = RunOptions(
        output=root,
        device=f"recorded:{case.recording}",
        iterations=iterations,
        slots=slots,
        timing=TimingSettings(trials=20),
        created_at=CREATED,
    )
    begin(KERNELS / case.kernel / "kernel.py", task, options).close()


def snapshot(root: Path) -> dict[str, str]:
    """Everything that a run leaves but its journal and its repository, by path."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        hidden = name.startswith((".git", ".kbs/lock", "events.jsonl"))
        if path.is_file() and not hidden:
            found[name] = path.read_bytes().decode()
    return found

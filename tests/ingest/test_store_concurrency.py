"""Several processes on one home: writers wait, readers are never disturbed, crashes heal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from wiki_fixture import GUIDE

from kbs_ingest.store import ingest, layout, open_store
from kbs_ingest.store.layout import Home

ROOT = Path(__file__).resolve().parents[2]
ENV = {**os.environ, "PYTHONPATH": f"{ROOT / 'ingest'}:{ROOT / 'engine'}"}
INGEST = (
    "import sys; from pathlib import Path; from kbs_ingest.store import ingest; "
    "s = ingest(Path(sys.argv[1]), [Path(sys.argv[2])], embedding_model='none'); "
    "print(s.changed, s.generation)"
)
READ = """
import sys, time
from pathlib import Path
from kbs_ingest.store import open_store
home, stop, count = Path(sys.argv[1]), Path(sys.argv[2]), 0
held = open_store(home)
while count < 3 or not stop.exists():
    with open_store(home) as store:
        assert store.chip("h100_sxm").find("memory_bandwidth").value == 3.35
        assert len(store.rules()) == 2
        assert store.search("sectors per request").results
    count += 1
    time.sleep(0.005)  # leaves the writers a processor
assert held.search("sectors per request").results
assert len(held.methods()) == 2
print(count)
"""
SLOW = """
import sys, time
from pathlib import Path
import kbs_ingest.store.build as build
from kbs_ingest.store import ingest
real = build.tables.write_tables
def slow(*arguments):
    print("building", flush=True)
    time.sleep(60)
    real(*arguments)
build.tables.write_tables = slow
ingest(Path(sys.argv[1]), [Path(sys.argv[2])], embedding_model="none", rebuild=True)
"""
UNPRIVILEGED = """
import os, sys
from pathlib import Path
import lancedb, pyarrow
from kbs_engine.errors import StoreError
from kbs_ingest.store import ingest, open_store
import kbs_ingest.store.build
home, wiki = Path(sys.argv[1]), Path(sys.argv[2])
os.setuid(65534)
with open_store(home) as store:
    assert store.chip("h100_sxm") and store.search("sectors").results
try:
    ingest(home, [wiki], embedding_model="none")
except StoreError as error:
    print(error.exit_code, error.remedy)
"""


def _start(code: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def _finish(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out.strip()


def test_two_ingests_at_once_both_succeed(empty_home: Path, wiki_root: Path) -> None:
    runs = [_start(INGEST, empty_home, wiki_root) for _ in range(2)]
    assert sorted(_finish(run) for run in runs) == ["False 1", "True 1"]


@pytest.mark.sweep
def test_readers_are_not_disturbed_by_ingests(empty_home: Path, wiki_root: Path) -> None:
    ingest(empty_home, [wiki_root], embedding_model="none")
    stop = wiki_root.parent / "stop"  # readers read as long as somebody writes
    readers = [_start(READ, empty_home, stop) for _ in range(2)]
    for number in range(3):  # the second is gone while the readers hold the first
        (wiki_root / "profiling/ncu.md").write_text(f"{GUIDE}\nchange {number}\n")
        writers = [_start(INGEST, empty_home, wiki_root) for _ in range(2)]
        assert sorted(_finish(run).split()[0] for run in writers) == ["False", "True"]
    stop.touch()
    assert min([int(_finish(reader)) for reader in readers]) > 2
    assert open_store(empty_home).manifest.generation == 4


def test_a_held_generation_is_kept_and_others_go(empty_home: Path, wiki_root: Path) -> None:
    ingest(empty_home, [wiki_root], embedding_model="none")
    held = open_store(empty_home)
    for _ in range(4):
        ingest(empty_home, [wiki_root], embedding_model="none", rebuild=True)
    kept = sorted(path.name for path in (empty_home / "index").glob("gen-*"))
    assert kept == ["gen-000001", "gen-000004", "gen-000005"]
    assert held.search("sectors").results
    held.close()
    ingest(empty_home, [wiki_root], embedding_model="none", rebuild=True)
    kept = sorted(path.name for path in (empty_home / "index").glob("gen-*"))
    assert kept == ["gen-000005", "gen-000006"]


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
@pytest.mark.parametrize("before", [True, False])
def test_kill_during_ingest_then_recover(
    empty_home: Path, wiki_root: Path, *, before: bool
) -> None:
    if before:
        ingest(empty_home, [wiki_root], embedding_model="none")
    run = _start(SLOW, empty_home, wiki_root)
    assert run.stdout is not None
    assert run.stdout.readline() == "building\n"
    half = Home(empty_home).generation(2 if before else 1)
    assert half.is_dir()
    assert not (half / "manifest.json").exists()
    os.kill(run.pid, signal.SIGKILL)
    run.communicate()
    if before:
        with open_store(empty_home) as store:
            assert store.manifest.generation == 1
    summary = ingest(empty_home, [wiki_root], embedding_model="none")
    assert summary.changed is not before
    assert sorted(path.name for path in (empty_home / "index").glob("gen-*")) == ["gen-000001"]
    with open_store(empty_home) as store:
        assert len(store.rules()) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_kill_at_any_moment_leaves_a_readable_index(empty_home: Path, wiki_root: Path) -> None:
    ingest(empty_home, [wiki_root], embedding_model="none")
    rebuild = INGEST.replace("embedding_model='none'", "embedding_model='none', rebuild=True")
    for delay in (0.3, 0.8, 1.2, 1.6, 2.0):
        run = _start(rebuild, empty_home, wiki_root)
        time.sleep(delay)
        run.kill()
        run.communicate()
        with open_store(empty_home) as store:
            assert len(store.rules()) == 2
            assert store.search("sectors").results
    ingest(empty_home, [wiki_root], embedding_model="none", rebuild=True)
    folders = list((empty_home / "index").glob("gen-*"))
    assert len(folders) <= layout.KEPT_GENERATIONS
    assert all((folder / "manifest.json").exists() for folder in folders)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs another user")
def test_a_read_only_home_is_read_and_refuses_an_ingest(empty_home: Path, wiki_root: Path) -> None:
    ingest(empty_home, [wiki_root], embedding_model="none")
    for folder in (empty_home, *empty_home.parents):
        if folder != Path("/") and "pytest" in str(folder):
            folder.chmod(0o755)
    run = _start(UNPRIVILEGED, empty_home, wiki_root)
    assert _finish(run).startswith("2 free space or rights there")

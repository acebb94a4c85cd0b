"""Fixtures shared by all tests: the shipped wiki, an index of it, and the command line."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import FileLock

from kbs.cli import main
from kbs_ingest.store import ingest, open_store
from kbs_ingest.wiki.load import load_wiki

ROOT = Path(__file__).resolve().parent.parent
WIKI = ROOT / "gpu-wiki"
REPORT = ROOT / "tests/data/reports/h100_triton_torch.ncu-rep"


@pytest.fixture(scope="session")
def wiki():
    """The shipped wiki, parsed."""
    return load_wiki([WIKI])


@pytest.fixture(scope="session")
def home(tmp_path_factory, worker_id):
    """A home folder with the shipped wiki indexed by words alone, shared by all workers."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "shared-home"
    with FileLock(f"{folder}.lock"):
        if not (folder / "index" / "CURRENT").exists():
            ingest(folder, [WIKI], embedding_model="none")
    return folder


@pytest.fixture(scope="session")
def worker_id(request):
    """`master` without pytest-xdist, else the worker's name."""
    return os.environ.get("PYTEST_XDIST_WORKER", "master")


@pytest.fixture(scope="session")
def store(home):
    """The shared index, open for reading."""
    with open_store(home) as opened:
        yield opened


@pytest.fixture(scope="session")
def chip(store):
    """Look a chip up by id or alias."""
    return store.chip


@dataclass
class Ran:
    """What the command line did."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def error(self):
        return json.loads(self.err)["error"]


@pytest.fixture(scope="session")
def kbs(home):
    """Run the real command line in a process of its own, on the shared index."""

    def run(*arguments, at=None, env=None, cwd=None) -> Ran:
        path = os.pathsep.join(str(ROOT / part) for part in ("", "engine", "ingest", "backends"))
        done = subprocess.run(
            [sys.executable, "-m", "kbs", "--home", str(at or home), *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            timeout=180,
            cwd=cwd or ROOT,
            env={**os.environ, "PYTHONPATH": path, "NO_COLOR": "1", **(env or {})},
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture(scope="session")
def kbs_here(home):
    """The same in this process, whose imports are done: for what no process of its own proves."""

    def run(*arguments, at=None) -> Ran:
        out, err = io.StringIO(), io.StringIO()
        argv = ["--home", str(at or home), *map(str, arguments)]
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("NO_COLOR", "1")
            patched.setattr(sys, "stdout", out)  # the command line wraps what it finds there
            patched.setattr(sys, "stderr", err)
            with pytest.raises(SystemExit) as ended:
                main(argv)
        return Ran(ended.value.code, out.getvalue(), err.getvalue())

    return run


@pytest.fixture(scope="session")
def report():
    """The shipped H100 report."""
    return REPORT

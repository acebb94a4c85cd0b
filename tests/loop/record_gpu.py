"""Records the four whole runs on a GPU: ``python -m tests.loop.record_gpu OUT [NAME…]``.

Needs a home with an index (KBS_HOME). For each run OUT/NAME holds ``jobs.jsonl``, ``asks.jsonl``
and ``blobs/`` (what ``--device recorded:DIR`` replays), the run folder itself in ``run/``, what
was printed in ``log.txt``, and ``card.json``: card, driver, date, settings, seconds of each step.
``python -m tests.loop.store_gpu OUT/NAME…`` keeps what is replayed in ``recorded_gpu``.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import msgspec
from click.testing import CliRunner

from kbs.cli import cli
from kbs_engine.run import RunFolder
from kbs_engine.run.measured import Env

GPU = Path(__file__).parent / "gpu"
SOFTMAX = GPU / "softmax_cuda"

HELD = {
    "v1.cu": ("coalesced_access", "warp_shuffle_reduction"),
    "v2.cu": ("vectorized_access", "row_in_registers", "streaming_stores"),
    "wrong.cu": (),
}
"""Methods that each authored source contains; those of the plan among them are claimed."""


class GpuCase(msgspec.Struct, frozen=True, kw_only=True):
    """One run: a kernel, its dims, and either the builtin proposer or authored sources."""

    name: str
    folder: str
    kernel: str
    options: tuple[str, ...]
    authored: tuple[tuple[str, ...], ...] = ()
    """Per version the files submitted, one a try."""


CASES = {
    case.name: case
    for case in (
        GpuCase(
            name="softmax_cuda", folder="softmax_cuda", kernel="kernel.cu",
            options=("--M=4096", "--N=4096", "-n", "2", "--proposer", "agent", "--trials", "40",
                     "--proof", "apart"),
            authored=(("v1.cu",), ("v2.cu",)),
        ),
        GpuCase(
            name="gemm_triton", folder="gemm_triton", kernel="kernel.py",
            options=("--M=1024", "--N=1024", "--K=1024", "-n", "2", "--templates", "off",
                     "--trials", "20", "--proof", "apart"),
        ),
        GpuCase(
            name="layernorm_triton", folder="layernorm_triton", kernel="kernel.py",
            options=("--M=4096", "--N=8192", "-n", "2", "--templates", "off", "--trials", "20",
                     "--proof", "apart"),
        ),
        GpuCase(
            name="all_wrong", folder="softmax_cuda", kernel="kernel.cu",
            options=("--M=4096", "--N=4096", "-n", "2", "--proposer", "agent", "--retries", "2",
                     "--trials", "40", "--proof", "apart"),
            authored=(("wrong.cu", "wrong.cu", "wrong.cu"), ("v1.cu",)),
        ),
        GpuCase(
            name="iteration", folder="softmax_cuda", kernel="kernel.cu",
            options=("--M=4096", "--N=4096", "-n", "1", "--proposer",
                     shlex.join((sys.executable, "-m", "tests.loop.gpu.authored",
                                 "softmax_cuda/two_switches.cu", "coalesced_access",
                                 "smaller_block_tile")), "--trials", "20"),
        ),
    )
}  # fmt: skip


class Session:
    """Runs commands, keeps what they printed and how long each took."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.steps: list[dict[str, object]] = []

    def kbs(self, *arguments: str) -> None:
        """One command; its output goes to the log whatever it says."""
        began = time.monotonic()
        done = CliRunner().invoke(cli, list(arguments))
        took = time.monotonic() - began
        self.steps.append(
            {"command": " ".join(arguments[:2]), "exit": done.exit_code, "seconds": took}
        )
        with (self.folder / "log.txt").open("a", encoding="utf-8") as log:
            log.write(f"$ kbs {' '.join(arguments)}\n{done.output}\n[{took:.1f} s]\n")
        print(f"[{took:6.1f} s] kbs {' '.join(arguments[:2])} -> {done.exit_code}", flush=True)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            print(f"  {type(done.exception).__name__}: {done.exception}", flush=True)


def claimed(run: Path, version: int, file: str) -> list[str]:
    """``--method`` options: what the file holds of the plan; its first method where it has none."""
    request = json.loads((run / f"v{version - 1}" / "request.json").read_text())
    planned = [row["method"] for row in request["plan"]["methods"]]
    mine = [method for method in planned if method in HELD[file]]
    return [word for method in mine or planned[:1] for word in ("--method", method)]


def record(case: GpuCase, out: Path) -> None:
    """One run from nothing."""
    folder = out / case.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    run = folder / "run"
    session = Session(folder)
    go(case, run, session.kbs, "--record", str(folder))
    describe(case, folder, run, session)


def go(case: GpuCase, run: Path, kbs: Callable[..., None], *into: str) -> None:
    """Every command of a run; ``into`` are the options that name the device or the recording."""
    kernel, reference = GPU / case.folder / case.kernel, GPU / case.folder / "ref.py"
    head = (str(kernel), "--ref", str(reference), *case.options, "--output", str(run), *into)
    if not case.authored:
        kbs("optimize", *head)
        return
    kbs("loop", "init", *head)
    kbs("loop", "next", str(run), *into)
    for version, files in enumerate(case.authored, start=1):
        if not (run / f"v{version - 1}" / "request.json").exists():
            break  # the run has ended: nothing names another cure
        for file in files:
            methods = claimed(run, version, file)
            kbs("loop", "submit", str(run), str(SOFTMAX / file), *methods)
            kbs("loop", "close", str(run), *into)
    kbs("loop", "resume", str(run), *into)


def version_seconds(journal: Path) -> dict[str, float]:
    """Wall seconds of each version, from its opening to the gate that passed it."""
    opened: dict[int, datetime] = {}
    took = {}
    for line in journal.read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        at, version = datetime.fromisoformat(event["at"]), event["data"].get("version")
        if event["kind"] == "version_opened":
            opened[version] = at
        elif event["kind"] == "gate_passed" and version in opened:
            took.setdefault(f"v{version}", round((at - opened[version]).total_seconds(), 2))
    return took


def describe(case: GpuCase, folder: Path, run: Path, session: Session) -> None:
    """card.json: on what, when, how, and how long each step took."""
    with RunFolder.open(run) as opened:
        env = opened.read(opened.paths.env, Env)
        state = opened.state()
    card = {
        "case": case.name,
        "gpu": env.machine.gpu if env.machine else "",
        "driver": env.machine.driver if env.machine else "",
        "date": env.date,
        "counters": env.machine.counters if env.machine else False,
        "options": list(case.options),
        "ended": state.ended,
        "improved": state.improved,
        "gpu_seconds": state.gpu_seconds_used,
        "steps": session.steps,
        "version_seconds": version_seconds(run / "events.jsonl"),
    }
    (folder / "card.json").write_text(json.dumps(card, indent=2) + "\n")
    print(
        json.dumps(
            {key: card[key] for key in ("case", "gpu", "ended", "improved", "version_seconds")}
        )
    )


if __name__ == "__main__":
    for wanted in sys.argv[2:] or list(CASES):
        record(CASES[wanted], Path(sys.argv[1]))

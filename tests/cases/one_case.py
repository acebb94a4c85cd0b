"""One case study from its naive kernel to its record, by the commands that anybody has."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Container
from pathlib import Path

import msgspec

from kbs.home import home_folder
from kbs_backends.device import open_device
from kbs_engine.blobs import BlobStore
from kbs_engine.jobs import SourceRef, Task, TimingSettings
from tests.cases.case_list import CaseStudy
from tests.cases.collect import collect
from tests.cases.compare import Race, search, source_of
from tests.cases.records import CaseRecord

DRY = ("-n", "1", "--branches", "2", "--rounds", "1", "--process-pairs", "1", "--warmup", "0",
       "--trials", "4", "--slots", "1")  # fmt: skip
"""What keeps a dry run short; it proves the script and nothing else."""
DRY_BENCH = ("--num-trials", "4", "--process-pairs", "1", "--num-warmup", "0")
DRY_TIMING = TimingSettings(warmup_calls=0, warmup_ms=0.0, trials=4)
BENCH_S = 30.0
"""Wall seconds of a case's limit that are kept for the bench of its champion."""
INTERRUPTED_S = 20.0
"""So long may an interrupted command take to end."""
DRY_SECONDS = 0.5
"""GPU seconds of a comparison in a dry run: one block."""


class Ways(msgspec.Struct, frozen=True, kw_only=True):
    """How the cases are run."""

    device: str = "auto"
    dry: bool = False
    gpu_seconds: float = 90.0
    iterations: int = 4
    knowledge: bool = True
    compare: tuple[str, ...] = ()
    limit_s: float = 560.0
    """Wall seconds; ``kbs optimize`` is interrupted so that time is left for a bench."""

    def optimize(self, case: CaseStudy) -> list[str]:
        """Arguments of kbs for a case; without the folders of a recording, what repeats it."""
        options = ["--gpu-seconds", f"{self.gpu_seconds:g}", "--device", self.device]
        options += list(DRY) if self.dry else ["-n", str(self.iterations), "--trials", "40"]
        if not self.knowledge:
            options += ["--knowledge", "off", "--templates", "off"]
        return ["optimize", *case.arguments(small=self.dry), *options]


def run_case(
    case: CaseStudy, ways: Ways, work: Path, *, date: str, keep: Callable[[CaseRecord], None]
) -> CaseRecord:
    """Optimize, bench v0 and the champion, compare; ``keep`` gets the record after each step.

    The home of the case is ``work/home``: today's index, and no outcomes of other cases, so that
    a case gives the same whatever was run before it.

    A run that was refused or broke off counts as far as it got, and says so.

    Raises:
        RuntimeError: There is no index, or ``kbs optimize`` left no measured v0.
    """
    began = time.monotonic()
    copy_index(work / "home")
    root, words = work / "run", ways.optimize(case)
    record_to = ("--output", str(root), "--record", str(work / "recording"))
    limit_s = max(ways.limit_s - BENCH_S, ways.limit_s / 2)
    code = kbs(*words, *record_to, home=work / "home", codes=range(-64, 256), limit_s=limit_s)
    if code and not (root / "v0" / "bench.json").is_file():
        raise RuntimeError(f"kbs optimize ended with {code}")
    facts = {"date": date, "command": shown(words)}
    if code:
        over = time.monotonic() - began >= limit_s
        why = f"was interrupted after {limit_s:.0f} s" if over else f"ended with {code}"
        facts["incomplete"] = f"kbs optimize {why}"
    record, champion = collect(case, root, {}, **facts, wall_s=time.monotonic() - began)
    keep(record)
    benches = _benches(case, ways, work, champion)
    took = time.monotonic() - began
    record, champion = collect(case, root, benches, **facts, wall_s=took)
    keep(record)
    for place, how in enumerate(ways.compare):
        now, left = time.monotonic(), len(ways.compare) - place
        ends = now + max(0.0, began + ways.limit_s - now) / left
        row = _otherwise(case, ways, work, champion, how, record, ends)
        record = msgspec.structs.replace(record, compared=(*record.compared, row))
        keep(record)
    return record


def _benches(case: CaseStudy, ways: Ways, work: Path, champion: Path) -> dict[str, Path]:
    """``kbs bench`` of the champion against every library."""
    folder = work / "bench_best"
    words = ["bench", str(champion), *case.arguments(small=ways.dry)[1:], "--device", ways.device,
             "--baselines", "pytorch-eager" if ways.dry else "all",
             "--output-dir", str(folder)]  # fmt: skip
    kbs(*words, *(DRY_BENCH if ways.dry else ()), home=work / "home", codes=(0, 1))
    return {"best": folder / "benchmark.json"}


def _otherwise(
    case: CaseStudy,
    ways: Ways,
    work: Path,
    champion: Path,
    how: str,
    record: CaseRecord,
    ends: float,
) -> object:
    """The GPU seconds of the run spent by another search."""
    blobs = BlobStore(work / f"blobs_{how}")
    text = case.source.read_text(encoding="utf-8")
    setup = SourceRef(sha256=blobs.put(text), language=case.language, name=case.source.name)
    task = Task(
        reference_sha256=blobs.put(case.reference.read_bytes()),
        dims=case.small if ways.dry else case.dims,
        permitted=case.permit,
        setup=setup,
    )
    with open_device(ways.device, blobs) as device:
        race = Race(
            device=device,
            blobs=blobs,
            task=task,
            champion=source_of(champion, case.language, blobs),
            v0=source_of(case.source, case.language, blobs),
            seconds=DRY_SECONDS if ways.dry else record.gpu_seconds,
            timing=DRY_TIMING if ways.dry else TimingSettings(),
            rounds=1 if ways.dry else 10,
            pairs=1 if ways.dry else 3,
            ends=ends,
            cuda=record.device == "cuda",
        )
        return search(race, how)


def copy_index(home: Path) -> None:
    """A home of its own with the index of the user's, and nothing else."""
    index = home_folder(None) / "index"
    if not (index / "CURRENT").is_file():
        raise RuntimeError(f"{index} is no index: run `kbs ingest` first, or set KBS_HOME")
    shutil.copytree(index, home / "index")


def kbs(*words: str, home: Path, codes: Container[int] = (0,), limit_s: float | None = None) -> int:
    """One command in a process of its own; its output goes where this process's goes.

    After ``limit_s`` wall seconds it is interrupted, as by Ctrl-C.
    """
    print(f"$ {shown(list(words))}", flush=True)
    command = [sys.executable, "-m", "kbs", "--home", str(home), "--quiet", *words]
    with subprocess.Popen(command) as child:
        try:
            code = child.wait(limit_s)
        except subprocess.TimeoutExpired:
            print(f"interrupted after {limit_s:g} s", flush=True)
            child.send_signal(signal.SIGINT)
            code = _ended(child)
    if code not in codes:
        raise RuntimeError(f"kbs {words[0]} ended with {code}")
    return code


def _ended(child: subprocess.Popen[bytes]) -> int:
    try:
        return child.wait(INTERRUPTED_S)
    except subprocess.TimeoutExpired:
        child.kill()
        return child.wait()


def shown(words: list[str]) -> str:
    """The command as a person types it at the root of the repository."""
    here = f"{Path.cwd()}{os.sep}"
    return "kbs " + shlex.join(word.removeprefix(here) for word in words)

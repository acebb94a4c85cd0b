"""Tools started ahead of their jobs, on a GPU: what they save, and that they hold nothing.

``python -m tests.gpu.ahead [--home HOME] [--wait SECONDS]`` prints one JSON object; its
``faults`` are empty where all is well. HOME is an indexed home, for the one wide pass.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from kbs_backends import environment
from kbs_backends.device import LocalDevice, proc
from kbs_engine.adaptive import widest_pass
from kbs_engine.blobs import BlobStore
from kbs_engine.jobs import Check, Probe, ProfileJob, Result, Sanitize, SourceRef, Task, Time
from kbs_engine.results import Collected, Machine, Profiled, Sanitized, read
from kbs_ingest.store import open_store

KERNEL = Path(__file__).parents[1] / "loop" / "gpu" / "softmax_cuda"


class Tried:
    """One device, one kernel, and how long each job took."""

    def __init__(self, device: LocalDevice, blobs: BlobStore) -> None:
        self.device = device
        self.task = Task(
            reference_sha256=blobs.put((KERNEL / "ref.py").read_text()),
            dims={"M": 4096, "N": 4096},
        )
        sha256 = blobs.put((KERNEL / "kernel.cu").read_text())
        self.source = SourceRef(sha256=sha256, language="cuda-cpp", name="kernel.cu")
        self.seconds: dict[str, float] = {}
        self.metrics: dict[str, int] = {}
        """How many were asked for by name."""
        self.faults: list[str] = []

    def run(self, name: str, job: Any) -> Result:
        began = time.monotonic()
        result = self.device.submit(job).result()
        self.seconds[name] = round(time.monotonic() - began, 2)
        if result.failure:
            self.faults.append(f"{name}: {result.failure}")
        return result

    def both(self, name: str) -> tuple[Sanitized, Profiled]:
        asked = {"source": self.source, "task": self.task}
        sanitized = self.run(f"{name} sanitizer", Sanitize(**asked))
        profiled = self.run(f"{name} profile", ProfileJob(**asked))
        return read(sanitized, Sanitized), read(profiled, Profiled)

    def ready(self, seconds: float) -> list[int]:
        """Wait until every tool waits; their processes."""
        ahead, deadline = self.device._outside._ahead, time.monotonic() + seconds
        while time.monotonic() < deadline:
            children = list(ahead._waiting.values())
            if children and all(child is not None and child.channel for child in children):
                break
            time.sleep(0.1)
        else:
            self.faults.append(f"not all tools were ready within {seconds:g} s: {ahead._faults}")
        return [pid for one in ahead.pids() for pid in (one, *proc.descendants(one))]


def holders() -> set[int]:
    """Processes with a context on a GPU."""
    import pynvml

    pynvml.nvmlInit()
    cards = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())]
    return {one.pid for card in cards for one in pynvml.nvmlDeviceGetComputeRunningProcesses(card)}


def tried(device: LocalDevice, blobs: BlobStore, home: Path | None, wait_s: float) -> Tried:
    """Both jobs as usual, then in tools that waited ``wait_s`` and more."""
    it = Tried(device, blobs)
    read(it.run("probe", Probe()), Machine)
    it.run("time", Time(arms=(it.source,), task=it.task))
    usual = it.both("usual")
    widest = None
    if home is not None:
        with open_store(home) as store:
            rules, names = store.rules(), store.metric_map("nvidia")
        widest = lambda arch: widest_pass(rules, names, arch=arch)  # noqa: E731 - one use
    device.expect_many(widest)
    it.run("time again", Time(arms=(it.source,), task=it.task, block=1))
    it.run("check", Check(source=it.source, task=it.task))
    waiting = it.ready(90)
    held = holders() & set(waiting)
    opened = [pid for pid in waiting if _opened_card(pid)]
    if held or opened:
        it.faults.append(f"waiting processes hold a GPU: {held or opened}")
    time.sleep(wait_s)  # the sanitizer's own patience is ten seconds
    counter = next(one for one in environment.survey() if one.part == "counter read")
    if counter.state != "ok":
        it.faults.append(f"beside those that wait no counter is read: {counter.detail}")
    for name in ("ahead", "ahead again"):
        found = it.both(name)
        _compare(it, name, usual, found)
        it.ready(90)
    return it


def _opened_card(pid: int) -> bool:
    """Whether a process has an NVIDIA device open."""
    try:
        links = [str(fd.readlink()) for fd in Path(f"/proc/{pid}/fd").iterdir()]
    except OSError:
        return False
    return any(link.startswith("/dev/nvidia") for link in links)


def _compare(
    it: Tried, name: str, usual: tuple[Sanitized, Profiled], found: tuple[Sanitized, Profiled]
) -> None:
    if usual[0] != found[0]:
        it.faults.append(f"{name}: the sanitizer says {found[0]} and said {usual[0]}")
    collected = found[1].collected
    if not isinstance(collected, Collected) or not collected.arguments:
        it.faults.append(f"{name}: the profile was a usual start")
    if not found[1].report_sha256:
        it.faults.append(f"{name}: no report; {found[1].notes}")
    it.metrics[name] = len(found[1].metrics)


def main(arguments: list[str] | None = None) -> int:
    """Try it; 0 without faults."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--wait", type=float, default=15.0)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        blobs = BlobStore(Path(folder) / "blobs")
        with LocalDevice(blobs, kind="cuda") as device:
            it = tried(device, blobs, options.home, options.wait)
            waiting = it.ready(90)
        left = [pid for pid in waiting if not proc.ended(pid)]
        it.faults += [f"left behind: {left}"] if left else []
    print(json.dumps({"seconds": it.seconds, "metrics": it.metrics, "faults": it.faults}, indent=1))
    return int(bool(it.faults))


if __name__ == "__main__":
    sys.exit(main())

"""A host device that all modules share, and kernels of a small task as text."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

import pytest

from kbs_backends.device import Limits, LocalDevice
from kbs_engine.blobs import BlobStore
from kbs_engine.jobs import BaselineRef, Check, SourceRef, Task, Time, TimingSettings
from kbs_engine.results import Checked, Timed, read

REFERENCE = """
import torch

def setup(N=300, **_):
    return {"inputs": {"x": torch.randn(N), "y": torch.empty(N)}, "outputs": ["y"]}

def reference(x, y, **_):
    y.copy_(torch.softmax(x, 0))
"""

HEAD = """
import torch

def setup(N=300, **_):
    return {"inputs": {"x": torch.randn(N), "y": torch.empty(N)}, "outputs": ["y"]}

def honest(x, y):
    e = torch.exp(x - x.max())
    torch.div(e, e.sum(), out=y)
"""

HONEST = "def run_kernel(x, y, **_):\n    honest(x, y)\n"

LIMITS = Limits(load_s=30.0, idle_s=3.0, call_s=3.0, memory_bytes=1 << 30, file_bytes=64 << 20,
                folder_bytes=256 << 20, output_bytes=1 << 20)  # fmt: skip


@dataclass
class Rig:
    """A device, its store, and jobs in one line."""

    device: LocalDevice
    blobs: BlobStore
    task: Task

    def source(self, text: str, *, head: str = HEAD, name: str = "kernel.py") -> SourceRef:
        sha256 = self.blobs.put(head + textwrap.dedent(text))
        return SourceRef(sha256=sha256, language="triton", name=name)

    def result(self, job):
        return self.device.submit(job).result(timeout=120)

    def check(self, text: str, *, rounds: int = 10, head: str = HEAD) -> Checked:
        job = Check(source=self.source(text, head=head), task=self.task, rounds=rounds)
        return read(self.result(job), Checked)

    def time(self, *texts: str, trials: int = 8, baseline: bool = False, **options) -> Timed:
        arms = [self.source(text, name=f"arm{i}.py") for i, text in enumerate(texts)]
        if baseline:
            arms.append(BaselineRef(name="pytorch-eager"))
        settings = TimingSettings(trials=trials, warmup_calls=2, warmup_ms=0)
        job = Time(arms=tuple(arms), task=self.task, settings=settings, **options)
        return read(self.result(job), Timed)


def open_rig(folder, **options) -> Rig:
    blobs = BlobStore(folder / "blobs")
    task = Task(reference_sha256=blobs.put(REFERENCE), dims={"N": 300})
    options.setdefault("limits", LIMITS)
    device = LocalDevice(blobs, kind="host", workdir=folder / "work", **options)
    return Rig(device, blobs, task)


@pytest.fixture(scope="session")
def rig(tmp_path_factory):
    made = open_rig(tmp_path_factory.mktemp("device"))
    with made.device:
        yield made

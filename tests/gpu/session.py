"""What every part of the GPU session shares: device, time limit, and files with their origin."""

from __future__ import annotations

import functools
import json
import time
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from kbs_backends.device import Limits, LocalDevice, RecordedDevice, Recorder
from kbs_engine.blobs import BlobStore
from kbs_engine.facts import Chip
from kbs_engine.jobs import Probe, Result, SourceRef, Task
from kbs_engine.results import Machine, read

ROOT = Path(__file__).resolve().parents[2]
KERNELS = Path(__file__).resolve().parent / "kernels"


@dataclass
class Session:
    """One run of the script on one device."""

    out: Path
    work: Path
    seconds: float
    dry: bool
    chip_file: Path | None = None
    rows: frozenset[str] = frozenset()
    """Of the table of languages only these: ``task:language``, with ``*`` for all."""
    waiting: int | None = None
    """Processes that open the device ahead of need; None: as many as usual."""
    replay: Path | None = None
    """A recording in place of a device."""
    start: float = field(default_factory=time.monotonic)
    blobs: BlobStore = field(init=False)
    device: Recorder | RecordedDevice = field(init=False)
    chip: Chip | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.out.mkdir(parents=True, exist_ok=True)
        self.blobs = BlobStore(self.work / "blobs")
        if self.replay is not None:
            self.device = RecordedDevice(self.replay, self.blobs)
            return
        if self.chip_file is not None:
            self.chip = msgspec.json.decode(self.chip_file.read_bytes(), type=Chip)
        elif not self.dry:
            self.chip = chip_here()
        kind = "host" if self.dry else "cuda"
        local = LocalDevice(
            self.blobs, kind=kind, workdir=self.work / "device", chip=self.chip,
            limits=Limits(waiting=self.waiting),
        )  # fmt: skip
        self.device = Recorder(local, self.work / "recording", self.blobs)

    @functools.cached_property
    def machine(self) -> Machine:
        """Card, driver, tools and versions."""
        return read(self.run(Probe()), Machine)

    @property
    def left_s(self) -> float:
        return self.seconds - (time.monotonic() - self.start)

    def wanted(self, task: str, language: str) -> bool:
        """Whether a row of the table of languages was asked for."""
        names = {f"{task}:*", f"*:{language}", f"{task}:{language}"}
        return not self.rows or bool(names & self.rows)

    def source(self, path: Path, language: str, text: str | None = None) -> SourceRef:
        content = path.read_text(encoding="utf-8") if text is None else text
        return SourceRef(sha256=self.blobs.put(content), language=language, name=path.name)

    def task(self, reference: Path, dims: dict, **rest) -> Task:
        sha256 = self.blobs.put(reference.read_text(encoding="utf-8"))
        return Task(reference_sha256=sha256, dims=dims, **rest)

    def run(self, job) -> Result:
        return self.device.submit(job).result()

    def write(self, name: str, data: object, *, provenance: object = None) -> None:
        """One file, with the card that it was measured on."""
        record = {
            "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "dry": self.dry,
            "seconds": round(time.monotonic() - self.start, 1),
            "provenance": msgspec.to_builtins(provenance or self.machine),
            "data": msgspec.to_builtins(data),
        }
        path = self.out / f"{name}.json"
        partial = path.with_suffix(".part")
        partial.write_text(json.dumps(record, indent=1), encoding="utf-8")
        partial.replace(path)
        print(f"{record['seconds']:7.1f} s  wrote {path.name}", flush=True)

    def pack(self) -> None:
        """The recording as one file: what comes back is limited in files and folders."""
        import tarfile

        with tarfile.open(self.out / "recording.txz", "w:xz") as archive:
            archive.add(self.work / "recording", arcname="recording")


def chip_here() -> Chip | None:
    """The cited chip of this GPU, straight from the wiki's pages: no index is needed."""
    from kbs_backends.device.gpus import gpu_name
    from kbs_ingest.wiki.load import load_wiki

    name = gpu_name(0).casefold()
    found = [
        page.chip
        for page in load_wiki([ROOT / "gpu-wiki"]).chips.values()
        if name in {word.casefold() for word in (page.chip.id, page.chip.name, *page.chip.aliases)}
    ]
    return found[0] if len(found) == 1 else None


def told(result: Result) -> dict:
    """A result as data: its value, or why there is none."""
    return {"failure": result.failure} if result.value is None else dict(result.value)

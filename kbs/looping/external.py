"""``--benchmark CMD``: a team's own driver times a source; its figure is labelled external."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import Final

import msgspec

from kbs_engine.blobs import BlobStore
from kbs_engine.decoding import decode_json
from kbs_engine.loop.asks import External, ExternalDone

TIMEOUT_S: Final = 600.0
_NS: Final = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}
_LINE: Final = re.compile(r"(?P<value>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*(?P<unit>ns|us|µs|ms|s)\b")


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """What a driver may print as JSON: ``{"value": 61.2, "unit": "us"}``."""

    value: float
    unit: str = "ns"


def run_external(ask: External, blobs: BlobStore) -> ExternalDone:
    """Run ``CMD KERNEL REF`` with the dims in ``KBS_DIMS``; the last time that it prints counts."""
    with tempfile.TemporaryDirectory(prefix="kbs-external-") as name:
        folder = Path(name)
        kernel, reference = folder / ask.source.name, folder / "ref.py"
        kernel.write_bytes(blobs.get(ask.source.sha256))
        reference.write_bytes(blobs.get(ask.task.reference_sha256))
        dims = msgspec.json.encode(ask.task.dims).decode()
        try:
            done = subprocess.run(
                [*shlex.split(ask.command), str(kernel), str(reference)],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=TIMEOUT_S,
                check=False,
                env={**os.environ, "KBS_DIMS": dims},
            )
        except (OSError, ValueError, subprocess.TimeoutExpired) as problem:
            return ExternalDone(failure=f"could not be run: {problem}")
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()
        return ExternalDone(failure=f"ended with {done.returncode}: {last[-1] if last else ''}")
    return read_figure(done.stdout)


def read_figure(text: str) -> ExternalDone:
    """The last figure of a driver's output in nanoseconds: a JSON line, or a number with a unit."""
    for line in reversed(text.strip().splitlines()):
        try:
            figure = decode_json(line, Figure)
        except msgspec.DecodeError:
            matches = list(_LINE.finditer(line))
            if not matches:
                continue
            figure = Figure(value=float(matches[-1]["value"]), unit=matches[-1]["unit"])
        if figure.unit in _NS:
            return ExternalDone(value=figure.value * _NS[figure.unit], unit="ns")
    return ExternalDone(failure="printed no time; print 61.2 us or a JSON line")

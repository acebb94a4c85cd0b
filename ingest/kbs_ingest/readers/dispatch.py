"""Find out what a file is from its content, and read it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from kbs_engine.errors import ReportError
from kbs_ingest.readers import ncu_details, ncu_raw, ncu_rep, ncu_text, refused, rocprof
from kbs_ingest.readers.tables import Table, tables
from kbs_ingest.readers.text import decode

if TYPE_CHECKING:
    from pathlib import Path

    from kbs_engine.metrics import MetricMap
    from kbs_engine.profiles import Report

MAX_TEXT_BYTES: Final = 1_000_000_000
_HEAD: Final = 4096
_VENDOR_HEAD: Final = 1_000_000
_AMD: Final = re.compile(
    r"\bDispatch_I[dD]\b|\bKernel_Name\b"
    r"|\bKernelName\b.{0,2000}\bgpu-id\b|\bgpu-id\b.{0,2000}\bKernelName\b"
)


def read_report(path: Path, metric_map: MetricMap) -> Report:
    """Read a profiler report or export, detected by its content.

    Raises ReportError with the place and the remedy for everything that cannot be read.
    """
    if path.is_dir():
        return rocprof.read_folder(path, metric_map)
    refused.irregular(path)
    head = _bytes(path, _HEAD)
    if head.startswith(ncu_rep.MAGICS):
        _nvidia(path, metric_map)
        return ncu_rep.read(path, metric_map)
    refused.binary(head, path)
    text = decode(_bytes(path))
    if not text.strip():
        raise ReportError("the file is empty", where=str(path), remedy="profile or export again")
    report = _read_text(text, path, metric_map)
    return msgspec.structs.replace(report, notes=(*report.notes, *refused.notes(text)))


def report_vendor(path: Path) -> Literal["nvidia", "amd"]:
    """Whose tool wrote a report, so that the caller can choose the metric map.

    Anything that is not plainly AMD's counts as NVIDIA's; read_report then says what it is.
    """
    if path.is_dir():
        return "amd"
    refused.irregular(path)
    head = _bytes(path, _VENDOR_HEAD)
    return "amd" if _AMD.search(decode(head)) else "nvidia"


def _read_text(text: str, path: Path, metric_map: MetricMap) -> Report:
    found = tables(text, path)
    for fits, read in (
        (rocprof.is_rocprof, rocprof.read),
        (ncu_details.is_details, ncu_details.read),
        (ncu_raw.is_raw, ncu_raw.read),
    ):
        mine = [table for table in found if fits(table.header)]
        if mine:
            _some_rows(mine, text, path)
            if read is not rocprof.read:
                _nvidia(path, metric_map)
            return read(mine, path, metric_map)
    if ncu_text.is_text(text):
        _nvidia(path, metric_map)
        return ncu_text.read(text, path, metric_map)
    raise refused.unknown(text, path)


def _nvidia(path: Path, metric_map: MetricMap) -> None:
    if metric_map.vendor != "nvidia":
        raise ReportError(
            "this is output of NVIDIA's ncu, but the metric map is AMD's",
            where=str(path),
            remedy="read it with gpu-wiki/metrics/nvidia.yaml",
        )


def _some_rows(found: list[Table], text: str, path: Path) -> None:
    """A header alone is explained by what the tool printed beside it, where it did."""
    if not any(table.rows for table in found):
        refused.failed_run(text, path)


def _bytes(path: Path, limit: int = MAX_TEXT_BYTES) -> bytes:
    try:
        with path.open("rb") as stream:
            data = stream.read(limit)
            more = limit == MAX_TEXT_BYTES and stream.read(1)
    except FileNotFoundError as fault:
        raise ReportError("no such file", where=str(path), remedy="check the path") from fault
    except OSError as fault:
        message = f"the file cannot be read: {fault.strerror or fault}"
        raise ReportError(message, where=str(path), remedy="check its permissions") from fault
    if more:
        message = f"the export is larger than {MAX_TEXT_BYTES} bytes"
        raise ReportError(message, where=str(path), remedy="give the .ncu-rep itself")
    return data

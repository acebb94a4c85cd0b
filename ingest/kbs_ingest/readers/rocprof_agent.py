"""Which GPU a rocprof run was on: agent_info.csv or sysinfo.csv beside the counters."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Final

from kbs_ingest.readers.text import decode, split_lines

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from kbs_ingest.readers.launches import Launch

_PRODUCT: Final = ("Product_Name", "gpu_model", "Model_Name")
_TARGET: Final = ("Name", "gpu_arch")
_UNITS: Final = ("Cu_Count", "cu_per_gpu", "Compute_Units")


def add_agent(launches: Iterable[Launch], folder: Path) -> None:
    """Name the GPU on every launch where exactly one kind of GPU is listed."""
    gpus = [gpu for file in _files(folder) for gpu in _gpus(file)]
    kinds = {(_first(gpu, _PRODUCT), _first(gpu, _TARGET), _first(gpu, _UNITS)) for gpu in gpus}
    if len(kinds) != 1:
        return
    product, target, units = kinds.pop()
    for launch in launches:
        launch.chip = product or target or None
        if units.isdigit():
            launch.values["launch:unit_count"] = (float(units), "")


def _files(folder: Path) -> list[Path]:
    return sorted({*folder.rglob("*agent_info.csv"), *folder.glob("sysinfo.csv")})


def _gpus(file: Path) -> list[dict[str, str]]:
    try:
        rows = list(csv.DictReader(split_lines(decode(file.read_bytes()))))
    except (OSError, csv.Error):
        return []
    return [row for row in rows if (row.get("Agent_Type") or "GPU").upper().endswith("GPU")]


def _first(row: dict[str, str], names: tuple[str, ...]) -> str:
    return next((row[name].strip() for name in names if row.get(name)), "")

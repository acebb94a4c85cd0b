"""The GPUs that a CUDA program would see here, asked of the driver without importing torch.

Numbers count as CUDA does: within ``CUDA_VISIBLE_DEVICES``, by PCI bus id
(https://docs.nvidia.com/cuda/cuda-programming-guide/05-appendices/environment-variables.html).
``by_bus`` asks CUDA for that order too, which by itself would count the fastest card first.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from kbs_engine.errors import MeasurementError

Kind = Literal["cuda", "host"]
VISIBLE = "CUDA_VISIBLE_DEVICES"
ORDER = "CUDA_DEVICE_ORDER"


def gpu_count() -> int:
    """NVIDIA GPUs that a CUDA program sees; 0 without a driver."""
    try:
        import pynvml
    except ImportError:
        return len(_by_files())
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return 0
    try:
        return len(list(_handles(pynvml)))
    except pynvml.NVMLError:
        return 0
    finally:
        pynvml.nvmlShutdown()


def gpu_name(gpu: int) -> str:
    """Product name of a GPU as its driver prints it; empty without one."""
    return _of(gpu, "nvmlDeviceGetName")


def gpu_uuid(gpu: int) -> str:
    """What names a GPU wherever it is counted (``GPU-…``, ``MIG-…``); empty without one."""
    return _of(gpu, "nvmlDeviceGetUUID")


def visible_as(gpu: int) -> str:
    """The value of ``CUDA_VISIBLE_DEVICES`` with which a process sees this GPU alone."""
    uuid = gpu_uuid(gpu)
    if uuid:
        return uuid
    found = _by_files()
    return str(found[gpu]) if gpu < len(found) else str(gpu)


def by_bus(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a process that is to count GPUs as this module does."""
    return {ORDER: "PCI_BUS_ID", **environment}


def choose_kind(asked: str) -> Kind:
    """``cuda`` where there is a GPU; the host only when it was asked for.

    Raises:
        MeasurementError: A GPU is needed and there is none.
    """
    if asked == "host":
        return "host"
    if asked in ("cuda", "auto") and gpu_count():
        return "cuda"
    hidden = os.environ.get(VISIBLE)
    why = "" if hidden is None else f" ({VISIBLE}={hidden!r} is set, which may hide it)"
    raise MeasurementError(
        f"no GPU is here: nothing can be measured{why}",
        remedy="run on a machine with an NVIDIA GPU and its driver (`kbs doctor` tells what is "
        "missing), or give --device host for a dry run on the CPU, whose times say nothing "
        "about a GPU",
    )


def _by_files() -> list[int | str]:
    """Visible GPUs where the driver's library cannot be asked: its device files are counted."""
    return list(_named(len(list(Path("/dev").glob("nvidia[0-9]*")))))


def _of(gpu: int, function: str) -> str:
    try:
        import pynvml
    except ImportError:
        return ""
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return ""
    try:
        handle = next((one for i, one in enumerate(_handles(pynvml)) if i == gpu), None)
        value = "" if handle is None else getattr(pynvml, function)(handle)
    except pynvml.NVMLError:
        return ""
    finally:
        pynvml.nvmlShutdown()
    return value.decode() if isinstance(value, bytes) else str(value)


def _handles(nvml: Any) -> Iterator[Any]:
    """Handles of the visible GPUs, in order."""
    count = int(nvml.nvmlDeviceGetCount())
    for name in _named(count):
        if isinstance(name, int):
            yield nvml.nvmlDeviceGetHandleByIndex(name)
            continue
        handle = _by_uuid(nvml, name, count)
        if handle is None:
            return
        yield handle


def _named(count: int) -> Iterator[int | str]:
    """What ``CUDA_VISIBLE_DEVICES`` names, up to the first word that names nothing."""
    words = os.environ.get(VISIBLE)
    if words is None:
        yield from range(count)
        return
    seen = set()
    for word in (part.strip() for part in words.split(",")):
        index = int(word) if word.isdigit() else None
        if word in seen or (index is None and not word.startswith(("GPU-", "MIG-"))):
            return
        if index is not None and index >= count:
            return
        seen.add(word)
        yield word if index is None else index


def _by_uuid(nvml: Any, name: str, count: int) -> Any:
    """A GPU by a beginning of its uuid, or a part of one by its whole uuid."""
    if name.startswith("MIG-"):
        try:
            return nvml.nvmlDeviceGetHandleByUUID(name.encode())
        except nvml.NVMLError:
            return None
    found = []
    for index in range(count):
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
        uuid = nvml.nvmlDeviceGetUUID(handle)
        if (uuid.decode() if isinstance(uuid, bytes) else str(uuid)).startswith(name):
            found.append(handle)
    return found[0] if len(found) == 1 else None

"""Whether there is a GPU, asked of the driver without importing torch."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from kbs_engine.errors import MeasurementError

Kind = Literal["cuda", "host"]


def gpu_count() -> int:
    """NVIDIA GPUs that the driver knows; 0 without a driver."""
    try:
        import pynvml
    except ImportError:
        return len(list(Path("/dev").glob("nvidia[0-9]*")))
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return 0
    try:
        return int(pynvml.nvmlDeviceGetCount())
    except pynvml.NVMLError:
        return 0
    finally:
        pynvml.nvmlShutdown()


def gpu_name(gpu: int) -> str:
    """Product name of a GPU as its driver prints it; empty without one."""
    if gpu >= gpu_count():
        return ""
    try:
        import pynvml
    except ImportError:
        return ""
    pynvml.nvmlInit()
    try:
        name = pynvml.nvmlDeviceGetName(pynvml.nvmlDeviceGetHandleByIndex(gpu))
    except pynvml.NVMLError:
        return ""
    finally:
        pynvml.nvmlShutdown()
    return name.decode() if isinstance(name, bytes) else str(name)


def choose_kind(asked: str) -> Kind:
    """``cuda`` where there is a GPU; the host only when it was asked for.

    Raises:
        MeasurementError: A GPU is needed and there is none.
    """
    if asked == "host":
        return "host"
    if asked in ("cuda", "auto") and gpu_count():
        return "cuda"
    raise MeasurementError(
        "no GPU is here: nothing can be measured",
        remedy="run on a machine with an NVIDIA GPU and its driver (`kbs doctor` tells what is "
        "missing), or give --device host for a dry run on the CPU, whose times say nothing "
        "about a GPU",
    )

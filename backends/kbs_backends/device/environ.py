"""The environment of processes that we start in another folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from kbs_backends.device.gpus import by_bus


def child_environment(**more: str) -> dict[str, str]:
    """Ours, with our packages found whatever the working folder is, and GPUs in our order."""
    packages = str(Path(__file__).resolve().parents[2])
    entries = [str(Path(entry).resolve()) for entry in sys.path if entry]
    path = os.pathsep.join(dict.fromkeys((packages, *entries)))
    return {**by_bus(os.environ), "PYTHONPATH": path, **more}

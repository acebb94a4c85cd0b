"""A Triton cache with what every kernel needs and no candidate decides: the driver's helpers.

Every candidate has a cache of its own, so that none can leave another a compiled kernel. The
helpers (a compiled extension and a launcher) cost seconds; the owner, which is trusted, builds
them once, and each candidate starts with a copy.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def build(folder: Path, device: str) -> str:
    """Fill ``folder``; empty when it went well, else why candidates must do it themselves."""
    before = os.environ.get("TRITON_CACHE_DIR")
    os.environ["TRITON_CACHE_DIR"] = str(folder)
    try:
        import torch

        from kbs_backends.device.warm_kernel import fill_kernel

        out = torch.empty(32, device=device)
        fill_kernel[(1,)](out, 1.0, 32)
        torch.cuda.synchronize()
    except Exception as problem:  # noqa: BLE001 - whatever triton lacks, a candidate will tell
        return f"{type(problem).__name__}: {problem}"
    finally:
        if before is None:
            del os.environ["TRITON_CACHE_DIR"]
        else:
            os.environ["TRITON_CACHE_DIR"] = before
    return ""


def give(folder: Path, worker_folder: Path) -> None:
    """Copy the cache into a worker's folder."""
    if folder.is_dir():
        shutil.copytree(folder, worker_folder / "triton")

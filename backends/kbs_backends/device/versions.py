"""Versions of the libraries that decide what a measurement means."""

from __future__ import annotations

import contextlib
import platform
from functools import lru_cache
from importlib import metadata


@lru_cache(maxsize=1)
def library_versions() -> dict[str, str]:
    """Installed versions, by package; what is not installed is left out."""
    out = {"python": platform.python_version()}
    for name in ("torch", "triton", "nvidia-cutlass-dsl", "flashinfer-python", "gpu-kbs"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            out[name] = metadata.version(name)
    return out

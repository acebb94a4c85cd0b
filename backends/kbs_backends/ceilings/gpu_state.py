"""What the GPU host is and how it stands: card, driver, clocks, versions. No host name, no uuid."""

from __future__ import annotations

import contextlib
import datetime as dt
import platform
import shutil
import subprocess
from importlib import metadata
from typing import Any

_FIELDS = (
    "name",
    "driver_version",
    "clocks.sm",
    "clocks.mem",
    "clocks.max.sm",
    "clocks.max.mem",
    "temperature.gpu",
    "power.draw",
    "power.limit",
    "clocks_event_reasons.active",
    "mig.mode.current",
)
_KEYS = (
    "card",
    "driver",
    "sm_clock_mhz",
    "memory_clock_mhz",
    "sm_clock_max_mhz",
    "memory_clock_max_mhz",
    "temperature_c",
    "power_w",
    "power_limit_w",
    "clock_event_reasons",
    "mig",
)


def _text(command: list[str], timeout_s: float = 30) -> str | None:
    """Standard output of ``command``, or None where it is absent, fails or hangs."""
    if shutil.which(command[0]) is None:
        return None
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=timeout_s, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _number(word: str) -> float | str | None:
    word = word.strip()
    if word in {"", "N/A", "[N/A]", "[Not Supported]"}:
        return None
    try:
        return float(word)
    except ValueError:
        return word


def gpu_state(device: str = "0") -> dict[str, Any]:
    """Card, driver, clocks (MHz), temperature (°C) and power (W) as nvidia-smi reads them now."""
    state: dict[str, Any] = {}
    for field, key in zip(_FIELDS, _KEYS, strict=True):  # one by one: an old driver lacks some
        query = [f"--id={device}", f"--query-gpu={field}", "--format=csv,noheader,nounits"]
        line = _text(["nvidia-smi", *query])
        if line:
            text_field = key in {"card", "driver", "clock_event_reasons", "mig"}
            state[key] = line.strip() if text_field else _number(line)
    return state


def versions() -> dict[str, str]:
    """Versions of Python, the packages and the CUDA tools that shape a measurement."""
    found = {"python": platform.python_version()}
    for package in ("torch", "triton", "numpy"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    for tool in ("nvcc", "ncu"):
        text = _text([tool, "--version"])
        if text:
            found[tool] = text.splitlines()[-1].strip() if tool == "ncu" else _nvcc_release(text)
    return found


def _nvcc_release(text: str) -> str:
    lines = [line for line in text.splitlines() if "release" in line]
    return lines[0].split("release", 1)[1].strip() if lines else text.splitlines()[-1]


def today() -> str:
    """The date in UTC, as an ISO string."""
    return dt.datetime.now(tz=dt.timezone.utc).date().isoformat()


def environment(command: str, device: str = "0") -> dict[str, Any]:
    """All that a reader needs to judge a measurement: date, command, card, versions."""
    return {"date": today(), "command": command, "gpu": gpu_state(device), "versions": versions()}

"""What this host allows for keeping candidates apart: asked of the kernel, not guessed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from kbs_backends.environment import Finding
from kbs_backends.run_tool import run_tool

_COSTS: Final = (
    "a candidate could reach the network or other processes; results are still checked and "
    "verified from outside, and reports say that it was not cut off"
)


def find_isolation() -> tuple[Finding, ...]:
    """Network namespaces, system call filters, and resource limits."""
    return _network(), _filters(), _memory()


def _network() -> Finding:
    part = "network isolation"
    if shutil.which("unshare") is None:
        return Finding(
            part=part, state="missing", detail="unshare is not on PATH", costs=_COSTS,
            remedy="install util-linux",
        )  # fmt: skip
    for options in (("--net",), ("--user", "--map-root-user", "--net")):
        if run_tool(("unshare", *options, "true"), timeout_s=5).ok:
            return Finding(part=part, state="ok", detail=f"unshare {' '.join(options)}")
    return Finding(
        part=part, state="failed", detail="the kernel refuses a new network namespace",
        costs=_COSTS, remedy="run as root, or allow unprivileged user namespaces",
    )  # fmt: skip


def _filters() -> Finding:
    part = "system call filter"
    actions = Path("/proc/sys/kernel/seccomp/actions_avail")
    if actions.exists():
        return Finding(part=part, state="ok", detail="seccomp")
    return Finding(
        part=part, state="missing", detail="this kernel has no seccomp", costs=_COSTS,
        remedy="run on a kernel with CONFIG_SECCOMP_FILTER",
    )  # fmt: skip


def _memory() -> Finding:
    part = "host memory"
    try:
        lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
    except OSError as problem:
        return Finding(part=part, state="failed", detail=str(problem))
    found = {line.split(":")[0]: int(line.split()[1]) for line in lines if "kB" in line}
    free_gib = found.get("MemAvailable", 0) / 2**20
    return Finding(part=part, state="ok", detail=f"{free_gib:.1f} GiB available")

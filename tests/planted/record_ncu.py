"""The Nsight Compute command of the recorder, its CSV, and which launch belongs to which case."""

from __future__ import annotations

import csv
import gzip
import io
import re
import subprocess
from pathlib import Path
from typing import Any

SECTIONS = (
    "SpeedOfLight",
    "ComputeWorkloadAnalysis",
    "MemoryWorkloadAnalysis",
    "MemoryWorkloadAnalysis_Tables",
    "MemoryWorkloadAnalysis_Chart",
    "SchedulerStats",
    "WarpStateStats",
    "InstructionStats",
    "Occupancy",
    "LaunchStats",
    "WorkloadDistribution",
)
METRICS = (
    "lts__d_atomic_input_cycles_active.max.pct_of_peak_sustained_elapsed",
    "lts__d_atomic_input_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__cycles_active.avg",
    "sm__cycles_active.max",
    "sm__cycles_active.min",
    "sm__cycles_elapsed.max",
    "smsp__sass_branch_targets_threads_uniform.sum",
    "smsp__sass_branch_targets_threads_divergent.sum",
    "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum",
)
"""Counters that the rules need and no section above collects."""


def known_metrics(wanted: tuple[str, ...], chip: str = "gh100") -> list[str]:
    """Those of ``wanted`` that this ncu knows for ``chip``: one unknown name stops a whole run."""
    try:
        done = subprocess.run(
            ["ncu", "--query-metrics", "--chips", chip],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return list(wanted[:5])
    bases = {line.split()[0] for line in done.stdout.splitlines() if line.strip()}
    if len(bases) < 100:  # not a list of metrics but an error message
        return list(wanted[:5])
    return [name for name in wanted if name.split(".", 1)[0] in bases]


def profile_command(report: Path, metrics: list[str], child: list[str]) -> list[str]:
    """One ncu call over the child process, with clocks left as they are."""
    command = ["ncu", "--target-processes", "all", "--profile-from-start", "off"]
    command += ["--clock-control", "none"]
    for section in SECTIONS:
        command += ["--section", section]
    if metrics:
        command += ["--metrics", ",".join(metrics)]
    return [*command, "-f", "-o", str(report.with_suffix("")), *child]


def export_csv(report: Path, target: Path) -> list[dict[str, str]]:
    """Write the raw page as gzipped CSV; returns one ``{id, kernel}`` per launch."""
    done = subprocess.run(
        ["ncu", "--import", str(report), "--page", "raw", "--csv", "--print-units", "base"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode != 0 or not done.stdout.strip():
        raise RuntimeError(f"ncu --import {report.name} failed: {done.stderr or done.stdout}"[:500])
    with target.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
        packed.write(done.stdout.encode())
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    return [
        {"id": row["ID"], "kernel": row["Kernel Name"]} for row in rows if (row["ID"] or "").strip()
    ]


def marked_counts(log: str) -> dict[str, int]:
    """Kernels that ncu says it profiled between the child's case markers, by case."""
    counts: dict[str, int] = {}
    case = None
    for line in log.splitlines():
        marker = re.search(r"==CASE== (\S+)", line)
        if marker:
            case = marker.group(1)
            counts[case] = 0
        elif case is not None and re.search(r"==PROF== Profiling \"", line):
            counts[case] += 1
    return counts


def map_launches(
    launches: list[dict[str, str]], cases: list[tuple[str, int]], log: str
) -> tuple[list[dict[str, Any]], str]:
    """Give each launch its case: by declared counts, else by markers in the log, else by name.

    Returns the launches with ``index`` and ``case``, and the way that fitted.
    """
    marked = marked_counts(log)
    ways = {
        "declared": dict(cases),
        "markers": {name: marked.get(name, 0) for name, _ in cases},
    }
    for way, counts in ways.items():
        if sum(counts.values()) == len(launches):
            owners = [name for name, _ in cases for _ in range(counts[name])]
            if way == "markers" or _plausible(launches, owners):
                return _labelled(launches, owners), way
    by_name = [_by_prefix(launch["kernel"], [name for name, _ in cases]) for launch in launches]
    return _labelled(launches, by_name), "names (counts did not fit; check by hand)"


def _plausible(launches: list[dict[str, str]], owners: list[str]) -> bool:
    """No launch carries another case's name."""
    names = set(owners)
    return all(
        _by_prefix(launch["kernel"], sorted(names)) in {None, owner}
        for launch, owner in zip(launches, owners, strict=True)
    )


def _by_prefix(kernel: str, names: list[str]) -> str | None:
    fitting = [name for name in names if re.search(rf"\b{re.escape(name)}", kernel)]
    return max(fitting, key=len) if fitting else None


def _labelled(
    launches: list[dict[str, str]], owners: list[str | None] | list[str]
) -> list[dict[str, Any]]:
    return [
        {"index": index, "id": launch["id"], "case": owner, "kernel": launch["kernel"]}
        for index, (launch, owner) in enumerate(zip(launches, owners, strict=True))
    ]

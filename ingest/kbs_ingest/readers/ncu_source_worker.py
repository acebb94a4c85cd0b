"""Source counters of one .ncu-rep: ``python -m kbs_ingest.readers.ncu_source_worker PATH``.

Runs in a process of its own, as ncu_worker does, and answers one JSON object on standard
output: for each launch the instructions with counts, their SASS and source line.
Instances of these metrics are correlated by program counter (Python report interface,
``IMetric.correlation_ids``, ``IAction.source_info``, ``IAction.sass_by_pc``).
"""

from __future__ import annotations

import json
import math
import os
import sys
from typing import Any, Final

from kbs_ingest.readers.ncu_worker import NO_PACKAGE, UNREADABLE

MOST: Final = 4096
"""Instructions returned per launch, the worst first."""
_PLAIN: Final = {
    "executed": "inst_executed",
    "global_sectors": "memory_l2_theoretical_sectors_global",
    "global_ideal": "memory_l2_theoretical_sectors_global_ideal",
    "global_excess_sectors": "derived__memory_l2_theoretical_sectors_global_excessive",
    "shared_wavefronts": "memory_l1_wavefronts_shared",
    "shared_ideal": "memory_l1_wavefronts_shared_ideal",
    "shared_excess_wavefronts": "derived__memory_l1_wavefronts_shared_excessive",
}
_EXCESS: Final = (
    ("global_excess_sectors", "global_sectors", "global_ideal"),
    ("shared_excess_wavefronts", "shared_wavefronts", "shared_ideal"),
)
"""Excess, and the two counts whose difference it is where the report does not state it."""
_STALLED: Final = "smsp__pcsamp_warps_issue_stalled_"
_NOT_ISSUED: Final = "_not_issued"
_WORST: Final = ("samples", "global_excess_sectors", "shared_excess_wavefronts")


def by_address(action: Any, name: str) -> dict[int, float]:
    """Instances of a metric by program counter; empty where it has none."""
    metric = action.metric_by_name(name)
    if metric is None or not metric.num_instances() or not metric.has_correlation_ids():
        return {}
    ids = metric.correlation_ids()
    found: dict[int, float] = {}
    for index in range(metric.num_instances()):
        value = metric.as_double(index)
        if math.isfinite(value):
            address = int(ids.as_uint64(index))
            found[address] = found.get(address, 0.0) + value
    return found


def counts(action: Any) -> dict[str, dict[int, float]]:
    """Every quantity by program counter: kinds of sourceview.KINDS and ``stall:<reason>``."""
    table = {kind: by_address(action, name) for kind, name in _PLAIN.items()}
    for excess, total, ideal in _EXCESS:
        if not table[excess] and table[total] and table[ideal]:
            table[excess] = {
                address: max(0.0, value - table[ideal].get(address, 0.0))
                for address, value in table[total].items()
            }
    samples: dict[int, float] = {}
    for name in action.metric_names():
        if not name.startswith(_STALLED) or name.endswith(_NOT_ISSUED):
            continue
        reason = by_address(action, name)
        table[f"stall:{name.removeprefix(_STALLED)}"] = reason
        for address, value in reason.items():
            samples[address] = samples.get(address, 0.0) + value
    table["samples"] = samples
    return {
        kind: found
        for kind, found in table.items()
        if found and kind not in ("global_ideal", "shared_ideal")
    }


def launch_source(action: Any) -> dict[str, Any]:
    """Instructions worth naming, totals of the kernel, and source texts of their lines."""
    table = counts(action)
    totals = {kind: sum(found.values()) for kind, found in table.items()}
    addresses = sorted({address for found in table.values() for address in found})

    def badness(address: int) -> float:
        return (
            max(
                table[kind].get(address, 0.0) / totals[kind] if totals.get(kind) else 0.0
                for kind in table
                if kind in _WORST
            )
            if any(kind in table for kind in _WORST)
            else 0.0
        )

    addresses.sort(key=lambda address: (-badness(address), address))
    instructions = [_instruction(action, address, table) for address in addresses[:MOST]]
    return {
        "instructions": instructions,
        "totals": {kind: total for kind, total in totals.items() if total},
        "texts": _texts(action, instructions),
    }


def _instruction(action: Any, address: int, table: dict[str, dict[int, float]]) -> dict[str, Any]:
    info = action.source_info(address)
    file = info.file_name() if info is not None else ""
    return {
        "address": address,
        "sass": action.sass_by_pc(address).strip(),
        "file": file or None,
        "line": info.line() if file else None,
        "values": {kind: found[address] for kind, found in table.items() if found.get(address)},
    }


def _texts(action: Any, instructions: list[dict[str, Any]]) -> dict[str, dict[int, str]]:
    """The lines that instructions name, from sources imported into the report."""
    wanted: dict[str, set[int]] = {}
    for one in instructions:
        if one["file"]:
            wanted.setdefault(one["file"], set()).add(one["line"])
    files = action.source_files()
    found: dict[str, dict[int, str]] = {}
    for name, numbers in wanted.items():
        text = files[name] if name in files else ""  # noqa: SIM401 - a SWIG map has no get
        lines = text.splitlines()
        kept = {number: lines[number - 1].strip()[:200] for number in sorted(numbers)
                if 1 <= number <= len(lines)}  # fmt: skip
        if kept:
            found[name] = kept
    return found


def _read(path: str) -> list[dict[str, Any]]:
    import ncu_report

    context = ncu_report.load_report(path)
    return [
        launch_source(context.range_by_idx(index).action_by_idx(number))
        for index in range(context.num_ranges())
        for number in range(context.range_by_idx(index).num_actions())
    ]


def main() -> int:
    """Read the report named on the command line; return the exit status."""
    output = os.dup(1)
    os.dup2(2, 1)  # whatever the native library prints must not mix with the answer
    try:
        launches = _read(sys.argv[1])
    except ImportError as fault:
        sys.stderr.write(f"{fault}\n")
        return NO_PACKAGE
    except (RuntimeError, ValueError, OSError, MemoryError, SystemError) as fault:
        sys.stderr.write(f"{fault}\n")
        return UNREADABLE
    with os.fdopen(output, "w", encoding="utf-8", errors="replace") as stream:
        json.dump({"launches": launches}, stream)
    return 0


if __name__ == "__main__":
    sys.exit(main())

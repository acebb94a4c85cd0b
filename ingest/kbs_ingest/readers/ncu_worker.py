"""Read one .ncu-rep in a process of its own: ``python -m kbs_ingest.readers.ncu_worker PATH``.

NVIDIA's reader is native code, which a damaged file can crash or hang. The wanted metric names
come as a JSON list on standard input; one JSON object goes to standard output. Imports stay
light, because every diagnosis pays for them.
"""

from __future__ import annotations

import json
import math
import os
import sys
from typing import Any, Final

NO_PACKAGE: Final = 3
UNREADABLE: Final = 4
_OPCODES: Final = "sass__inst_executed_per_opcode"
_WITH_MODIFIERS: Final = "sass__inst_executed_per_opcode_with_modifier_all"
_CC: Final = "device__attribute_compute_capability_"


def _opcodes(action: Any, name: str = _OPCODES) -> dict[str, float]:
    """Executed instructions by mnemonic, empty where the report has no instances."""
    metric = action.metric_by_name(name)
    if metric is None or not metric.num_instances() or not metric.has_correlation_ids():
        return {}
    names = metric.correlation_ids()
    counts: dict[str, float] = {}
    for index in range(metric.num_instances()):
        name = names.as_string(index)
        if name:
            counts[name] = counts.get(name, 0.0) + metric.as_double(index)
    return counts


def _functions(action: Any) -> dict[str, float]:
    """Special functions by kind (MUFU.RCP, MUFU.EX2, …): a reciprocal is the sign of a division."""
    counts: dict[str, float] = {}
    for name, count in _opcodes(action, _WITH_MODIFIERS).items():
        parts = name.split(".")
        if parts[0] == "MUFU" and len(parts) > 1:
            key = f"MUFU_{parts[1]}"
            counts[key] = counts.get(key, 0.0) + count
    return counts


def _values(action: Any, wanted: list[str]) -> dict[str, tuple[float, str]]:
    """Number and unit of each wanted metric that the report has; text is left out."""
    found: dict[str, tuple[float, str]] = {}
    for name in wanted:
        metric = action.metric_by_name(name)
        if metric is None or not metric.has_value():
            continue
        value = metric.value()
        if isinstance(value, int | float) and math.isfinite(value):
            found[name] = (float(value), metric.unit() or "")
    return found


def _text(action: Any, name: str) -> str:
    metric = action.metric_by_name(name)
    return "" if metric is None or not metric.has_value() else str(metric.value())


def _speedup(estimate: dict[str, Any]) -> dict[str, Any]:
    value = estimate.get("speedup")
    if not isinstance(value, int | float) or not math.isfinite(value):
        value = None
    return {"type": estimate.get("type", 0), "speedup": value}


def _action(action: Any, wanted: list[str]) -> dict[str, Any]:
    major, minor = _text(action, f"{_CC}major"), _text(action, f"{_CC}minor")
    try:
        results = action.rule_results_as_dicts()
    except (AttributeError, RuntimeError, ValueError):
        results = []
    kernel = action.workload_type() == action.WorkloadType_KERNEL
    name = action.name(action.NameBase_DEMANGLED) or action.name()
    if kernel and not name:
        raise ValueError("a kernel without a name: the file is cut off or damaged")
    return {
        "name": name or "range",
        "kernel": kernel,
        "chip": _text(action, "device__attribute_display_name"),
        "compute_capability": f"{major}.{minor}" if major and minor else "",
        "values": _values(action, wanted),
        "opcodes": _opcodes(action),
        "functions": _functions(action),
        "sections": [section.identifier() for section in action.sections()],
        "rules": [
            {
                "rule": result.get("rule_identifier", ""),
                "section": result.get("section_identifier", ""),
                "message": result.get("rule_message", {}),
                "speedup": _speedup(result.get("speedup_estimation", {})),
            }
            for result in results
        ],
    }


def _read(path: str, wanted: list[str]) -> dict[str, Any]:
    import ncu_report

    context = ncu_report.load_report(path)
    actions = [
        context.range_by_idx(index).action_by_idx(number)
        for index in range(context.num_ranges())
        for number in range(context.range_by_idx(index).num_actions())
    ]
    version = getattr(context, "get_version", None)
    return {
        "reader": str(version()) if version else "",
        "launches": [_action(action, wanted) for action in actions],
    }


def main() -> int:
    """Read the report named on the command line; return the exit status."""
    output = os.dup(1)
    os.dup2(2, 1)  # whatever the native library prints must not mix with the answer
    wanted = json.load(sys.stdin)
    try:
        report = _read(sys.argv[1], wanted)
    except ImportError as fault:
        sys.stderr.write(f"{fault}\n")
        return NO_PACKAGE
    except (RuntimeError, ValueError, OSError, MemoryError, SystemError) as fault:
        sys.stderr.write(f"{fault}\n")
        return UNREADABLE
    with os.fdopen(output, "w", encoding="utf-8", errors="replace") as stream:
        json.dump(report, stream)
    return 0


if __name__ == "__main__":
    sys.exit(main())

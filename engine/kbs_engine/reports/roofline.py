"""The roofline in words, with its calculation: cited roofs, work, times, bound, targets."""

from __future__ import annotations

from kbs_engine.reports.text import NOT_COLLECTED, bullets, number, share, table, time
from kbs_engine.roofs import Roofline
from kbs_engine.run.judged import Budget
from kbs_engine.units import human_bytes
from kbs_engine.work import Work


def roofline_text(line: Roofline, work: Work | None) -> str:
    """Work, roofs and bound of a task, each value with where it comes from."""
    lines = [
        f"compulsory traffic: {_bytes(work)}",
        f"arithmetic: {_flops(work)}",
        (
            f"arithmetic intensity: {number(line.arithmetic_intensity)} FLOP per byte; "
            f"ridge point: {number(line.ridge)} FLOP per byte"
        ),
        f"algorithm bound: {line.algorithm_bound}",
    ]
    for roof in line.roofs:
        at = f" at {roof.clock_hz / 1e9:.3g} GHz" if roof.clock_hz else ""
        lines.append(f"{roof.kind} roof ({roof.basis}{at}): {time(roof.time_ns)}; {roof.citation}")
    if line.fixed_ns is not None:
        lines.append(f"empty launch: {time(line.fixed_ns)}; {line.fixed_citation}".rstrip("; "))
    lines.append(f"t_model = empty launch + largest roof: {time(line.model_ns)}")
    lines += [f"note: {flag}" for flag in line.flags]
    return bullets(lines)


def gaps_text(line: Roofline, budget: Budget | None = None) -> str:
    """What was measured against it: limiter, gaps, near peak, and the budget that follows."""
    source = f" ({line.time_source})" if line.time_source != "none" else ""
    rows = [
        ("time" + source, time(line.time_ns)),
        ("limiter", f"{line.limiter} ({share(line.limiter_share)} busy)"),
        ("Δ = 1 − t_model / t", share(line.gap)),
        ("Δm, to the memory roof", share(line.gap_memory)),
        ("Δc, to the compute roof", share(line.gap_compute)),
        ("Δl, idle share of the limiter", share(line.gap_latency)),
        ("near peak", line.near_peak_reason or "no"),
    ]
    if budget is not None:
        given = ", ".join(f"{axis} {n}" for axis, n in sorted(budget.axis_slots.items()) if n)
        rows.append((f"budget of {budget.slots} slots", given or "none used"))
    return table(("Quantity", "Value"), rows)


def _bytes(work: Work | None) -> str:
    if work is None or work.bytes_min is None:
        return NOT_COLLECTED
    moved = (work.bytes_in or 0.0, work.bytes_out or 0.0)
    return f"{human_bytes(moved[0])} in + {human_bytes(moved[1])} out"


def _flops(work: Work | None) -> str:
    if work is None or work.flops is None:
        return f"{NOT_COLLECTED} (what the counter does not know is not zero)"
    permitted = ", ".join(work.precisions) or "any precision"
    return f"{work.flops:.6g} FLOP in {permitted}"

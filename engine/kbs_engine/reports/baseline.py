"""baseline_report.md: v0 as it was found, measured like any other version."""

from __future__ import annotations

from collections import Counter

from kbs_engine.reports.correctness import worst_rel_err
from kbs_engine.reports.roofline import gaps_text, roofline_text
from kbs_engine.reports.text import (
    NOT_FOUND,
    bullets,
    document,
    factor,
    number,
    section,
    share,
    table,
    time,
)
from kbs_engine.run.measured import Bench
from kbs_engine.run.view import RunView


def baseline_report(view: RunView) -> str | None:
    """Correctness, time, library baselines and roofline of v0; None before v0 was measured."""
    v0 = view.version(0)
    if v0 is None or v0.bench is None:
        return None
    epochs = {epoch.number: epoch.settings for epoch in view.state.epochs}
    settings = epochs.get(0, view.state.settings)
    checked = v0.bench.checked()
    facts = [
        f"kernel: v0/{settings.kernel_file}, source {v0.bench.source_sha256[:12]}",
        f"language: {settings.language}",
        "shapes: " + ", ".join(f"{k}={v}" for k, v in settings.dims.items()),
        f"correctness: {'PASS' if v0.bench.correct else f'FAIL ({v0.bench.reason})'}",
        f"max rel_err: {number(worst_rel_err(checked), missing=NOT_FOUND)}",
    ]
    line = v0.roofline
    return document(
        "Baseline report",
        bullets(facts),
        section("Time", arms_table(v0.bench)),
        section("Against the library", compared_table(v0.bench)),
        section("Roofline", roofline_text(line, line.work), gaps_text(line)) if line else "",
    )


def arms_table(bench: Bench) -> str:
    """Times of every arm of a bench."""
    headers = ("Arm", "Median", "Mean", "p20", "p80", "Min", "Max", "Std", "Samples")
    names = arm_names(bench)
    rows = [
        (
            names[arm.sha256 or arm.name],
            *(time(getattr(arm, f"{name}_ns"))
              for name in ("median", "mean", "p20", "p80", "min", "max", "std")),
            str(arm.count),
        )
        for arm in bench.arms
    ]  # fmt: skip
    return table(headers, rows)


def compared_table(bench: Bench) -> str:
    """The bench's kernel against every other arm; above 1, the kernel is the faster one."""
    names = arm_names(bench)
    rows = [
        (
            names.get(row.b, row.b),
            factor(row),
            f"{100 * row.noise:g} %",
            share(row.smallest_detectable),
        )
        for row in bench.comparisons
    ]
    return table(("Against", "Kernel is faster by", "Noise", "Smallest effect found"), rows)


def arm_names(bench: Bench) -> dict[str, str]:
    """How arms are called, by hash or baseline name: the hash is added where names repeat."""
    again = Counter(arm.name for arm in bench.arms)
    return {
        arm.sha256 or arm.name: arm.name
        if again[arm.name] == 1
        else f"{arm.name} ({arm.sha256[:8]}{', this kernel' * (arm.sha256 == bench.source_sha256)})"
        for arm in bench.arms
    }

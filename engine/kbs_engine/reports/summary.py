"""summary.md: headline, timeline, bottleneck drift, retrospective."""

from __future__ import annotations

from typing import Literal

from kbs_engine.ablation import left_open
from kbs_engine.reports.epochs import epoch_cell, epoch_header, epochs_text, holds
from kbs_engine.reports.final import ANEW, IN_THE_LOOP, against_base, headline
from kbs_engine.reports.retuned import retuned
from kbs_engine.reports.text import NOTES, bullets, document, section, share, table, time
from kbs_engine.run.judged import MethodAttribution
from kbs_engine.run.view import RunView
from kbs_engine.vocabulary import Verdict

_VERDICTS: tuple[tuple[Verdict | Literal["untold"], str], ...] = (
    ("effective", "paid"),
    ("ineffective", "did nothing measurable"),
    ("untold", "not told, for no effect was shown and a gain is not ruled out"),
    ("implementation_failed", "never reached the machine code"),
    ("harmful", "made it slower"),
    ("inseparable", "cannot be told apart from others"),
)


def summary(view: RunView) -> str | None:
    """The run in one page; None before the final benchmark."""
    if view.benchmark is None:
        return None
    return document(
        f"Summary: {view.state.name}",
        section("Headline", ANEW, headline(view)),
        section("Timeline", _timeline(view), IN_THE_LOOP, epochs_text(view.state)),
        section("Bottleneck drift", drift(view)),
        section("Retrospective", bullets(retrospective(view))),
        NOTES,
    )


def _timeline(view: RunView) -> str:
    rows = []
    for version in view.versions:
        entry, bench = version.entry, version.bench
        if entry is None:
            continue
        own = bench.own() if bench else None
        rows.append(
            (
                f"v{version.number}",
                *epoch_cell(view.state, version.number),
                entry.status,
                time(own.median_ns if own else None),
                against_base(view, version),
                holds(view.state, entry),
            )
        )
    headers = ("Status", "Median", "Against its base", "Methods")
    return table(("Version", *epoch_header(view.state), *headers), rows)


def drift(view: RunView) -> str:
    """How what limits the kernel moved from version to version, from each roofline.json."""
    rows = []
    for version in view.versions:
        line = version.roofline
        if line is not None:
            gaps = (line.gap, line.gap_memory, line.gap_compute, line.gap_latency)
            rows.append(
                (
                    f"v{version.number}",
                    *epoch_cell(view.state, version.number),
                    time(line.time_ns),
                    line.limiter,
                    line.algorithm_bound,
                    *(share(gap) for gap in gaps),
                    "yes" if line.near_peak else "no",
                )
            )
    headers = ("Time", "Limiter", "Bound", "Δ", "Δm", "Δc", "Δl", "Near peak")
    return table(("Version", *epoch_header(view.state), *headers), rows)


def _told(row: MethodAttribution, noise: float) -> str:
    """The verdict, or that the timing was too coarse for one."""
    return "untold" if left_open(row.verdict, row.high, noise) else row.verdict


def retrospective(view: RunView) -> list[str]:
    """What paid, what did not, what was never reached."""
    lines = []
    for verdict, words in _VERDICTS:
        found = [
            f"{row.method} (v{version.number})"
            for version in view.counting
            if version.attribution is not None
            for row in version.attribution.methods
            if verdict == _told(row, version.attribution.noise)
        ]
        if found:
            lines.append(f"{words}: {', '.join(found)}")
    lines += retuned(view)
    lines += [f"v{row.number} failed: {row.failure}" for row in view.versions if row.failed]
    lines += [f"v{row.number}: {row.failure}" for row in view.versions if row.refused]
    open_ = [
        f"open after v{version.number}: {direction}"
        for version in view.versions
        if version.memory is not None and not version.memory.masked
        for direction in version.memory.open_directions
    ]
    return lines + open_[-3:]

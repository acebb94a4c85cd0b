"""What the search for each champion tried and what it cost, for final_report.md."""

from __future__ import annotations

from kbs_engine.reports.text import table, time
from kbs_engine.run.view import RunView


def searched(view: RunView) -> str:
    """One row per version: variants by what became of them, timed calls, GPU seconds."""
    headers = ("Version", "Tunables", "Assignments", "Rounds", "Proposed", "Dropped", "Wrong",
               "Raced", "Timed calls", "GPU s", "Fastest", "Ended")  # fmt: skip
    rows = []
    for version in view.versions:
        found = version.search
        if found is None:
            continue
        rounds = found.rounds
        rows.append(
            (
                f"v{version.number}",
                ", ".join(found.tunables) or "-",
                str(found.space),
                str(len(rounds)),
                str(sum(row.proposed for row in rounds)),
                str(sum(row.dropped for row in rounds)),
                str(sum(row.wrong for row in rounds)),
                str(sum(row.raced for row in rounds)),
                str(found.samples),
                f"{found.gpu_seconds:.2f}",
                time(rounds[-1].best_ns if rounds else None),
                found.ended,
            )
        )
    return table(headers, rows)

"""Reports that the final gate writes anew and compares, by file name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kbs_engine.reports.analysis import version_analysis
from kbs_engine.reports.baseline import baseline_report
from kbs_engine.reports.benchmark import benchmark
from kbs_engine.reports.correctness import version_correctness
from kbs_engine.reports.final import final_report
from kbs_engine.reports.summary import summary
from kbs_engine.run.view import RunView, VersionView

RUN_REPORTS: Final[dict[str, Callable[[RunView], str | None]]] = {
    "baseline_report.md": baseline_report,
    "benchmark.md": benchmark,
    "final_report.md": final_report,
    "summary.md": summary,
}
"""Reports of a run; None where their time has not come."""

VERSION_REPORTS: Final[dict[str, Callable[[RunView, VersionView], str | None]]] = {
    "correctness.md": version_correctness,
    "analysis.md": version_analysis,
}
"""Reports of one version."""

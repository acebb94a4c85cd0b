"""Reports: pure functions from records to Markdown (and one to a test script)."""

from kbs_engine.reports.analysis import analysis
from kbs_engine.reports.baseline import baseline_report
from kbs_engine.reports.benchmark import benchmark
from kbs_engine.reports.correctness import correctness, worst_rel_err
from kbs_engine.reports.environment import env_check
from kbs_engine.reports.final import final_report
from kbs_engine.reports.profile import ncu_details, ncu_summary, ncu_top
from kbs_engine.reports.readme import workspace_readme
from kbs_engine.reports.registry import RUN_REPORTS, VERSION_REPORTS
from kbs_engine.reports.roofline import gaps_text, roofline_text
from kbs_engine.reports.standalone import standalone_test
from kbs_engine.reports.summary import summary

__all__ = [
    "RUN_REPORTS",
    "VERSION_REPORTS",
    "analysis",
    "baseline_report",
    "benchmark",
    "correctness",
    "env_check",
    "final_report",
    "gaps_text",
    "ncu_details",
    "ncu_summary",
    "ncu_top",
    "roofline_text",
    "standalone_test",
    "summary",
    "workspace_readme",
    "worst_rel_err",
]

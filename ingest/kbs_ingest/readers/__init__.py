"""Readers of profiler reports: what NVIDIA's and AMD's tools wrote becomes profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kbs_ingest.readers.dispatch import read_report, report_vendor

__all__ = ["read_report", "report_vendor"]


def __getattr__(name: str) -> object:
    """Import the readers on first use: the report worker starts faster without them."""
    if name in __all__:
        from kbs_ingest.readers import dispatch

        return getattr(dispatch, name)
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)

"""Measured ceilings of a GPU: bandwidth, matrix throughput, the time of an empty launch."""

from kbs_backends.ceilings.page import answer, failures, page
from kbs_backends.ceilings.run import measure, record_ceilings

__all__ = ["answer", "failures", "measure", "page", "record_ceilings"]

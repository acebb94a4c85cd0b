"""The experience log on disk: append-only segments, merging, exchange, and views of them."""

from kbs_ingest.experience.lines import BadLine
from kbs_ingest.experience.lore import Lore
from kbs_ingest.experience.merge import MergeReport, merge
from kbs_ingest.experience.places import origin_of
from kbs_ingest.experience.writer import append

__all__ = ["BadLine", "Lore", "MergeReport", "append", "merge", "origin_of"]

"""`kbs wiki check` and `kbs wiki new`: the rules that keep the knowledge citable."""

from kbs_ingest.wikicheck.check import check_wiki
from kbs_ingest.wikicheck.model import CheckReport, WikiFault
from kbs_ingest.wikicheck.scaffold import Scaffold, scaffold

__all__ = ["CheckReport", "Scaffold", "WikiFault", "check_wiki", "scaffold"]

"""`kbs audit`: spec citations in archived text, checked against the wiki they cite."""

from kbs_ingest.audit.judge import Judge
from kbs_ingest.audit.knowledge import load_knowledge
from kbs_ingest.audit.model import AuditReport, Cited, FileReport, Uncited
from kbs_ingest.audit.run import audit_paths
from kbs_ingest.audit.sarif import sarif_log

__all__ = [
    "AuditReport",
    "Cited",
    "FileReport",
    "Judge",
    "Uncited",
    "audit_paths",
    "load_knowledge",
    "sarif_log",
]

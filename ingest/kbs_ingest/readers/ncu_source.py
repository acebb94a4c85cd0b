"""Source counters of a report: which instruction and source line costs what."""

from __future__ import annotations

from pathlib import Path

import msgspec

from kbs_engine.errors import ReportError
from kbs_engine.sourceview import SourceView
from kbs_ingest.readers.ncu_rep import MAGICS, TIMEOUT_S, ask


class _Answer(msgspec.Struct):
    launches: list[SourceView]


def read_source(path: Path, *, timeout_s: float = TIMEOUT_S) -> tuple[SourceView, ...]:
    """Source counters of every launch in order; empty for files that cannot hold them.

    Raises:
        ReportError: NVIDIA's reader failed, or found nothing.
    """
    with path.open("rb") as stream:
        head = stream.read(4)
    if not head.startswith(MAGICS):
        return ()
    worker = "kbs_ingest.readers.ncu_source_worker"
    launches = ask(path, worker, b"", timeout_s, _Answer).launches
    if not launches:
        raise ReportError(
            "the report holds no kernel that can be read",
            where=str(path),
            remedy="profile again: the filters matched no kernel, or the file is damaged",
        )
    return tuple(launches)

"""What the state machine wants done that needs no answer: files, state, progress; its beginning."""

from __future__ import annotations

from typing import Literal

import msgspec

from kbs_engine.jobs import SourceRef
from kbs_engine.loop.asks import Described
from kbs_engine.run.records import Settings, State
from kbs_engine.work import Work

SCHEMA_VERSION = 1

Stage = Literal[
    "prepare", "measure", "roofline", "plan", "gate", "propose", "branch", "champion", "profile",
    "verify", "ablate", "record", "summarize", "finalize",
]  # fmt: skip


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """Base of what needs no answer."""


class PutFile(Note, frozen=True, kw_only=True):
    """Write a file of the run folder, whole."""

    path: str
    """Relative to the run folder."""
    text: str


class PutBlob(Note, frozen=True, kw_only=True):
    """Write content of the blob store to a file of the run folder."""

    path: str
    sha256: str


class SaveState(Note, frozen=True, kw_only=True):
    """Replace state.json."""

    state: State


class Progress(Note, frozen=True, kw_only=True):
    """Where the run stands, for a person who waits."""

    stage: Stage
    version: int
    text: str
    done: bool = False
    """Whether the stage of this version is over: ``loop <stage>`` stops here."""
    best_ns: float | None = None


class CloseVersion(Note, frozen=True, kw_only=True):
    """Take back the folder of a version that the gate opened and in which nothing was tried."""

    version: int


class NoteCommit(Note, frozen=True, kw_only=True):
    """Put the commit of an accepted version into its memory record."""

    version: int
    commit: str


class RecordEpoch(Note, frozen=True, kw_only=True):
    """Put the settings of an epoch into the journal: from now on they are fixed."""

    number: int
    settings: Settings


class MakeAnalysis(Note, frozen=True, kw_only=True):
    """Write analysis.md of a version from what stands in its folder."""

    version: int
    base: int | None


class MakeReports(Note, frozen=True, kw_only=True):
    """Write benchmark.md, final_report.md, summary.md and report.html from what stands."""


class MakeFront(Note, frozen=True, kw_only=True):
    """Write README.md, env_check.md and test_kernel.py, and baseline_report.md once v0 stands."""

    described: Described
    work: Work | None = None
    baseline: bool = False


class Begin(msgspec.Struct, frozen=True, kw_only=True):
    """From what a run starts; everything else follows from it and the answers."""

    schema_version: int = SCHEMA_VERSION
    run_id: str
    created_at: str
    name: str
    kbs_version: str = ""
    baseline: SourceRef
    reference_sha256: str
    settings: Settings

"""What a proposer is given and what it answers; ports.Proposer is the port."""

from __future__ import annotations

import msgspec

from kbs_engine.run.records import RequestFile

SCHEMA_VERSION = 1

TUNING_METHODS: tuple[str, ...] = (
    "launch_parameter_tuning",
    "block_size_tuning",
    "grid_sizing",
    "more_pipeline_stages",
)
"""Methods that the tunables of a source carry out, with no switch of their own."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the writer of the next kernel is given: the file's content, and the source's text."""

    file: RequestFile
    source: str
    """Text of the version to start from."""
    attempt: int = 1
    """1 is the first try at this version; more means that ``file.feedback`` says why."""


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """One whole source that somebody proposes. Only the harness may call it correct or fast."""

    text: str
    name: str = ""
    """What its writer calls it, for people."""
    methods: tuple[str, ...] = ()
    """Methods of the plan that it claims to contain."""
    note: str = ""
    template: str = ""
    """The template that it starts from; empty when it changes the given source."""

    def __post_init__(self) -> None:
        """An empty source is no candidate."""
        if not self.text.strip():
            raise ValueError(f"candidate {self.name or '?'} has no text")


class Answer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a proposer's program prints: candidates, best first."""

    schema_version: int = SCHEMA_VERSION
    candidates: tuple[Candidate, ...]

"""What the engine asks of the rest: ports that ingest and backends implement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from datetime import date
from typing import Protocol

import msgspec

from kbs_engine.chance import Context, Tallies
from kbs_engine.facts import Chip
from kbs_engine.jobs import Job, Result
from kbs_engine.methods import Method
from kbs_engine.outcomes import Outcome
from kbs_engine.proposals import Candidate, Request
from kbs_engine.symptoms import RuleResult, SymptomRule

Row = Mapping[str, float | str | None]


class Rows(msgspec.Struct, frozen=True, kw_only=True):
    """The four rows that a rule reads (docs/wiki-format.md)."""

    p: dict[str, float]
    c: dict[str, float | None]
    w: dict[str, float | str | None]
    h: dict[str, float | None]


class Knowledge(Protocol):
    """What the wiki and the experience log know."""

    def chip(self, name: str) -> Chip:
        """The chip of this id or alias; RefusedError when nobody knows it."""
        ...

    def rules(self) -> Sequence[SymptomRule]:
        """All symptom rules, by id."""
        ...

    def methods(self) -> Sequence[Method]:
        """All methods, by id."""
        ...

    def groups(self) -> Sequence[frozenset[str]]:
        """Near-equivalent methods."""
        ...

    def features(self, arch: str) -> frozenset[str] | None:
        """Features of an architecture; None when the wiki does not list the architecture."""
        ...

    def evaluate(self, rows: Sequence[Rows]) -> Sequence[Sequence[RuleResult]]:
        """All symptom rules on each of the rows, in the order of ``rules()``."""
        ...

    def avoid(self, rows: Sequence[Rows]) -> Sequence[frozenset[str]]:
        """Ids of the anti-strategies that hold on each of the rows."""
        ...

    def similarity(self, symptoms: Sequence[str], methods: Sequence[str]) -> Mapping[str, float]:
        """Stored retrieval similarity (0–1) of each method to these symptoms."""
        ...

    def outcomes(self, method: str | None = None) -> Sequence[Outcome]:
        """Past outcomes, of one method or of all; masked and quarantined ones are left out."""
        ...

    def evidence(self, context: Context, as_of: date) -> Mapping[str, Tallies]:
        """The same outcomes, weighed for ``context`` and summed by method and machine."""
        ...

    def tried_on(self, source_hash: str) -> Sequence[Outcome]:
        """The same outcomes, only those of this very source."""
        ...


class Device(Protocol):
    """Something that runs jobs: a GPU here, a recording, a cluster."""

    def submit(self, job: Job) -> Future[Result]:
        """Queue ``job``; the future never holds a made-up value."""
        ...


class Proposer(Protocol):
    """Who writes the next kernel. It can suggest; only the harness says correct or faster."""

    def propose(self, request: Request) -> Sequence[Candidate]:
        """Candidates for the next version, best first; none when it has nothing to offer.

        Raises:
            MeasurementError: The try failed (a time limit, output that is no answer); the
                message becomes the feedback of the next try.
        """
        ...

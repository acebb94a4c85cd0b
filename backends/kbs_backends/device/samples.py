"""Samples of one arm while a job runs, and the record that they become."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from kbs_backends.device.calls import CallFacts
from kbs_backends.device.refusal import Refusal
from kbs_engine.jobs import Arm, SourceRef
from kbs_engine.results import ArmTimes

WRONG_VALUES = ("wrong_result", "wrong_timed_output", "nonfinite", "wrong_shape", "wrong_dtype")


class ArmSamples:
    """Grows call by call; once refused it stays refused."""

    def __init__(self, name: str, sha256: str) -> None:
        """Empty."""
        self.name = name
        self.sha256 = sha256
        self.reason: str | None = None
        self.detail = ""
        self.notes: list[str] = []
        self.returned = False
        self._cold_ns: float | None = None
        self._calls: list[CallFacts] = []
        self._process: list[int] = []
        self._position: list[int] = []

    @classmethod
    def of(cls, arm: Arm) -> ArmSamples:
        """For a source or a baseline."""
        if isinstance(arm, SourceRef):
            return cls(arm.name, arm.sha256)
        return cls(arm.name, "")

    @contextlib.contextmanager
    def judged(self) -> Iterator[None]:
        """A Refusal inside concerns this arm alone."""
        try:
            yield
        except Refusal as refusal:
            self.refuse(refusal)

    def refuse(self, refusal: Refusal) -> None:
        """The first reason stays; a baseline that gives wrong values has a reason of its own."""
        if self.reason is not None:
            return
        self.reason, self.detail = refusal.code, refusal.detail
        if not self.sha256 and refusal.code in WRONG_VALUES:
            self.reason, self.detail = "baseline_wrong", f"{refusal.code}: {refusal.detail}"

    def cold(self, host_ns: float) -> None:
        """Time of the very first call; kept apart."""
        if self._cold_ns is None:
            self._cold_ns = host_ns

    def add(self, facts: CallFacts, process: int, position: int, *, kept: bool) -> None:
        """One timed call; discarded ones are left out."""
        if not kept:
            return
        self.returned = self.returned or facts.returned
        self._calls.append(facts)
        self._process.append(process)
        self._position.append(position)

    def calls_of(self, process: int) -> list[CallFacts]:
        """The timed calls of one process pair."""
        return [one for one, p in zip(self._calls, self._process, strict=True) if p == process]

    def times(self) -> ArmTimes:
        """The record. Samples of a refused arm are kept for people; nothing is claimed."""
        return ArmTimes(
            name=self.name,
            sha256=self.sha256,
            samples_ns=tuple(one.device_ns for one in self._calls),
            process=tuple(self._process),
            position=tuple(self._position),
            host_ns=tuple(one.host_ns for one in self._calls),
            cold_first_call_ns=self._cold_ns,
            reason=self.reason,
            detail=self.detail,
        )

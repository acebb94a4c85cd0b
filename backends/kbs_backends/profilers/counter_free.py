"""No counters: timing, compiled resources and opcodes are all that is known."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from kbs_backends.profilers.base import Report, Target
from kbs_engine.results import Profiled

NOTE: Final = (
    "counter-free: hardware counters cannot be read here, so nothing is claimed that needs them"
)


class CounterFree(msgspec.Struct, frozen=True, kw_only=True):
    """Answers every profile with none, and says why."""

    why: str = ""
    name: str = "counter-free"

    def profile(
        self,
        target: Target,
        *,
        sections: tuple[str, ...] = (),
        metrics: tuple[str, ...] = (),
        output: Path,
    ) -> Report:
        """No report; the note and the reason."""
        del target, sections, metrics, output
        notes = (NOTE, self.why) if self.why else (NOTE,)
        return Report(answer=Profiled(mode="counter-free", passes=0, notes=notes))

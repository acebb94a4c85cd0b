"""What masks and unmasks that came from elsewhere do to the records that are here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

import msgspec

from kbs_engine.experience.records import Mask, Unmask
from kbs_ingest.experience.view import Mark, hidden_by


class Masking(msgspec.Struct, frozen=True, kw_only=True):
    """One mask or unmask that a merge or an exchange brought."""

    id: str
    kind: Literal["mask", "unmask"]
    origin: str
    """Whose it says that it is."""
    reason: str
    file: str
    line: int
    """Where it now stands."""
    takes_out: tuple[str, ...] = ()
    """Ids of records of this log that count no more, now that it is here."""
    shows: tuple[str, ...] = ()
    """Ids of records of this log that no mask hides any more."""
    absent: int = 0
    """How many of the records that it names this log does not hold."""


def maskings(
    before: Mapping[str, Mark], after: Mapping[str, Mark], holds: Callable[[str], bool]
) -> tuple[Masking, ...]:
    """Each mask and unmask that is new, with what it changes.

    Args:
        before: marks of the log as it was.
        after: its marks now.
        holds: whether the log holds a record of an id.
    """
    gone, was_gone = hidden_by(after), hidden_by(before)
    told = []
    for id_ in sorted(after.keys() - before.keys()):
        mark = after[id_]
        record = mark.record
        if not isinstance(record, (Mask, Unmask)):
            continue
        named = record.targets if isinstance(record, Mask) else _targets(record, after)
        here = [target for target in dict.fromkeys(named) if holds(target)]
        hides = isinstance(record, Mask)
        told.append(
            Masking(
                id=id_,
                kind="mask" if hides else "unmask",
                origin=mark.origin,
                reason=record.reason,
                file=f"experience/{mark.segment}",
                line=mark.line,
                takes_out=tuple(
                    name for name in here if hides and name in gone and name not in was_gone
                ),
                shows=tuple(
                    name for name in here if not hides and name in was_gone and name not in gone
                ),
                absent=len(set(named)) - len(here),
            )
        )
    return tuple(told)


def _targets(unmask: Unmask, marks: Mapping[str, Mark]) -> Iterable[str]:
    """What the masks that an unmask cancels name, as far as they are here."""
    records = (marks[name].record for name in unmask.masks if name in marks)
    return [name for record in records if isinstance(record, Mask) for name in record.targets]

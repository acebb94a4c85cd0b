"""Merging is set union, and masks are records like any other.

A log is a map from id to entry. Where two logs have one record from two origins, the smaller
origin stays, so that the result does not depend on the order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kbs_engine.experience.records import Entry, Mask, Unmask

Log = Mapping[str, Entry]


def log_of(entries: Iterable[Entry]) -> dict[str, Entry]:
    """The log that holds these entries."""
    found: dict[str, Entry] = {}
    for entry in entries:
        held = found.get(entry.id)
        if held is None or entry.origin < held.origin:
            found[entry.id] = entry
    return found


def union(*logs: Log) -> dict[str, Entry]:
    """All entries of all logs: any order, any number of times, the same result."""
    return log_of(entry for log in logs for entry in log.values())


def hidden(masks: Mapping[str, Mask], unmasks: Iterable[Unmask]) -> frozenset[str]:
    """Ids that a mask hides which no unmask cancels. ``masks`` is by id."""
    cancelled = {name for unmask in unmasks for name in unmask.masks}
    return frozenset(
        target for id_, mask in masks.items() if id_ not in cancelled for target in mask.targets
    )


def visible(log: Log) -> dict[str, Entry]:
    """What is left of a log without what its masks hide."""
    masks = {id_: entry.record for id_, entry in log.items() if isinstance(entry.record, Mask)}
    unmasks = [entry.record for entry in log.values() if isinstance(entry.record, Unmask)]
    gone = hidden(masks, unmasks)
    return {id_: entry for id_, entry in log.items() if id_ not in gone}

"""Masks and unmasks from what a user names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kbs_engine.errors import RefusedError, UsageError
from kbs_engine.experience import Mask, Unmask
from kbs_ingest.experience import Lore, append
from kbs_ingest.experience.query import Reading, Wanted, active_masks, find_record

SHORTEST_PREFIX = 6


def mask_records(
    home: Path,
    lore: Lore,
    *,
    ids: Sequence[str],
    reason: str,
    origin: str | None,
    run: str | None,
) -> dict[str, Any]:
    """Append a mask of records named by id (or its beginning), origin or run.

    Raises:
        UsageError: Nothing is named, or a beginning names several records.
        RefusedError: There is no such record.
    """
    targets = [_one(home, prefix) for prefix in ids]
    if origin is not None or run is not None:
        wanted = Wanted(origin=origin, run=run)
        targets += [row.id for row in Reading(home, lore).rows(wanted)]
    if not ids and origin is None and run is None:
        raise UsageError("nothing to mask", remedy="name ids, --origin or --run")
    if not targets:
        raise RefusedError("no record is like that", remedy="`kbs experience list --all`")
    chosen = tuple(sorted(set(targets)))
    (id_,) = append(home, [Mask(targets=chosen, reason=reason)])
    return {"mask": id_, "targets": list(chosen), "reason": reason}


def unmask_records(home: Path, *, ids: Sequence[str], reason: str) -> dict[str, Any]:
    """Append an unmask of the masks named, or of every mask that hides a record named.

    Raises:
        UsageError: A beginning names several records.
        RefusedError: There is no such mask.
    """
    active = active_masks(home)
    masks: set[str] = set()
    for prefix in ids:
        id_ = _one(home, prefix)
        hiding = {name for name, mask in active.items() if id_ in mask.targets or name == id_}
        if not hiding:
            raise RefusedError(
                f"{id_[:12]} is no mask, and no mask hides it",
                remedy="`kbs experience list --all` shows what is masked",
            )
        masks |= hiding
    (id_,) = append(home, [Unmask(masks=tuple(sorted(masks)), reason=reason)])
    return {"unmask": id_, "masks": sorted(masks)}


def _one(home: Path, prefix: str) -> str:
    if len(prefix) < SHORTEST_PREFIX:
        raise UsageError(
            f"{prefix!r} is too short for an id", remedy=f"give {SHORTEST_PREFIX} letters or more"
        )
    found = [id_ for id_, _ in find_record(home, prefix.casefold())]
    if not found:
        raise RefusedError(f"no record has the id {prefix}", remedy="`kbs experience list --all`")
    if len(found) > 1:
        raise UsageError(
            f"{len(found)} records begin with {prefix}", remedy=f"for example {found[0]}"
        )
    return found[0]

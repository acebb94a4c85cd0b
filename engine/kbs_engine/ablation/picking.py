"""The champion and its variants out of a timing that other sources may be in too."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kbs_engine.results import Timed


def places_of(timed: Timed, sources: Sequence[str]) -> tuple[int, ...] | None:
    """The arm of each variant, by the sha256 of its source; None where one has no arm.

    The champion is arm 0 and no variant. Variants of one source have an arm each, in the order
    of the arms, as far as there are so many; else they share the first.
    """
    free = list(range(1, len(timed.arms)))
    places: list[int] = []
    for sha256 in sources:
        place = next((i for i in free if timed.arms[i].sha256 == sha256), None)
        if place is not None:
            free.remove(place)
        else:
            place = next((i for i in places if timed.arms[i].sha256 == sha256), None)
        if place is None:
            return None
        places.append(place)
    return tuple(places)


def pick_arms(timed: Timed, places: Sequence[int]) -> Timed:
    """The champion and the arms at ``places``, as ``attribute`` takes them.

    Samples keep the process pair and the turn that they had, so that arms are compared block by
    block as in a timing of their own.
    """
    return msgspec.structs.replace(timed, arms=(timed.arms[0], *(timed.arms[i] for i in places)))

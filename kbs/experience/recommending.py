"""What past outcomes recommend for a kernel that is told in a few words."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import msgspec

from kbs.partial import Advisor, Asked
from kbs_engine.chance import Context as Place
from kbs_engine.experience.advice import Advised, advise
from kbs_engine.recommend import Options, recommend
from kbs_engine.situation import Situation

if TYPE_CHECKING:
    from kbs_ingest.store import Store

EXAMPLES = 3


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    """The answer, and what it rests on."""

    recommendations: tuple[Advised, ...]
    note: str = ""
    arch: str | None = None


def advise_from_experience(store: Store, told: dict[str, Any], *, as_of: date, top: int) -> Advice:
    """Methods by their past outcomes near ``told``, then those that the wiki recommends.

    Args:
        store: the index.
        told: ``kernel``, ``language``, ``chip`` and ``limiter``, each a word or None.
        as_of: the date at which outcomes are weighed.
        top: how many to give.

    Raises:
        RefusedError: The chip is none that the wiki knows, and no architecture either.
    """
    situation = msgspec.convert(
        {
            "family": told["kernel"],
            "language": told["language"],
            "limiter": told["limiter"],
            "chip_name": told["chip"],
        },
        Situation,
    )
    ready = Advisor(store).ask(Asked(kernel=told["kernel"] or "", situation=situation))
    item = ready.item
    arch = item.chip.arch if item.chip else store.lore().arch(told["chip"] or "")
    if told["chip"] and not arch:
        store.chip(told["chip"])  # refuses what is neither a GPU nor an architecture
    place = Place(
        family=told["kernel"], language=told["language"], arch=arch, limiter=told["limiter"]
    )
    evidence = store.evidence(place, as_of)
    chosen = Options(as_of=as_of, language=told["language"], keep_groups=True)
    foreseen = recommend(item, ready.knowledge, chosen)
    rows = advise(
        evidence,
        foreseen.recommendations,
        {method.id: method.title for method in store.methods()},
        {row.method: row.reason for row in foreseen.filtered if row.filter != "score"},
    )[:top]
    told_by = sum(tally.rows for tallies in evidence.values() for tally in tallies.values())
    notes = [] if told_by else ["no past outcomes yet: the ranking is the wiki's alone"]
    if item.chip and not item.chip.specs and told["chip"] != arch:
        notes.append(f"{told['chip']} may be several GPUs: only their architecture {arch} is taken")
    return Advice(
        recommendations=tuple(_with_examples(row, store, place) for row in rows),
        note="; ".join(notes),
        arch=arch or None,
    )


def _with_examples(row: Advised, store: Store, place: Place) -> Advised:
    """The nearest successes of a method, and the tunables of the best of them."""
    if not row.outcomes.helped:
        return row
    near = store.nearest_successes(row.method, place, EXAMPLES)
    return msgspec.structs.replace(
        row,
        examples=tuple(item.id for item in near),
        tunables=near[0].outcome.tunables if near else {},
    )

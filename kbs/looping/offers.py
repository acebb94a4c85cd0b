"""What a proposer can write, and what a source offers though no measured cause asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from kbs.proposers.templates import METHOD
from kbs_engine.loop.asks import MarksRead
from kbs_engine.loop.branching import Space, assignments
from kbs_engine.methods import Method
from kbs_engine.proposals import TUNING_METHODS, Candidate
from kbs_engine.recommendations import OutcomeCounts, Recommendation

ASSUMED: Final = 0.3
"""Share of the time assumed for what nobody measured; `situation.IMPLIED_SHARE` says the same."""
CHANCE: Final = 0.5


def offered(
    marks: MarksRead,
    pages: Mapping[str, Method],
    *,
    gap: float | None,
    tried: Sequence[Mapping[str, Any]],
) -> tuple[Recommendation, ...]:
    """Switches that are off, in their order, then a search of the tunables while some are left."""
    rows = [
        _offer(row.method, pages, gap, f"the source offers it with its switch {row.method}, off")
        for row in marks.switches
        if not row.on
    ]
    if untried(marks, tried):
        rows.append(
            _offer(
                TUNING_METHODS[0], pages, gap, f"{len(marks.tunables)} tunables have values untried"
            )
        )
    return tuple(rows)


def unranked(rewrites: Sequence[str], named: Sequence[str]) -> tuple[Recommendation, ...]:
    """Rewrites in the order of their ids: for a run without knowledge, which ranks nothing."""
    return tuple(
        _offer(method, {}, None, "the proposer has a rewrite of it")
        for method in sorted(set(rewrites) - set(named))
    )


def untried(marks: MarksRead, tried: Sequence[Mapping[str, Any]]) -> bool:
    """Whether some assignment of the tunables other than the present one is not measured yet."""
    spaces = [Space(name=t.name, current=t.current, values=t.values) for t in marks.tunables]
    now = {space.name: space.current for space in spaces}
    return next(assignments(spaces, tried=(*tried, now)), None) is not None


def template_row(
    found: Sequence[Candidate], ranked: Sequence[Recommendation], gap: float | None
) -> Recommendation:
    """The row of templates that fit: the whole gap is at stake, whatever the causes are."""
    old = next((row for row in ranked if row.method == METHOD), None)
    gain = gap if gap is not None else ASSUMED
    names = " or ".join(one.name for one in found)
    told = f"{names} compute{'s' * (len(found) == 1)} what the reference does"
    row = _offer(METHOD, {}, None, told)
    basis = f"gap {gap:.2f} to the model" if gap is not None else "share assumed"
    row = msgspec.structs.replace(
        row,
        title=f"Start from {names}",
        axis="compute",
        gain=gain,
        score=gain * CHANCE,
        fit=1.0,
        fit_parts={"a template fits": 1.0},
        predicted_gain=(0.0, gain),
        triggers=(f"{told}; {basis}",),
    )
    if old is None:
        return row
    better = row if row.score > old.score else old
    return msgspec.structs.replace(
        better, title=row.title, triggers=(*row.triggers, *old.triggers), citations=old.citations,
        outcomes=old.outcomes, status=old.status,
    )  # fmt: skip


def _offer(method: str, pages: Mapping[str, Method], gap: float | None, why: str) -> Recommendation:
    page = pages.get(method)
    gain = min(ASSUMED, gap) if gap is not None else ASSUMED
    return Recommendation(
        method=method,
        title=page.title if page else method,
        axis=page.axis if page else "latency",
        score=gain * CHANCE / 10,
        gain=gain,
        chance=CHANCE,
        fit=0.1,
        fit_parts={"no measured cause": 0.1},
        predicted_gain=(0.0, gain),
        addresses=(),
        triggers=(f"{why}; no measured cause asks for it, share assumed",),
        outcomes=OutcomeCounts(),
        status=page.status if page else "cited",
        citations=(f"{method} <- {page.citation}",) if page else (),
    )

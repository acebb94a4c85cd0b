"""Comparisons of a statement with rows of a page, and the verdicts that follow from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from kbs_engine.facts import Basis
from kbs_engine.units import QUANTITY, SPEC_UNITS, to_base
from kbs_ingest.audit.claims import Claim
from kbs_ingest.audit.knowledge import Fact, Page
from kbs_ingest.audit.model import Anchor, Quantity, Verdict
from kbs_ingest.audit.values import close, same
from kbs_ingest.audit.words import tokens

NEAR = 0.25
"""A cited number this close to the one that now stands on the cited line was replaced by it."""
_KIB_METRICS = ("shared_", "l1_", "register", "constant_", "scalar_", "instruction_", "tensor_mem")


def verbatim(facts: Sequence[Fact], labels: Sequence[frozenset[str]]) -> list[Fact]:
    """Facts whose own words make up most of a label; the longest wording wins."""
    sized = [
        (len(own), fact)
        for fact in facts
        if (own := frozenset(tokens(fact.words)))
        and any(own <= label and 2 * len(own) > len(label) for label in labels)
    ]
    longest = max((size for size, _ in sized), default=0)
    return [fact for size, fact in sized if size == longest]


def equal(value: Quantity, fact: Fact) -> bool:
    """Whether the row states the value."""
    kib = fact.metric.startswith(_KIB_METRICS)
    return same(value, fact.value, fact.unit, kib=kib)


def replaces(value: Quantity, fact: Fact) -> bool:
    """Whether the line now holds a number near the cited one, in a unit of the same kind."""
    if not isinstance(fact.value, float) or value.number is None:
        return value.is_unknown != (fact.value is None)
    if QUANTITY[value.unit] != QUANTITY[fact.unit]:
        return False
    return close(to_base(value.number, value.unit), to_base(fact.value, fact.unit), NEAR)


def lines_of(page: Page, anchor: Anchor) -> range | None:
    """The lines that an anchor names, or None when they are not there."""
    if anchor.first is not None:
        last = max(anchor.last or anchor.first, anchor.first)
        if anchor.first >= 1 and last <= len(page.lines):
            return range(anchor.first, last + 1)
        return None
    wanted = heading_key(anchor.section)
    best: tuple[int, range] | None = None
    for title, first, last in page.sections:
        slug = heading_key(title)
        if slug and wanted.startswith(slug) and (best is None or len(slug) > best[0]):
            best = (len(slug), range(first, last + 1))
    return best[1] if best else None


def heading_key(text: str) -> str:
    """A heading without case and marks."""
    return "".join(tokens(text))


def nothing(page: Page) -> str:
    """Why a page answers nothing."""
    return f"gpu-wiki/{page.path} states nothing of this metric"


def no_place(page: Page, anchor: Anchor) -> str:
    """Why an anchor leads to no line."""
    if anchor.first is not None:
        return f"gpu-wiki/{page.path} has {len(page.lines)} lines"
    if is_malformed(anchor):
        return f"{anchor.section!r} is no line; write :L<number>"
    if anchor.section:
        return f"gpu-wiki/{page.path} has no section {anchor.section!r}"
    return "the citation names neither line nor section"


def is_malformed(anchor: Anchor) -> bool:
    """Whether a place tries to name a line and does not: ``L34.5``."""
    return bool(re.match(r"L?\d", anchor.section))


def reference(page: Page, lines: range | None, unread: str, anchor: Anchor) -> Verdict:
    """The answer on a citation without a value; ``unread`` is a number near it that is none."""
    if lines is None:
        return Verdict(verdict="missing", detail=no_place(page, anchor))
    if unread:
        return Verdict(
            verdict="wrong_value",
            detail=f"{unread!r} stands near it and was read as no value; "
            "write <metric>: <value> <unit> <- <place>",
        )
    return Verdict(verdict="ok", detail="names a place, no value to compare")


def passed(detail: str, fact: Fact, claim: Claim) -> Verdict:
    """The answer on a value that the cited line states, with the words that it does not."""
    words = claim.unexplained(fact)
    return Verdict(verdict="ok", detail=detail, unexplained=words)


def another(value: Quantity) -> Verdict:
    """The answer on a number that the page states, under a sign, comparison or multiple."""
    return Verdict(
        verdict="wrong_value",
        detail=f"the page states {value.text}, which {value.twist!r} beside it makes another value",
    )


def first(facts: Iterable[Fact], lines: range | None, claim: Claim) -> Fact | None:
    """The first used row on the cited lines that carries the statement."""
    return next(
        (
            fact
            for fact in facts
            if lines is not None and fact.line in lines and fact.used and not claim.misfit(fact)
        ),
        None,
    )


def by_value(
    page: Page,
    facts: Sequence[Fact],
    alike: tuple[Sequence[Fact], Sequence[Fact]],
    here: Sequence[Fact],
    claim: Claim,
    anchor: Anchor,
) -> Verdict | None:
    """What the value itself tells where the cited line does not carry the statement."""
    equal, rounds = alike
    for found in alike:
        if used := [fact for fact in found if fact.used and not claim.misfit(fact)]:
            return elsewhere(page, used, anchor)
    stated = [fact for fact in here if fact.used]
    close_by = stated if all(claim.misfit(fact) for fact in stated) else []
    if misfits := [fact for fact in (*equal, *rounds, *close_by) if fact.used]:
        return misfit(misfits, here, claim)
    return replaced(page, facts, equal[0]) if equal else None


def elsewhere(page: Page, used: Sequence[Fact], anchor: Anchor) -> Verdict:
    """The value stands on the page, but not on the cited line."""
    start = anchor.first or 0
    fact = min(used, key=lambda row: (row.basis.density == "sparse", abs(row.line - start)))
    return Verdict(
        verdict="moved",
        detail=f"stands on gpu-wiki/{page.path}:L{fact.line} now",
        line=fact.line,
    )


def misfit(misfits: Sequence[Fact], here: Sequence[Fact], claim: Claim) -> Verdict:
    """The page states the number under conditions that the statement does not name."""
    fact = next((row for row in misfits if row in here), misfits[0])
    meant = next(
        (row for row in here if row.metric == fact.metric and row.used and not claim.misfit(row)),
        None,
    )
    states = f"; L{meant.line} states {meant.shown} {meant.basis.density or ''}" if meant else ""
    return Verdict(
        verdict="wrong_value",
        detail=f"{claim.misfit(fact)}{states}".rstrip(),
        line=meant.line if meant else fact.line,
    )


def unit_slip(value: Quantity, fact: Fact) -> bool:
    """The same digits in another unit of the same kind: GiB for GB, PFLOPS for TFLOPS."""
    return (
        isinstance(fact.value, float)
        and value.number == fact.value
        and value.unit != fact.unit
        and QUANTITY[value.unit] == QUANTITY[fact.unit]
        and bool(value.unit)
    )


def different_unit(value: Quantity, fact: Fact) -> Verdict:
    """The answer on the right digits in a wrong unit, with the conversion."""
    inside = to_base(value.number or 0.0, value.unit) / SPEC_UNITS[fact.unit]
    return Verdict(
        verdict="wrong_value",
        detail=f"L{fact.line} states {fact.shown}, and {value.unit} is not {fact.unit}: "
        f"{value.text} is {inside:.4g} {fact.unit}",
        line=fact.line,
    )


def coarse(value: Quantity, fact: Fact) -> Verdict:
    """The answer on a value that is the row's with too few digits to be checked."""
    return Verdict(
        verdict="wrong_value",
        detail=f"L{fact.line} states {fact.shown}, of which {value.text} has too few digits; "
        "write three or more",
        line=fact.line,
    )


def replaced(page: Page, facts: Sequence[Fact], old: Fact) -> Verdict:
    """The answer on a value that the page lists as not used."""
    used = next((fact for fact in facts if fact.used and fact.metric == old.metric), None)
    now = f"gpu-wiki/{page.path}:L{used.line} uses {used.shown}" if used else "no value is used"
    why = f" ({old.reason})" if old.reason else ""
    return Verdict(
        verdict="changed",
        detail=f"L{old.line} lists it under Disagreements{why}; {now}",
        line=used.line if used else None,
    )


def closest_topic(facts: Sequence[Fact]) -> Fact:
    """The used fact with the fewest words that the label did not say."""
    return min(
        facts,
        key=lambda fact: (
            not fact.used,
            fact.basis.density == "sparse",
            len(fact.topic.concepts),
            fact.line,
        ),
    )


def basis_note(basis: Basis) -> str:
    """What an ok citation holds for beside the usual case."""
    notes = ["sparse figure"] if basis.density == "sparse" else []
    if basis.accumulate and basis.accumulate != "fp32":
        notes.append(f"{basis.accumulate} accumulate")
    if basis.scope == "die":
        notes.append("per die")
    return ", ".join(notes)


def unit_note(value: Quantity, fact: Fact) -> str:
    """Which unit was taken for which."""
    if value.number is None or not isinstance(fact.value, float):
        return ""
    if QUANTITY[value.unit] != QUANTITY[fact.unit] or (
        value.number == fact.value and value.unit != fact.unit
    ):
        return (
            f", and {value.unit or 'a number without a known unit'} is not {fact.unit or 'a count'}"
        )
    return ""

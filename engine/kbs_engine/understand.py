"""Partial knowledge: a sentence, a few numbers, a family become a diagnosis that says so.

Measured rules come first. Words and single numbers add symptoms that no rule could decide, with
shares that are assumed; a rule that was asked and did not fire outweighs words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from kbs_engine.causes import EXPLAINS_AT_LEAST
from kbs_engine.diagnose import Diagnosed, Subject, diagnose
from kbs_engine.facts import Chip
from kbs_engine.ports import Knowledge
from kbs_engine.profiles import Profile
from kbs_engine.single_numbers import Clue, clues_from_numbers
from kbs_engine.situation import IMPLIED_SHARE, SYMPTOMS_OF, TOLD_SHARE, Situation, imagine
from kbs_engine.symptom_words import Cues, read_cues
from kbs_engine.symptoms import Cause, SymptomRule
from kbs_engine.vocabulary import Family, Language, Limiter
from kbs_engine.work import Work

RETRIEVED_SHARE: Final = 0.1
"""Share of the best symptom that search finds. It is small, because search for methods says more
than search for symptoms and a method page for each of these."""

CUE_SHARE: Final = 0.35
"""What words that name a symptom count when search sees no sign of it in the whole text."""

RETRIEVED_MOST: Final = 20
CONTRADICTED: Final = 0.3
"""What words keep when the rule was asked and did not fire."""

PERCENT: Final = 100.0

NEAR_ROOF: Final = 0.12
"""What all shares keep when the words say that the kernel is at its roof."""


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is known of a kernel without a report."""

    metrics: dict[str, float] = msgspec.field(default_factory=dict)
    """Canonical metrics in base units."""
    text: str = ""
    found: dict[str, float] = msgspec.field(default_factory=dict)
    """Symptoms that search found for the text, with their nearness to it (0-1)."""
    told: tuple[str, ...] = ()
    """Symptoms that somebody named by id."""
    limiter: Limiter | None = None
    family: Family | None = None
    language: Language | None = None
    chip: Chip | None = None
    work: Work | None = None
    notes: tuple[str, ...] = ()
    """How names were read, for the reader to check."""


def understand(known: Known, knowledge: Knowledge) -> Diagnosed:
    """A diagnosis from partial knowledge; every assumed share is marked in its message."""
    rules = {rule.id: rule for rule in knowledge.rules()}
    base = _measured(known, knowledge)
    cues = read_cues(known.text)
    clues = _clues(known, cues, rules)
    fired = {cause.id: cause for cause in (*base.diagnosis.causes, *base.diagnosis.effects)}
    unknown = {row.id for row in base.diagnosis.not_measurable}
    words = []
    for clue in clues:
        if clue.symptom in fired:
            continue
        decided = bool(known.metrics) and clue.symptom not in unknown
        share = clue.share * (CONTRADICTED if decided else 1.0)
        words.append(_assumed(rules[clue.symptom], share, clue.why))
    causes = [*base.diagnosis.causes, *words]
    if not [cause for cause in causes if cause.axis != "none"]:
        causes += _fallback(known, base, knowledge, rules)
    if cues.at_roof:
        causes = [_scaled(cause, NEAR_ROOF) for cause in causes]
    roots, effects = _order(causes, rules)
    return _replaced(base, known, cues, roots, (*base.diagnosis.effects, *effects))


def _measured(known: Known, knowledge: Knowledge) -> Diagnosed:
    """What the rules say of the numbers, without any word."""
    metrics = dict(known.metrics)
    units = known.chip.number("unit_count") if known.chip else None
    if metrics and units is not None:
        metrics.setdefault("sm_count", units)
    peak = known.chip.device_number("memory_bandwidth") if known.chip else None
    moved = metrics.get("dram_bytes_per_s")
    if peak and moved is not None and moved <= peak:
        metrics.setdefault("dram_pct", PERCENT * moved / peak)
    work = known.work or Work(kernel=known.family or "other")
    profile = Profile(
        name=known.family or "(no report)",
        launch=0,
        metrics=metrics,
        chip=known.chip.id if known.chip else None,
    )
    subject = Subject(profile=profile, work=work, language=known.language)
    return diagnose([subject], knowledge)[0]


def _clues(known: Known, cues: Cues, rules: Mapping[str, SymptomRule]) -> list[Clue]:
    """One clue per symptom, the strongest reason first."""
    found = [Clue(symptom=name, share=TOLD_SHARE, why="as told") for name in known.told]
    found += [
        Clue(symptom=name, share=_cue_share(known, name), why=f"from the words {words!r}")
        for name, words in cues.named.items()
    ]
    found += clues_from_numbers(known.metrics, known.family)
    found += [
        Clue(symptom=name, share=IMPLIED_SHARE, why=f"follows from limiter {known.limiter}")
        for name in SYMPTOMS_OF.get(known.limiter or "", ())
    ]
    names = sorted(known.found, key=lambda name: (-known.found[name], name))
    found += [
        Clue(
            symptom=name,
            share=RETRIEVED_SHARE * known.found[name] ** 2,  # the tail of a search is noise
            why="search finds it for these words",
        )
        for name in [name for name in names if name not in cues.denied][:RETRIEVED_MOST]
    ]
    strongest: dict[str, Clue] = {}
    for clue in found:
        have = strongest.get(clue.symptom)
        if clue.symptom in rules and (have is None or have.share < clue.share):
            strongest[clue.symptom] = clue
    return list(strongest.values())


def _cue_share(known: Known, name: str) -> float:
    """Words that name a symptom count more where search finds it for the whole text too."""
    if not known.found:
        return TOLD_SHARE
    return CUE_SHARE + (TOLD_SHARE - CUE_SHARE) * known.found.get(name, 0.0)


def _fallback(
    known: Known, base: Diagnosed, knowledge: Knowledge, rules: Mapping[str, SymptomRule]
) -> list[Cause]:
    """Nothing names a symptom: what the limiter, else the family, usually means."""
    limiter = base.diagnosis.limiter
    implied = [
        _assumed(rules[name], IMPLIED_SHARE, f"follows from limiter {limiter}")
        for name in SYMPTOMS_OF.get(limiter, ())
        if name in rules
    ]
    if implied or known.family is None:
        return implied
    return list(imagine(Situation(family=known.family), knowledge).diagnosis.causes)


def _order(
    causes: Sequence[Cause], rules: Mapping[str, SymptomRule]
) -> tuple[tuple[Cause, ...], tuple[Cause, ...]]:
    """Roots by share, and those that a present root explains."""
    ranked = sorted(causes, key=lambda cause: (-cause.recoverable, -cause.severity, cause.id))
    effects: list[Cause] = []
    roots: list[Cause] = []
    for cause in ranked:
        by = tuple(
            other.id
            for other in ranked
            if other.id != cause.id
            and other.id in rules
            and cause.id in rules[other.id].explains
            and other.recoverable >= _needed(other) * cause.recoverable
            and not (
                other.id in (rules[cause.id].explains if cause.id in rules else ())
                and other.recoverable <= cause.recoverable
            )
        )
        if by:
            effects.append(msgspec.structs.replace(cause, explained_by=by))
        else:
            roots.append(cause)
    return (tuple(roots), tuple(effects)) if roots else (tuple(ranked), ())


def _needed(other: Cause) -> float:
    """How strong an explanation must be: one that is assumed must be as strong as its effect."""
    return 1.0 if not other.evidence else EXPLAINS_AT_LEAST


def _assumed(rule: SymptomRule, share: float, why: str) -> Cause:
    return Cause(
        id=rule.id,
        axis=rule.axis,
        title=rule.title,
        severity=share,
        recoverable=share,
        message=f"{rule.title} ({why}; share assumed)",
        citation=rule.citation,
    )


def _scaled(cause: Cause, factor: float) -> Cause:
    return msgspec.structs.replace(
        cause, severity=cause.severity * factor, recoverable=cause.recoverable * factor
    )


def _replaced(
    base: Diagnosed,
    known: Known,
    cues: Cues,
    roots: tuple[Cause, ...],
    effects: tuple[Cause, ...],
) -> Diagnosed:
    flags = [*base.diagnosis.flags, "no report: shares of symptoms in words are assumed"]
    if cues.at_roof:
        flags.append("the words say that the kernel is at its roof: little is left")
    if "dram_pct" not in known.metrics and "dram_pct" in base.diagnosis.metrics:
        flags.append("dram_pct is dram_bytes_per_s over the cited bandwidth")
    diagnosis = msgspec.structs.replace(
        base.diagnosis,
        causes=roots,
        effects=effects,
        flags=(*flags, *known.notes),
        chip=known.chip.id if known.chip else None,
        limiter=known.limiter or base.diagnosis.limiter,
        family=known.family,
        not_measurable=base.diagnosis.not_measurable if known.metrics else (),
    )
    # work that states no precision would read as "permits none"; it then counts as not known
    work = known.work if known.work and known.work.precisions else None
    return msgspec.structs.replace(base, diagnosis=diagnosis, chip=known.chip, work=work)

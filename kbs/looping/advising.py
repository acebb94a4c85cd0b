"""Diagnosis and ranked methods of a measured version, from the knowledge base."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from kbs.looping.evidence import evidence_note
from kbs.looping.offers import offered
from kbs.measuring.profiling import plan_second
from kbs_engine.adaptive import ProfilePlan
from kbs_engine.blobs import BlobStore
from kbs_engine.diagnose import Diagnosed, Subject, diagnose
from kbs_engine.errors import RefusedError
from kbs_engine.facts import Chip
from kbs_engine.loop.asks import Advice, Advise, MarksRead
from kbs_engine.loop.seeding import Place, seeds_for
from kbs_engine.outcomes import dims_class
from kbs_engine.passes import merge_passes, without_held
from kbs_engine.placeholders import unknown_chip, with_placeholders
from kbs_engine.profiles import Profile
from kbs_engine.recommend import Options, recommend
from kbs_engine.recommendations import KernelAdvice, Recommendation
from kbs_engine.reports import ncu_details, ncu_summary, ncu_top
from kbs_engine.results import Machine, Profiled
from kbs_engine.roofline import build_roofline
from kbs_engine.roofs import Roofline
from kbs_engine.rows import Call
from kbs_engine.run.settings import Settings
from kbs_engine.understand import Known, understand
from kbs_engine.vocabulary import LIMITERS
from kbs_engine.work import Work

if TYPE_CHECKING:
    from kbs_ingest.store import Store


def advise(ask: Advise, store: Store | None, blobs: BlobStore, marks: MarksRead) -> Advice:
    """Everything that a plan is made from, but for what the proposer cannot write."""
    work = ask.counted.work if ask.counted else None
    chip = platform_chip(store, ask.settings, ask.machine)
    profiles = _profiles(ask, store, blobs)
    items = _diagnosed(ask, store, profiles, chip, work)
    roofline = _roofline(ask, items, profiles, chip, work)
    chosen = Options(
        as_of=date.fromisoformat(ask.as_of),
        language=ask.settings.language,
        applied=frozenset(ask.applied),
        source_hash=ask.source.sha256,
    )
    advices = [recommend(item, store, chosen) for item in items] if store else []
    advices.sort(key=lambda row: -(row.diagnosis.time_ns or 0.0))
    pages = {method.id: method for method in store.methods()} if store else {}
    ranked = merge_ranked(advices)
    if not profiles:
        ranked = tuple(_assumed(row) for row in ranked)
    diagnoses = [row.diagnosis for row in advices]
    why_not = "" if profiles else ask.machine.counters_why_not or "the run reads no counters"
    offers = offered(marks, pages, gap=roofline.gap, tried=ask.tried)
    named = {row.method for row in (*ranked, *offers)}
    return Advice(
        kernels=tuple(advices),
        roofline=roofline,
        ranked=ranked,
        offered=offers,
        pages={name: pages[name] for name in sorted(named & pages.keys())},
        seeds=_seeds(store, ask, roofline, work),
        evidence=evidence_note(
            store, advices, roofline,
            family=work.kernel if work else ask.settings.family,
            language=ask.settings.language,
            time_ns=ask.time_ns,
        ),
        top=ncu_top(
            ask.version, ask.source.sha256, profiles, diagnoses, ncu_num=ask.settings.ncu_num
        ),
        summary=ncu_summary(ask.version, profiles, diagnoses, why_not=why_not),
        details=ncu_details(ask.version, profiles, why_not=why_not),
        next_pass=_next_pass(ask, store, items, profiles),
    )  # fmt: skip


def _next_pass(
    ask: Advise, store: Store | None, items: Sequence[Diagnosed], profiles: Sequence[Profile]
) -> ProfilePlan | None:
    """What a second pass of ncu would separate; None once it was made, or where nothing is."""
    if store is None or not profiles or ask.second is not None:
        return None
    if ask.profile is None or ask.profile.mode != "ncu":
        return None
    plan = without_held(
        plan_second(items, profiles, store), ask.profile.sections, ask.profile.metrics
    )
    return None if plan.empty else plan


def _assumed(row: Recommendation) -> Recommendation:
    """Without counters no symptom is measured: what a method is wanted for says so."""
    told = tuple(f"assumed, not measured: {text}" for text in row.triggers)
    return msgspec.structs.replace(row, triggers=told)


def find_chip(store: Store | None, name: str) -> Chip | None:
    """The chip of this name; None where the wiki does not know it or is not asked."""
    if store is None or not name:
        return None
    try:
        return store.chip(name)
    except RefusedError:
        return None


def platform_chip(store: Store | None, settings: Settings, machine: Machine) -> Chip | None:
    """The chip that the run's targets are for, with the placeholders that its settings give.

    A chip that the wiki does not know is one of placeholders alone; None where there are none.
    """
    name = settings.platform or settings.chip or machine.gpu
    chip = find_chip(store, name)
    if chip is None and store is not None and name and settings.placeholders:
        chip = unknown_chip(name, machine.arch)
    return with_placeholders(chip, settings.placeholders) if chip else None


def _profiles(ask: Advise, store: Store | None, blobs: BlobStore) -> tuple[Profile, ...]:
    """The launches of the version's passes, merged; none without counters."""
    if store is None:
        return ()
    first = _launches(ask.profile, store, blobs)
    second = _launches(ask.second, store, blobs)
    return merge_passes(first, second) if second else first


def _launches(found: Profiled | None, store: Store, blobs: BlobStore) -> tuple[Profile, ...]:
    if found is None or not found.report_sha256:
        return ()
    from kbs_ingest.readers import read_report, report_vendor

    with tempfile.TemporaryDirectory(prefix="kbs-report-") as folder:
        path = Path(folder) / (found.report_name or "profile.ncu-rep")
        path.write_bytes(blobs.get(found.report_sha256))
        return read_report(path, store.metric_map(report_vendor(path))).profiles


def _diagnosed(
    ask: Advise,
    store: Store | None,
    profiles: Sequence[Profile],
    chip: Chip | None,
    work: Work | None,
) -> tuple[Diagnosed, ...]:
    if store is None:
        return ()
    language: Any = ask.settings.language
    if not profiles:
        return (understand(_known(ask, chip, work), store),)
    single = len(profiles) == 1
    subjects = [
        Subject(
            profile=profile,
            work=work if single else _shape_of(work),
            chip=chip,
            language=language,
        )
        for profile in profiles
    ]
    return diagnose(subjects, store, call=Call.of(profiles))


def _shape_of(work: Work | None) -> Work | None:
    """Of one kernel among several only the family and precisions are known, not its work."""
    if work is None:
        return None
    return msgspec.structs.replace(work, flops=None, bytes_in=None, bytes_out=None)


def _known(ask: Advise, chip: Chip | None, work: Work | None) -> Known:
    """What a run without counters knows: the task, the card, and which roof is nearest."""
    line = build_roofline({}, chip=chip, work=work, time_ns=ask.time_ns, time_source="timer")
    limiter: Any = line.limiter if line.limiter in LIMITERS and line.limiter != "unknown" else None
    if limiter is None and line.binding == "memory":
        limiter = "dram"
    family: Any = work.kernel if work else ask.settings.family
    return Known(
        limiter=limiter,
        family=None if family == "other" else family,
        language=ask.settings.language,
        chip=chip,
        work=work,
        notes=("counter-free: from timing, the declared work and the machine code alone",),
    )


def _roofline(
    ask: Advise,
    items: Sequence[Diagnosed],
    profiles: Sequence[Profile],
    chip: Chip | None,
    work: Work | None,
) -> Roofline:
    """Of the whole call: the profile's where it is one kernel, else by the timer."""
    if len(profiles) == 1 and items:
        return items[0].diagnosis.roofline
    line = build_roofline({}, chip=chip, work=work, time_ns=ask.time_ns, time_source="timer")
    if profiles and items:
        main = max(items, key=lambda item: item.diagnosis.time_ns or 0.0).diagnosis.roofline
        return msgspec.structs.replace(
            line,
            limiter=main.limiter,
            limiter_share=main.limiter_share,
            gap_latency=main.gap_latency,
        )
    return line


def merge_ranked(advices: Sequence[KernelAdvice]) -> tuple[Recommendation, ...]:
    """Methods over the launches of one call, each weighted by its launch's share of the time."""
    total = sum(row.diagnosis.time_ns or 0.0 for row in advices)
    best: dict[str, Recommendation] = {}
    for advice in advices:
        time = advice.diagnosis.time_ns
        share = time / total if time and total else 1.0 / len(advices)
        for row in advice.recommendations:
            low, high = row.predicted_gain
            scaled = msgspec.structs.replace(
                row,
                score=row.score * share,
                gain=row.gain * share,
                predicted_gain=(low * share, high * share),
            )
            if row.method not in best or best[row.method].score < scaled.score:
                best[row.method] = scaled
    return tuple(sorted(best.values(), key=lambda row: (-row.score, row.method)))


def _seeds(
    store: Store | None, ask: Advise, roofline: Roofline, work: Work | None
) -> tuple[dict[str, Any], ...]:
    """Tunables that won in the past where things were much the same."""
    if store is None:
        return ()
    place = Place(
        family=work.kernel if work else ask.settings.family,
        language=ask.settings.language,
        arch=ask.machine.arch,
        dims_class=dims_class(ask.settings.dims),
        dtype=work.dtype if work else ask.settings.dtype,
        limiter=roofline.limiter,
    )
    return seeds_for(store.tuned_successes(place), place)

"""The two evaluations, from files to figures."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from kbs.partial import SAYINGS, Advisor, Asked, Parts, Without
from kbs.subjects import Selection, read_subjects
from kbs_engine.chance import Context as Place
from kbs_engine.chance import posterior
from kbs_engine.diagnose import Subject, diagnose
from kbs_engine.errors import InputError, UsageError
from kbs_engine.evaluation.cases import EvalCase, Question, most_frequent
from kbs_engine.evaluation.claims import Labelled, Truth
from kbs_engine.evaluation.diagnosis import label
from kbs_engine.evaluation.recommendation import RecommendScore, score
from kbs_engine.hints import Published
from kbs_engine.recommend import Options, recommend
from kbs_engine.rows import Call
from kbs_engine.situation import Situation
from kbs_ingest.truth_file import LaunchMap, TruthFile, read_dominant, read_launches, read_truth

if TYPE_CHECKING:
    from kbs_ingest.store import Store

SHOWN: Final = 12
"""Kernels or entries that an error lists."""


class DiagnosisTask(msgspec.Struct, frozen=True, kw_only=True):
    """What `eval diagnose` is asked."""

    reports: tuple[Path, ...]
    truths: tuple[Path, ...]
    selection: Selection = Selection()
    launches: Path | None = None
    times: Path | None = None
    with_work: bool = True
    allow_missing: bool = False


def labelled_kernels(task: DiagnosisTask, store: Store) -> tuple[list[Labelled], list[str]]:
    """Diagnose all launches that have a label; notes tell what takes no part."""
    truth = _truth(task, store)
    names = read_launches(task.launches) if task.launches else LaunchMap()
    subjects: list[Subject] = []
    labels: list[tuple[Truth, str, str, bool]] = []
    used: set[int | str] = set()
    strangers: list[str] = []
    notes = [f"{key} is skipped: {why}" for key, why in truth.skipped.items()]
    alone = len(task.reports) == 1
    for path in task.reports:
        for subject in read_subjects([path], task.selection, store):
            profile = subject.profile
            case = names.case(path, profile.launch, alone=alone)
            called = (case,) if case else (profile.name,)
            found = truth.find(profile.launch, called, by_number=alone and case is None)
            if found is None:
                if not truth.skips(profile.launch, called):
                    strangers.append(f"{path.name} launch {profile.launch}: {called[0]}")
                continue
            used.add(found.key)
            labels.append((found, called[0], path.name, bool(case)))
            subjects.append(_with_work(subject, found, task))
    idle = [str(entry.key) for entry in truth.entries if entry.key not in used]
    notes += _missing(strangers, idle, task, truth.path)
    if not subjects:
        raise InputError(
            "no launch of the reports has a label",
            where=truth.path,
            remedy="name kernels as the report does, or give --launches",
        )
    return _label_calls(subjects, labels, store), notes


def _label_calls(
    subjects: Sequence[Subject], labels: Sequence[tuple[Truth, str, str, bool]], store: Store
) -> list[Labelled]:
    """One labelled kernel a case: launches that the launch map gives to one case are one call.

    Such a call is asked as a whole, and its longest launch stands for it.
    """
    single = [index for index, row in enumerate(labels) if not row[3]]
    calls: dict[tuple[str, str], list[int]] = {}
    for index, (_, kernel, report, mapped) in enumerate(labels):
        if mapped:
            calls.setdefault((report, kernel), []).append(index)
    alone = {group[0] for group in calls.values() if len(group) == 1}
    at_once = sorted([*single, *alone])
    found = dict(zip(at_once, diagnose([subjects[i] for i in at_once], store), strict=True))
    for group in calls.values():
        if len(group) > 1:
            members = [subjects[index] for index in group]
            call = Call.of([member.profile for member in members])
            items = diagnose(members, store, call=call)
            longest = max(range(len(items)), key=lambda i: items[i].diagnosis.time_ns or 0.0)
            found[group[0]] = items[longest]
    return [
        label(found[index].diagnosis, truth, kernel=kernel, report=report)
        for index, (truth, kernel, report, _) in enumerate(labels)
        if index in found
    ]


def _truth(task: DiagnosisTask, store: Store) -> TruthFile:
    """All truth files as one."""
    axes: dict[str, str] = {rule.id: rule.axis for rule in store.rules()}
    dominant = read_dominant(task.times) if task.times else {}
    files = [read_truth(path, axes, dominant=dominant) for path in task.truths]
    entries: dict[int | str, Truth] = {}
    for file in files:
        for entry in file.entries:
            if entry.key in entries:
                raise InputError(
                    f"{entry.key} has a label in two truth files",
                    where=f"{file.path}:{entry.line}",
                    remedy="keep one of them",
                )
            entries[entry.key] = entry
    return TruthFile(
        path=", ".join(file.path for file in files),
        entries=tuple(entries.values()),
        skipped={key: why for file in files for key, why in file.skipped.items()},
    )


def _with_work(subject: Subject, truth: Truth, task: DiagnosisTask) -> Subject:
    """The sidecar counts before the work of the truth; neither without work."""
    work = (subject.work or truth.work) if task.with_work else None
    return msgspec.structs.replace(subject, work=work)


def _missing(strangers: list[str], idle: list[str], task: DiagnosisTask, path: str) -> list[str]:
    """Notes on what has no partner; an error unless that is allowed."""
    told = []
    if strangers:
        told.append(f"{len(strangers)} launches have no label: {_some(strangers)}")
    if idle:
        told.append(f"{len(idle)} labels fit no launch: {_some(idle)}")
    if told and not task.allow_missing:
        raise InputError(
            "; ".join(told),
            where=path,
            remedy="correct the names, or pass --allow-missing to leave these out",
        )
    return told


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{', '.join(names[:SHOWN])}{more}"


# ---------------------------------------------------------------- recommendations
ABLATION: Final[dict[str, Parts]] = {
    "rules_only": Parts(retrieval=False, experience=False),
    "retrieval_only": Parts(rules=False, experience=False),
    "experience_only": Parts(rules=False, retrieval=False),
    "all": Parts(),
}


class RecommendResult(msgspec.Struct, frozen=True, kw_only=True):
    """Scores and rankings of every recommender; vectors may be missing."""

    scores: dict[str, RecommendScore | None]
    ablation: dict[str, RecommendScore]
    rankings: dict[str, list[list[str]]]
    best: list[float]
    """Score of our best recommendation of each case."""
    notes: list[str]


def evaluate_recommend(
    cases: Sequence[EvalCase], store: Store, *, as_of: date, bar: float, published: bool = False
) -> RecommendResult:
    """Ask every recommender the same questions; labels are used for the scores alone.

    ``published`` says that the questions are the published cases themselves: whatever was
    published where the question was keeps silent.
    """
    advisor = Advisor(store, without=_same_source(cases) if published else None)
    groups = store.groups()
    labels = [case.labels for case in cases]
    rankings: dict[str, list[list[str]]] = {}
    best: dict[str, list[float]] = {}
    for name, parts in ABLATION.items():
        if name == "experience_only":
            rankings[name] = [experience(case.question, advisor, as_of) for case in cases]
            continue
        answers = [advise(case.question, advisor, as_of, parts) for case in cases]
        rankings[name] = [[method for method, _ in answer] for answer in answers]
        best[name] = [answer[0][1] if answer else 0.0 for answer in answers]
    ablation = {
        name: score(labels, rankings[name], groups, best_scores=best.get(name), bar=bar)
        for name in ("rules_only", "retrieval_only", "experience_only", "all")
    }
    rankings["ours"] = rankings["all"]
    rankings["bm25"] = [
        advisor.retrieval.words(plain_query(row), "method", row.language)
        for row in (case.question for case in cases)
    ]
    rankings["bm25_sayings"] = [with_sayings(case.question, advisor) for case in cases]
    notes = []
    if advisor.retrieval.note:
        notes.append(f"no vector baseline: {advisor.retrieval.note}")
    else:
        rankings["vector"] = [
            advisor.retrieval.meaning(plain_query(row), "method", row.language) or []
            for row in (case.question for case in cases)
        ]
    rankings["frequent"] = [list(row) for row in most_frequent(labels)]
    scores: dict[str, RecommendScore | None] = {"ours": ablation["all"]}
    for name in ("bm25", "bm25_sayings", "vector", "frequent"):
        scores[name] = score(labels, rankings[name], groups) if name in rankings else None
    if not store.evidence(Place(), as_of):
        notes.append("the home holds no outcomes: experience is that of published cases alone")
    return RecommendResult(
        scores=scores,
        ablation=ablation,
        rankings=rankings,
        best=best["all"],
        notes=notes if published else notes + _shared(cases, store),
    )


def advise(
    question: Question, advisor: Advisor, as_of: date, parts: Parts
) -> list[tuple[str, float]]:
    """Our methods with their scores, best first, from the question alone."""
    ready = advisor.ask(_asked(question), parts)
    options = Options(as_of=as_of, language=question.language, hints=ready.hints)
    advice = recommend(ready.item, ready.knowledge, options)
    return [(row.method, row.score) for row in advice.recommendations]


def _asked(question: Question) -> Asked:
    told: dict[str, Any] = {
        "family": question.family,
        "language": question.language,
        "chip_name": question.gpu,
    }
    return Asked(
        text=question.text,
        metrics=question.metrics,
        kernel=question.kernel,
        situation=msgspec.convert(told, Situation),
    )


def experience(question: Question, advisor: Advisor, as_of: date) -> list[str]:
    """Methods by published cases and past outcomes alone; those that nobody backs are not named."""
    place = Place(family=question.family, language=question.language)
    hints = advisor.ask(_asked(question), ABLATION["experience_only"]).hints
    evidence = advisor.store.evidence(place, as_of)
    rows = []
    for method in advisor.store.methods():
        chance = posterior(evidence.get(method.id, {}))
        vote = hints[method.id].cases if method.id in hints else 0.0
        if vote > 0 or chance.counts.tried:
            rows.append((-chance.mean * (1 + vote), method.id))
    return [name for _, name in sorted(rows)]


def with_sayings(question: Question, advisor: Advisor) -> list[str]:
    """BM25 alone over the method pages and over what people say, added."""
    query = plain_query(question)
    pages = advisor.retrieval.near_words(query, "method", question.language)
    said = advisor.retrieval.near_words(query, f"method{SAYINGS}")
    scores = {name: pages.get(name, 0.0) + said.get(name, 0.0) for name in pages.keys() | said}
    return sorted(scores, key=lambda name: (-scores[name], name))


def _same_source(cases: Sequence[EvalCase]) -> Without:
    """Keeps the case that is asked and all of its source silent."""
    sources = {(case.question.kernel, case.question.text): case.labels.reference for case in cases}

    def silent(case: Published, asked: Asked) -> bool:
        return case.source == sources.get((asked.kernel, asked.text))

    return silent


def plain_query(question: Question) -> str:
    """What the plain baselines search for: family, text and metric names."""
    names = (name.replace("_", " ").replace(".", " ") for name in question.metrics)
    return " ".join((question.family or question.kernel, question.text, *names)).strip()


def _shared(cases: Sequence[EvalCase], store: Store) -> list[str]:
    """Cases that the wiki knows are no test of anything."""
    known = {case.id for case in store.cases()}
    shared = [case.id for case in cases if case.id in known]
    if not shared:
        return []
    return [f"{len(shared)} cases stand in gpu-wiki/cases too: {_some(shared)}"]


def of_split(cases: Sequence[EvalCase], split: str | None) -> list[EvalCase]:
    """The cases of one split; UsageError names those that there are."""
    if split is None:
        return list(cases)
    found = [case for case in cases if case.labels.split == split]
    if not found:
        there = sorted({case.labels.split for case in cases if case.labels.split})
        raise UsageError(
            f"no case is of split {split!r}",
            remedy=f"the file has {', '.join(there) or 'no splits'}",
        )
    return found

"""Published cases as questions: what was observed, without the sentences that tell the remedy.

They are a larger set than the evaluation cases, to be asked with the case itself and all cases of
its source kept silent. What is left of a short record may say little, and sentences with both
numbers of a success remain, so the figures compare recommenders and do not predict accuracy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from kbs_engine.evaluation.cases import EvalCase, Labels, Question
from kbs_engine.partial_words import family_of, language_of
from kbs_ingest.wiki.model import Case

SHORTEST: Final = 60
"""Characters that a question must keep."""

_SENTENCE: Final = re.compile(r"(?<=[.;:]) ")
_WORD: Final = re.compile(r"[a-z0-9]+")
_ENDINGS: Final = ("ization", "ations", "ation", "ings", "ing", "ies", "ed", "es", "s", "ly")
_STEM: Final = 3
_COMMON: Final = frozenset(
    _WORD.findall(
        "a an and at by cache data for from global gpu grid in into instead it kernel load memory "
        "more of on one per register shared store than the thread tile to tun two us with without "
        "access block warp as not or that"
    )
)
"""Words of method titles that tell no remedy."""


def published_questions(cases: Sequence[Case], titles: Mapping[str, str]) -> list[EvalCase]:
    """Questions of all cases that keep enough to be asked.

    Args:
        cases: the published cases of the wiki.
        titles: title of each method by id; other ids are no labels.
    """
    found = []
    for case in cases:
        raw = case.raw
        methods = tuple(name for name in raw.get("methods") or () if name in titles)
        text = _observed(str(raw.get("evidence") or ""), methods, titles)
        if methods and len(text) >= SHORTEST:
            found.append(_question(case, methods, text))
    return found


def _question(case: Case, methods: tuple[str, ...], text: str) -> EvalCase:
    raw = case.raw
    helped = raw.get("verdict", "helped") == "helped"
    kernel = str(raw.get("kernel") or "")
    reference: Any = raw.get("reference")
    source = reference.get("url") if isinstance(reference, dict) else ""
    return EvalCase(
        id=case.id,
        line=case.citation.line,
        question=Question(
            kernel=kernel,
            family=family_of(kernel),
            language=language_of(str(raw.get("language") or "")),
            gpu=str(raw.get("gpu") or "") or None,
            metrics=dict(raw.get("metrics") or {}),
            text=text,
        ),
        labels=Labels(
            worked=methods if helped else (),
            did_not_work=() if helped else methods,
            reference=str(source or case.id),
        ),
    )


def _observed(evidence: str, methods: Sequence[str], titles: Mapping[str, str]) -> str:
    """Sentences that share no telling word with the names of the methods."""
    telling: set[str] = set()
    for name in methods:
        telling |= _stems(f"{name.replace('_', ' ')} {titles[name]}")
    telling -= {_stem(word) for word in _COMMON}
    kept = [part for part in _SENTENCE.split(evidence) if not _stems(part) & telling]
    return " ".join(kept).strip()


def _stems(text: str) -> set[str]:
    return {_stem(word) for word in _WORD.findall(text.casefold()) if len(word) > 1}


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM:
            return word[: -len(ending)]
    return word

"""Advice from partial knowledge: a sentence, a few numbers, names of any profiler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from kbs_engine.errors import RefusedError, UsageError
from kbs_engine.facts import Chip
from kbs_engine.lens import Lens
from kbs_engine.partial_words import family_of
from kbs_engine.situation import Situation
from kbs_engine.understand import Known, understand

if TYPE_CHECKING:
    from kbs_engine.diagnose import Diagnosed
    from kbs_ingest.retrieval import Retrieval
    from kbs_ingest.store import Store

CASES_READ: Final = 3
"""Published cases whose symptoms and methods count."""

PAGES_READ: Final = 6
"""Method pages whose symptoms count."""

CASE_TRUST: Final = 0.8
"""Nearness of the method of the nearest case; somebody else's kernel is not this one."""

FLOOR: Final = 0.1
"""What a method far from the words keeps of its claim."""


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """Which parts of kbs may answer; an evaluation leaves some out."""

    rules: bool = True
    retrieval: bool = True
    experience: bool = True


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody says of a kernel."""

    text: str = ""
    metrics: dict[str, float | str] = {}
    kernel: str = ""
    situation: Situation = Situation()


class Advisor:
    """Turns what is asked into a diagnosis and the knowledge to rank methods with."""

    def __init__(self, store: Store) -> None:
        """Keep the index; the search model is loaded by the first text."""
        from kbs_ingest.retrieval import Retrieval

        self.store = store
        self.retrieval: Retrieval = Retrieval(store)
        self._rules = {rule.id for rule in store.rules()}
        self._methods = {method.id: method for method in store.methods()}

    def ask(self, asked: Asked, parts: Parts | None = None) -> tuple[Diagnosed, Lens]:
        """A diagnosis from partial knowledge, and the knowledge for this question."""
        from kbs_ingest.loose_metrics import understand_metrics

        parts = parts or Parts()
        situation = asked.situation
        self._check(situation.symptoms)
        chip, note = self._chip(situation.chip_name)
        read = understand_metrics(asked.metrics, self._maps(chip))
        family = situation.family or family_of(asked.kernel)
        text = "; ".join(part for part in (asked.text, read.words) if part)
        if not parts.rules:
            text = "; ".join((text, *(name.replace("_", " ") for name in read.metrics)))
        found: dict[str, float] = {}
        nearby: dict[str, float] = {}
        floor = 1.0
        if parts.retrieval and text.strip():
            query = f"{family or asked.kernel} {text}"
            cases = self.cases(text)
            nearby = self.methods(query, situation.language, cases)
            found = self.symptoms(text, nearby, cases)
            floor = FLOOR
        told: dict[str, Any] = {
            "metrics": read.metrics if parts.rules else {},
            "text": text if parts.retrieval else "",
            "found": found,
            "told": situation.symptoms,
            "limiter": situation.limiter,
            "family": family,
            "language": situation.language,
            "chip": chip,
            "work": situation.work,
            "notes": (*((note,) if note else ()), *read.notes),
        }
        lens = Lens(
            self.store,
            nearby=nearby,
            retrieval=parts.retrieval,
            experience=parts.experience,
            floor=floor,
        )
        return understand(msgspec.convert(told, Known), lens), lens

    def symptoms(
        self, text: str, nearby: Mapping[str, float], cases: Mapping[str, float]
    ) -> dict[str, float]:
        """Symptoms for words (0-1): from rules, from published cases, and from method pages."""
        scores = dict(self.retrieval.scored(text, "symptom"))
        for method in nearest(nearby, PAGES_READ):
            record = self._methods[method]
            for name, weight in record.addresses.items():
                scores[name] = max(scores.get(name, 0.0), nearby[method] * weight)
        for case, near in cases.items():
            for name in self.retrieval.case_ids(case) & self._rules:
                scores[name] = max(scores.get(name, 0.0), near)
        return {name: value for name, value in scores.items() if name in self._rules}

    def methods(
        self, text: str, language: str | None, cases: Mapping[str, float]
    ) -> dict[str, float]:
        """Nearness (0-1) of methods to words, from their pages and from published cases."""
        scores = self.retrieval.scored(text, "method", language)
        near = {name: value for name, value in scores.items() if name in self._methods}
        for case, value in cases.items():
            for name in self.retrieval.case_ids(case) & self._methods.keys():
                near[name] = max(near.get(name, 0.0), value)
        return near

    def cases(self, text: str) -> dict[str, float]:
        """The nearest published cases, with what they count."""
        scores = self.retrieval.scored(text, "case")
        return {name: scores[name] * CASE_TRUST for name in nearest(scores, CASES_READ)}

    def _check(self, symptoms: Sequence[str]) -> None:
        for name in symptoms:
            if name not in self._rules:
                raise UsageError(
                    f"no symptom is called {name!r}",
                    remedy="`kbs query WORDS --kind symptom` finds its id",
                )

    def _maps(self, chip: Chip | None) -> list[Any]:
        vendors = ["nvidia", "amd"]
        if chip is not None and chip.vendor == "amd":
            vendors.reverse()
        return [self.store.metric_map(vendor) for vendor in vendors]

    def _chip(self, name: str | None) -> tuple[Chip | None, str]:
        """The chip; where the name fits several of one architecture, only that is known."""
        if not name:
            return None, ""
        try:
            return self.store.chip(name), ""
        except RefusedError:
            fits = self._fitting(name)
        archs = {chip.arch for chip in fits}
        if len(archs) != 1:
            return None, f"{name!r} names no GPU of the wiki: architecture unknown"
        first = fits[0]
        bare = msgspec.structs.replace(first, id=name, name=name, aliases=(), specs=())
        several = ", ".join(chip.id for chip in fits)
        return bare, f"{name!r} may be {several}: only the architecture {first.arch} is taken"

    def _fitting(self, name: str) -> list[Chip]:
        from kbs_ingest.wiki.names import normalise

        key = normalise(name)
        return [
            chip
            for chip in self.store.chips()
            if any(
                other.startswith(key) or key.startswith(other)
                for other in map(normalise, (chip.id, chip.name, *chip.aliases))
                if len(other) > len("sm")
            )
        ]


def nearest(scores: Mapping[str, float], count: int) -> list[str]:
    """The best names, ties by name."""
    return sorted(scores, key=lambda name: (-scores[name], name))[:count]


def pairs(texts: Sequence[str]) -> dict[str, float | str]:
    """``NAME=VALUE`` options as a mapping; UsageError names the bad one."""
    found: dict[str, float | str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise UsageError(
                f"--metric {text} is no NAME=VALUE", remedy="write it as --metric dram_pct=85"
            )
        found[name.strip()] = value.strip()
    return found

"""Advice from partial knowledge: a sentence, a few numbers, names of any profiler."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from kbs_engine.errors import RefusedError, UsageError
from kbs_engine.facts import Chip
from kbs_engine.hints import Hint, Published, Vote, nearness, votes
from kbs_engine.lens import Lens
from kbs_engine.partial_words import family_of
from kbs_engine.single_numbers import clues_from_numbers
from kbs_engine.situation import Situation
from kbs_engine.symptom_words import read_cues
from kbs_engine.understand import NEAR_ROOF, Known, understand

if TYPE_CHECKING:
    from kbs_engine.diagnose import Diagnosed
    from kbs_ingest.retrieval import Retrieval
    from kbs_ingest.store import Store

SAYINGS: Final = "_words"
"""Ending of the kinds of text that hold what people say."""

CLUES_SEARCHED: Final = 2
"""Symptoms of single numbers whose titles join the search."""


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


Without = Callable[[Published, Asked], bool]


class Ready(NamedTuple):
    """What `recommend` needs: the diagnosis, the knowledge, and what search says of methods."""

    item: Diagnosed
    knowledge: Lens
    hints: dict[str, Hint]


class Advisor:
    """Turns what is asked into a diagnosis and the knowledge to rank methods with."""

    def __init__(self, store: Store, *, without: Without | None = None) -> None:
        """Keep the index; the search model is loaded by the first text.

        Args:
            store: the index.
            without: says of a published case and a question whether the case must keep silent;
                an evaluation leaves out what it asks.
        """
        from kbs_ingest.retrieval import Retrieval

        self.store = store
        self.retrieval: Retrieval = Retrieval(store)
        self._silent = without
        self._titles = {rule.id: rule.title for rule in store.rules()}
        self._rules = set(self._titles)
        self._methods = {method.id for method in store.methods()}

    def ask(self, asked: Asked, parts: Parts | None = None) -> Ready:
        """A diagnosis from partial knowledge, and the knowledge for this question."""
        from kbs_ingest.loose_metrics import understand_metrics

        parts = parts or Parts()
        situation = asked.situation
        self._check(situation.symptoms)
        chip, note = self._chip(situation.chip_name)
        read = understand_metrics(asked.metrics, self._maps(chip))
        family = situation.family or family_of(asked.kernel)
        text = "; ".join(part for part in (asked.text, read.words) if part)
        numbers = " ".join(name.replace("_", " ") for name in read.metrics)
        meant = self._meant(read.metrics, family)
        query = f"{family or asked.kernel} {text} {numbers} {meant}".strip()
        searched = parts.retrieval and bool(text.strip())
        told: dict[str, Any] = {
            "metrics": read.metrics if parts.rules else {},
            "text": text if parts.retrieval else "",
            "found": self.symptoms(text if parts.rules else query) if searched else {},
            "told": situation.symptoms,
            "limiter": situation.limiter,
            "family": family,
            "language": situation.language,
            "chip": chip,
            "work": situation.work,
            "notes": (*((note,) if note else ()), *read.notes),
        }
        known = msgspec.convert(told, Known)
        lens = Lens(self.store, retrieval=parts.retrieval, experience=parts.experience)
        return Ready(understand(known, lens), lens, self.hints(known, query, asked, parts))

    def _meant(self, metrics: Mapping[str, float], family: str | None) -> str:
        """The titles of what the numbers suggest most, so that search hears of it too."""
        clues = clues_from_numbers(metrics, family)[:CLUES_SEARCHED]
        return " ".join(
            self._titles[clue.symptom] for clue in clues if clue.symptom in self._titles
        )

    def hints(self, known: Known, query: str, asked: Asked, parts: Parts) -> dict[str, Hint]:
        """What pages, sayings and published cases say of each method; empty without words."""
        search = self.retrieval
        scale = NEAR_ROOF if parts.retrieval and read_cues(known.text).at_roof else 1.0
        ways: list[Mapping[str, float]] = [{}, {}, {}]
        if parts.retrieval and known.text.strip():
            ways = [
                search.near_words(query, "method"),
                search.near_words(query, f"method{SAYINGS}"),
                search.near_meaning(query, f"method{SAYINGS}"),
            ]
        voted = self._votes(known, query, asked) if parts.experience and asked.text else {}
        names = self._methods & set(voted).union(*ways)
        pages, sayings, meaning = ways
        silent = Vote(0.0, ())
        return {
            name: Hint(
                pages=pages.get(name, 0.0),
                sayings=sayings.get(name, 0.0),
                saying_meaning=meaning.get(name, 0.0),
                cases=voted.get(name, silent).value,
                read=voted.get(name, silent).read,
                scale=scale,
            )
            for name in sorted(names)
        }

    def symptoms(self, text: str) -> dict[str, float]:
        """Symptoms for words (0-1), by their rules and by what people say of them."""
        rules = self.retrieval.near_words(text, "symptom")
        said = self.retrieval.near_words(text, f"symptom{SAYINGS}")
        meant = self.retrieval.near_meaning(text, f"symptom{SAYINGS}")
        names = self._rules & (rules.keys() | said.keys() | meant.keys())
        return {
            name: max(rules.get(name, 0.0), said.get(name, 0.0) + meant.get(name, 0.0)) / 2
            for name in names
        }

    def _votes(self, known: Known, query: str, asked: Asked) -> dict[str, Vote]:
        """What the nearest published cases say of methods."""
        words = self.retrieval.near_words(query, "case")
        meaning = self.retrieval.near_meaning(query, "case")
        cases = [
            case
            for case in self.retrieval.published()
            if self._silent is None or not self._silent(case, asked)
        ]
        near = {
            case.id: nearness(
                case,
                (words.get(case.id, 0.0) + meaning.get(case.id, 0.0)) / 2,
                known.family,
                known.language,
            )
            for case in cases
        }
        return votes(cases, near)

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


def _endless(value: str) -> bool:
    """Whether a value begins with ``nan``, ``inf`` or a number that is too large for any float."""
    try:
        return not math.isfinite(float(value.split(maxsplit=1)[0].rstrip("%")))
    except ValueError:
        return False


def pairs(texts: Sequence[str]) -> dict[str, float | str]:
    """``NAME=VALUE`` options as a mapping; UsageError names the bad one."""
    found: dict[str, float | str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise UsageError(
                f"--metric {text} is no NAME=VALUE", remedy="write it as --metric dram_pct=85"
            )
        if _endless(value):
            raise UsageError(
                f"--metric {text} is not a finite number",
                remedy="leave out what was not measured",
            )
        found[name.strip()] = value.strip()
    return found

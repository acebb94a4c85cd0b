"""The index as readers see it: ``kbs_engine.ports.Knowledge`` and search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import duckdb
import msgspec

from kbs_engine.chance import Context, Tallies
from kbs_engine.errors import StoreError
from kbs_engine.facts import Chip
from kbs_engine.loop.seeding import Place
from kbs_engine.methods import Method
from kbs_engine.metrics import MetricMap
from kbs_engine.outcomes import Outcome
from kbs_engine.ports import Rows
from kbs_engine.symptoms import RuleResult, SymptomRule
from kbs_ingest.experience.lore import Lore
from kbs_ingest.rules.evaluate import Condition, RuleSet
from kbs_ingest.store import layout, lookup, searching
from kbs_ingest.store.evidence import Experience
from kbs_ingest.store.experience import BadLine, StoredOutcome
from kbs_ingest.store.layout import Home, Manifest
from kbs_ingest.store.lease import Lease
from kbs_ingest.store.searching import SearchResult
from kbs_ingest.wiki.model import Case, Chunk, Feature, SignatureFile

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T")

TUNED_ROWS: Final = 64
"""Many more assignments than a search is seeded with."""


def open_store(home: Path) -> Store:
    """Open the generation in use, read-only; StoreError says how to build one."""
    place = Home(home)
    folder, manifest, lease = layout.open_current(place)
    return Store(place, folder, manifest, lease)


class Store:
    """One generation of the index. What is asked for is read on first use and kept."""

    def __init__(self, home: Home, folder: Path, manifest: Manifest, lease: Lease) -> None:
        """Use ``open_store``."""
        self.home = home
        self.folder = folder
        self.manifest = manifest
        self._lease = lease
        self._chips_by_name: dict[str, Chip] = {}
        path = folder / "kbs.duckdb"
        try:
            self.connection = duckdb.connect(str(path), read_only=True, config={"threads": "1"})
        except duckdb.Error as error:
            raise StoreError(
                f"the index is damaged: {str(error).splitlines()[0]}",
                where=str(path),
                remedy=f"run {layout.ingest_command(home.path, rebuild=True)}",
            ) from error

    def close(self) -> None:
        """Let go of the generation."""
        self.connection.close()
        self._lease.release()

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def chip(self, name: str) -> Chip:
        """The chip of this id or alias; RefusedError for unknown and ambiguous names."""
        found = self._chips_by_name.get(name)
        if found is None:  # a report of a thousand launches asks a thousand times
            found = self._chips_by_name[name] = lookup.chip(self.connection, name)
        return found

    def chips(self) -> Sequence[Chip]:
        """All chips, by id."""
        return self._records("chips", "id", list[Chip])

    def rules(self) -> Sequence[SymptomRule]:
        """All symptom rules, by id."""
        return self._rules

    def methods(self) -> Sequence[Method]:
        """All methods, by id."""
        return self._methods

    def groups(self) -> Sequence[frozenset[str]]:
        """Near-equivalent methods."""
        found: dict[int, set[str]] = {}
        for number, method in self._rows("SELECT number, method FROM groups ORDER BY ALL"):
            found.setdefault(number, set()).add(method)
        return [frozenset(group) for _, group in sorted(found.items())]

    def features(self, arch: str) -> frozenset[str] | None:
        """Features of an architecture; None when no feature lists it."""
        rows = self._rows("SELECT id FROM features WHERE list_contains(archs, ?)", arch)
        return frozenset(name for (name,) in rows) or None

    def feature_list(self) -> Mapping[str, Feature]:
        """All features with their meaning and source."""
        names = [name for (name,) in self._rows("SELECT id FROM features ORDER BY id")]
        return dict(zip(names, self._records("features", "id", list[Feature]), strict=True))

    def evaluate(self, rows: Sequence[Rows]) -> Sequence[Sequence[RuleResult]]:
        """All symptom rules on each of the rows, in the order of ``rules()``."""
        return self._rule_set.evaluate(rows)

    def avoid(self, rows: Sequence[Rows]) -> Sequence[frozenset[str]]:
        """Ids of the anti-strategies that hold on each of the rows."""
        return self._avoid_set.holds(rows)

    def similarity(self, symptoms: Sequence[str], methods: Sequence[str]) -> Mapping[str, float]:
        """The largest stored similarity (0–1) of each method to any of these symptoms."""
        rows = self._rows(
            "SELECT method, max(score) FROM similarities WHERE list_contains(?, symptom) "
            "AND list_contains(?, method) GROUP BY method",
            list(symptoms),
            list(methods),
        )
        found = {method: float(score) for method, score in rows}
        return {method: found.get(method, 0.0) for method in methods}

    def similar_pages(self, symptom: str, limit: int = 5) -> Sequence[tuple[str, float]]:
        """Pages outside methods that come nearest to a symptom: chunk id and score."""
        return self._rows(
            "SELECT chunk, score FROM page_similarities WHERE symptom = ? "
            "ORDER BY score DESC, chunk LIMIT ?",
            symptom,
            limit,
        )

    def chunk(self, id_: str) -> Chunk | None:
        """The piece of text of this id, as search and ``similar_pages`` name it."""
        return lookup.chunk(self.connection, id_)

    def outcomes(self, method: str | None = None) -> Sequence[Outcome]:
        """Past outcomes that count, of one method or of all; newer segments included.

        Masked and quarantined records and what a host timed are left out; a replication adds
        an outcome for each method that it speaks of.
        """
        return [item.outcome for item in self.stored_outcomes(method)]

    def stored_outcomes(self, method: str | None = None) -> Sequence[StoredOutcome]:
        """The same with their ids and segments."""
        return self._experience.all(method)

    def evidence(self, context: Context, as_of: date) -> Mapping[str, Tallies]:
        """The same, weighed for ``context`` and summed by method and machine."""
        return self._experience.evidence(context, as_of)

    def tried_on(self, source_hash: str) -> Sequence[Outcome]:
        """The same, only those of this very source."""
        return self._experience.tried_on(source_hash)

    def nearest_successes(self, method: str, place: Context, limit: int) -> Sequence[StoredOutcome]:
        """Outcomes in which a method helped, those nearest to ``place`` first."""
        return self._experience.nearest_successes(method, place, limit)

    def tuned_successes(self, place: Place, limit: int = TUNED_ROWS) -> Sequence[Outcome]:
        """What ``seeds_for`` needs of all outcomes, however many there are.

        Of the indexed ones the nearest of each assignment that helped the family in the
        language, at most ``limit``; of what is newer than the index everything.
        """
        return self._experience.tuned_successes(place, limit)

    def holds_outcome(self, prefix: str) -> bool:
        """Whether an outcome that counts has an id that begins with ``prefix``."""
        return self._experience.holds(prefix)

    def lore(self) -> Lore:
        """Chips and methods of the wiki under all their names, as records are read with."""
        return Lore(self.chips(), self.methods(), lookup.shared_names(self.connection))

    def bad_lines(self) -> Sequence[BadLine]:
        """Lines of indexed segments that are no outcomes."""
        rows = self._rows("SELECT file, line, reason FROM bad_lines ORDER BY ALL")
        return [BadLine(file=file, line=line, reason=reason) for file, line, reason in rows]

    def nearest_outcomes(
        self, metrics: Mapping[str, float], limit: int = 10
    ) -> Sequence[tuple[Outcome, float]]:
        """Indexed outcomes whose profile before was most alike, with the distance."""
        found = lookup.nearest(self.connection, metrics, limit)
        near = ((self._experience.read([place]), distance) for place, distance in found)
        return [
            (items[0].outcome, distance)
            for items, distance in near
            if items and not self._experience.hides(items[0])
        ]

    def metric_map(self, vendor: str) -> MetricMap:
        """Canonical metrics of a vendor; StoreError when the wiki has none."""
        rows = self._rows("SELECT record FROM metrics WHERE vendor = ?", vendor)
        if not rows:
            raise StoreError(
                f"the wiki has no metric map for {vendor}",
                where=str(self.folder),
                remedy=f"add metrics/{vendor}.yaml and run {layout.ingest_command(self.home.path)}",
            )
        return msgspec.json.decode(rows[0][0], type=MetricMap)

    def signatures(self) -> Mapping[str, SignatureFile]:
        """Signatures by method."""
        found = self._records("signatures", "method", list[SignatureFile])
        return {item.signature.method: item for item in found}

    def cases(self) -> Sequence[Case]:
        """Published cases, by id."""
        rows = self._rows("SELECT id, title, path, line, record FROM cases ORDER BY id")
        return [lookup.case(*row) for row in rows]

    def search(
        self,
        text: str,
        *,
        kinds: Sequence[str] = (),
        arch: str | None = None,
        language: str | None = None,
        axis: str | None = None,
        limit: int = 10,
    ) -> SearchResult:
        """Pieces of text that answer best, with the place where each stands."""
        wanted = searching.Filter(
            kinds=searching.kind_names(kinds), arch=arch, language=language, axis=axis
        )
        return self._searcher.search(text, wanted, limit)

    def kinds(self) -> tuple[str, ...]:
        """Every kind of text that search can be told."""
        rows = self._rows("SELECT DISTINCT kind FROM chunks")
        return tuple(sorted({kind for (kind,) in rows} | searching.INCLUDED.keys()))

    def archs(self) -> tuple[str, ...]:
        """Architectures of chips, and those that texts name."""
        rows = self._rows('SELECT record FROM chunks WHERE contains(record, \'"archs":["\')')
        named = {arch for (text,) in rows for arch in msgspec.json.decode(text, type=Chunk).archs}
        return tuple(sorted(named | {chip.arch for chip in self.chips()}))

    def resolve(self, path: str) -> Path | None:
        """The file behind a citation path; None when no root has it."""
        return lookup.resolve(self.manifest.roots, self.manifest.files, path)

    def stats(self) -> dict[str, int | str]:
        """What the index holds and what it was built from."""
        return {
            **self.manifest.counts,
            "generation": self.manifest.generation,
            "built": self.manifest.built,
            "embedding_model": self.manifest.model,
            "schema_version": self.manifest.schema_version,
        }

    @cached_property
    def _rules(self) -> list[SymptomRule]:
        return self._records("rules", "id", list[SymptomRule])

    @cached_property
    def _methods(self) -> list[Method]:
        return self._records("methods", "id", list[Method])

    @cached_property
    def _rule_set(self) -> RuleSet:
        return RuleSet([Condition.of_rule(rule) for rule in self._rules])

    @cached_property
    def _avoid_set(self) -> RuleSet:
        return RuleSet(
            [Condition.of_avoid(item) for method in self._methods for item in method.avoid_when]
        )

    @cached_property
    def _experience(self) -> Experience:
        return Experience(self.connection, self.home.experience, self.manifest.segments, self.lore)

    @cached_property
    def _searcher(self) -> searching.Searcher:
        return searching.Searcher(self.connection, self.folder / "lance", self.manifest)

    def _rows(self, query: str, *parameters: object) -> list[Any]:
        return self.connection.execute(query, list(parameters)).fetchall()

    def _records(self, table: str, key: str, kind: type[list[T]]) -> list[T]:
        rows = self._rows(f"SELECT record FROM {table} ORDER BY {key}")  # noqa: S608 - own names
        return msgspec.json.decode(f"[{','.join(row[0] for row in rows)}]", type=kind)

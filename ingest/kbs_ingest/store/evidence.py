"""Questions to the experience of an index and of the segments that are newer than it."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import cached_property, partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO, Final

import duckdb

from kbs_engine.chance import (
    Context,
    Tallies,
    Tally,
    distance_weight,
    tally,
)
from kbs_engine.errors import StoreError
from kbs_engine.loop.seeding import Place
from kbs_engine.outcomes import Outcome
from kbs_ingest.experience.lines import read_record
from kbs_ingest.experience.lore import Lore
from kbs_ingest.experience.places import list_segments
from kbs_ingest.experience.view import (
    Mark,
    Scan,
    Seen,
    hidden_by,
    plain_outcome,
    targets_of,
    votes_of,
)
from kbs_ingest.readers.text import as_utf8, is_wide
from kbs_ingest.store.evidence_sql import COUNTS, HELD, NEAREST, TALLIES, TUNED, tally_of
from kbs_ingest.store.experience import StoredOutcome, read_marks
from kbs_ingest.store.judging import Judged, counting_rows, judge

_HEAD: Final = 512
"""Bytes that tell the encoding of a file."""


class Experience:
    """Past outcomes of one generation and of the live segments; what is hidden is left out."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        folder: Path,
        indexed: Mapping[str, int],
        lore: Any,
    ) -> None:
        """Keep what is needed; nothing is read yet.

        Args:
            connection: the generation's DuckDB file.
            folder: ``experience`` of the home.
            indexed: segments that the generation holds, with their sizes.
            lore: makes the names and bounds of the wiki, when something must be read.
        """
        self._connection = connection
        self._folder = folder
        self._indexed = indexed
        self._make_lore = lore

    def evidence(self, context: Context, as_of: date) -> dict[str, Tallies]:
        """Outcomes weighed for ``context``, by method and machine."""
        rows = self._rows(
            TALLIES,
            {
                "arch": context.arch,
                "family": context.family,
                "language": context.language,
                "limiter": context.limiter,
                "as_of": as_of,
            },
        )
        found: dict[str, dict[str, Tally]] = {}
        for method, machine, *parts in rows:
            found.setdefault(method, {})[machine] = tally_of(parts)
        newer: dict[str, list[Outcome]] = {}
        for item in (*self._live, *self._votes):
            newer.setdefault(item.outcome.method, []).append(item.outcome)
        for method, outcomes in newer.items():
            mine = found.setdefault(method, {})
            for machine, one in tally(outcomes, context, as_of=as_of).items():
                mine[machine] = mine.get(machine, Tally()) + one
        return dict(found)

    def all(self, method: str | None = None) -> list[StoredOutcome]:
        """Every outcome that counts, by id; votes of replications included."""
        kept = self._read(COUNTS, {})
        items = [*kept, *self._live, *self._votes]
        return sorted(
            (item for item in items if method in (None, item.outcome.method)),
            key=lambda item: item.id,
        )

    def tried_on(self, source_hash: str) -> list[Outcome]:
        """Outcomes of one source."""
        kept = self._read(f"source_hash = $source AND {COUNTS}", {"source": source_hash})
        live = [item for item in self._live if item.outcome.source_hash == source_hash]
        return [item.outcome for item in (*kept, *live)]

    def nearest_successes(self, method: str, place: Context, limit: int) -> list[StoredOutcome]:
        """Outcomes in which a method helped, those nearest to ``place`` first, by gain then id."""
        rows = self._rows(
            NEAREST,
            {
                "method": method,
                "arch": place.arch,
                "family": place.family,
                "language": place.language,
                "limiter": place.limiter,
                "limit": limit,
            },
        )
        live = [i for i in self._live if i.outcome.method == method and i.outcome.helped]
        return sorted(
            [*self.read(rows), *live],
            key=lambda item: (
                -distance_weight(item.outcome, place),
                -(item.outcome.gain or 0.0),
                item.id,
            ),
        )[:limit]

    def tuned_successes(self, place: Place, limit: int) -> list[Outcome]:
        """Outcomes with tunables that helped the family in the language; see ``Store``."""
        rows = self._rows(
            TUNED,
            {
                "family": place.family,
                "language": place.language,
                "arch": place.arch,
                "dims_class": place.dims_class,
                "dtype": place.dtype,
                "limiter": place.limiter,
                "limit": limit,
            },
        )
        return [item.outcome for item in (*self.read(rows), *self._live, *self._votes)]

    def holds(self, prefix: str) -> bool:
        """Whether an outcome that counts has an id that begins so."""
        if any(item.id.startswith(prefix) for item in (*self._live, *self._votes)):
            return True
        return bool(self._rows(HELD, {"prefix": prefix}))

    def by_id(self, ids: Iterable[str]) -> dict[str, Outcome]:
        """Indexed and live outcomes of these ids that no mask hides."""
        wanted = set(ids) - self._gone
        if not wanted:
            return {}
        kept = self._read(
            f"{COUNTS} AND id IN (SELECT unnest($wanted::VARCHAR[]))",
            {"wanted": sorted(wanted)},
        )
        live = [item for item in self._live if item.id in wanted]
        return {item.id: item.outcome for item in (*kept, *live)}

    def read(self, places: Sequence[tuple[str, int, int, int]]) -> list[StoredOutcome]:
        """Outcomes at places of segments: name, line, start and length of each."""
        found = []
        for segment, group in groupby(places, key=itemgetter(0)):
            try:
                with (self._folder / segment).open("rb") as file:
                    lines = _in_utf8(file)
                    found += [self._at(lines, place) for place in group]
            except OSError as problem:  # noqa: PERF203 - one file each
                raise StoreError(
                    f"a segment cannot be read: {problem.strerror or problem}",
                    where=str(self._folder / segment),
                    remedy="restore the file, or run kbs ingest",
                ) from problem
        return [item for item in found if item is not None]

    def hides(self, item: StoredOutcome) -> bool:
        """Whether an indexed outcome is masked, or taken out by the baselines of others."""
        return item.id in self._gone

    def _at(self, file: BinaryIO, place: tuple[str, int, int, int]) -> StoredOutcome | None:
        """The outcome at one place; None when it was edited there since the ingest."""
        segment, line, start, length = place
        file.seek(start)
        try:
            entry = read_record(file.read(length))
        except ValueError:
            return None
        outcome = self._lore.resolve(plain_outcome(entry))
        return StoredOutcome(id=entry.id, segment=segment, line=line, outcome=outcome)

    def _read(self, where: str, parameters: Mapping[str, Any]) -> list[StoredOutcome]:
        rows = self._rows(
            f"SELECT segment, line, start, length FROM outcomes WHERE {where} "  # noqa: S608
            "ORDER BY segment, start",
            parameters,
        )
        return self.read(rows)

    def _rows(self, query: str, parameters: Mapping[str, Any]) -> list[Any]:
        out = self._stale, self._gone
        return counting_rows(self._connection, query, parameters, *out)

    @cached_property
    def _lore(self) -> Lore:
        lore: Lore = self._make_lore()
        return lore

    @cached_property
    def _newer(self) -> dict[str, int]:
        """Segments that the index lacks or has in another size."""
        sizes = {name: path.stat().st_size for name, path in list_segments(self._folder).items()}
        return {name: size for name, size in sizes.items() if self._indexed.get(name) != size}

    @cached_property
    def _stale(self) -> list[str]:
        """Indexed segments that changed or are gone."""
        present = list_segments(self._folder)
        return sorted(name for name in self._indexed if name in self._newer or name not in present)

    @cached_property
    def _scan(self) -> tuple[list[Seen], dict[str, Mark]]:
        """What the newer segments hold."""
        if not self._newer:
            return [], {}
        scan = Scan(self._folder, self._lore, sizes=self._newer)
        return [seen for seen in scan.outcomes() if not seen.doubt], scan.marks

    @cached_property
    def _marks(self) -> dict[str, Mark]:
        stale = set(self._stale)
        held = read_marks(self._connection)
        kept = {id_: mark for id_, mark in held.items() if mark.segment not in stale}
        return {**kept, **self._scan[1]}

    @cached_property
    def _masked(self) -> frozenset[str]:
        return hidden_by(self._marks)

    @cached_property
    def _unmasked(self) -> list[Seen]:
        """Outcomes of the newer segments that are believed by themselves."""
        return [item for item in self._scan[0] if item.id not in self._masked]

    @cached_property
    def _judged(self) -> Judged:
        rows = partial(counting_rows, self._connection, stale=self._stale, gone=self._masked)
        return judge(rows, (item.outcome for item in self._unmasked))

    @cached_property
    def _gone(self) -> frozenset[str]:
        """What masks hide and library baselines take out, of the index."""
        return self._masked | self._judged.ids

    @cached_property
    def _live(self) -> list[StoredOutcome]:
        libraries = self._judged.libraries
        seen = [
            item
            for item in self._unmasked
            if not (libraries and self._lore.doubt(item.outcome, libraries))
        ]
        known = self._known([item.id for item in seen])
        return [
            StoredOutcome(
                id=item.id, segment=item.segment, line=item.found.number, outcome=item.outcome
            )
            for item in seen
            if item.id not in known
        ]

    def _known(self, ids: Sequence[str]) -> set[str]:
        if not ids:
            return set()
        rows = self._connection.execute(
            "SELECT id FROM outcomes WHERE id IN (SELECT unnest($ids::VARCHAR[])) "
            "AND NOT list_contains($stale, segment)",
            {"ids": list(ids), "stale": self._stale},
        ).fetchall()
        return {id_ for (id_,) in rows}

    @cached_property
    def _votes(self) -> list[StoredOutcome]:
        outcomes = self.by_id(targets_of(self._marks))
        return [
            StoredOutcome(id=vote, segment=mark.segment, line=mark.line, outcome=outcome)
            for vote, (mark, outcome) in votes_of(self._marks, outcomes, self._gone).items()
        ]


def _in_utf8(file: BinaryIO) -> BinaryIO:
    """The file, or what it holds in UTF-8 where that is UTF-16: places are of that."""
    if not is_wide(file.read(_HEAD)):
        return file
    file.seek(0)
    return io.BytesIO(as_utf8(file.read()))

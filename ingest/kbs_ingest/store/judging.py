"""Outcomes of the index that the library baselines of others take out, asked when it is read.

Masks and newer segments change what counts, and with it which baselines judge: so nothing of
this is written into the index, and the answer is the same before and after an ingest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import duckdb

from kbs_engine.experience.libraries import Libraries
from kbs_engine.experience.quarantine import LIBRARY_FACTOR
from kbs_engine.outcomes import Outcome
from kbs_ingest.experience.lore import Task, task_of
from kbs_ingest.experience.view import tell
from kbs_ingest.store.evidence_sql import COUNTS, DOUBTED, TOLD

Rows = Callable[[str, Mapping[str, Any]], list[Any]]
_BETWEEN: Final = "|"


class Judged(NamedTuple):
    """Which baselines judge, and the ids of the indexed outcomes that they take out."""

    libraries: dict[Task, float]
    ids: frozenset[str]


def task_text(outcome: Outcome) -> str:
    """The task as the index holds it; empty where an outcome says nothing of one."""
    return _BETWEEN.join(task_of(outcome)) if outcome.dims else ""


def judge(rows: Rows, live: Iterable[Outcome] = ()) -> Judged:
    """Judge the outcomes of the index together with ``live`` ones, all of which count.

    Args:
        rows: answers a query about what counts in the index, masked outcomes left out.
        live: outcomes of newer segments.
    """
    libraries: Libraries[Task] = Libraries()
    tasks = set()
    for outcome in live:
        tell(libraries, outcome)
        tasks.add(task_text(outcome))
    told = rows(TOLD, {"factor": LIBRARY_FACTOR, "live": sorted(tasks - {""})})
    for text, machine, library, reached in told:
        libraries.add(_task(text), machine, library, reached)
    judging = libraries.judging()
    if not judging:
        return Judged({}, frozenset())
    given = {
        "factor": LIBRARY_FACTOR,
        "tasks": [_BETWEEN.join(task) for task in judging],
        "ns": list(judging.values()),
    }
    return Judged(judging, frozenset(id_ for (id_,) in rows(DOUBTED, given)))


def _task(text: str) -> Task:
    kernel, chip, dtype, dims = text.split(_BETWEEN, 3)
    return kernel, chip, dtype, dims


def counting_rows(
    connection: duckdb.DuckDBPyConnection,
    query: str,
    parameters: Mapping[str, Any],
    stale: Sequence[str] = (),
    gone: Iterable[str] = (),
) -> list[Any]:
    """Rows of a query, what is of ``stale`` segments or among the ids ``gone`` left out."""
    given = dict(parameters)
    out = COUNTS
    if stale:  # a million rows are compared with a list only where there is one
        out += " AND NOT list_contains($stale, segment)"
        given["stale"] = list(stale)
    hidden = sorted(gone)
    if hidden:
        out += " AND id NOT IN (SELECT unnest($gone::VARCHAR[]))"
        given["gone"] = hidden
    return connection.execute(query.replace(COUNTS, out), given).fetchall()

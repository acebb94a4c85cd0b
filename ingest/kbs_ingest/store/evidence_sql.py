"""The queries behind ``evidence``: weights of ``kbs_engine.chance`` over columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from kbs_engine.chance import (
    ANYWHERE,
    HALF_LIFE_DAYS,
    NEAR,
    SAME_ARCH,
    UNDATED,
    UNDECIDED,
    UNVERIFIED,
    Tally,
)

COUNTS: Final = "doubt = '' /* counts */"
"""What counts in the index; ``_rows`` adds what newer segments took out since."""

WEIGHTS: Final = f"""
    SELECT method, machine, verdict, gain,
        CASE WHEN arch = $arch AND kernel = $family AND language = $language
                  AND limiter = $limiter THEN {NEAR}
             WHEN arch = $arch THEN {SAME_ARCH} ELSE {ANYWHERE} END
        * CASE WHEN day IS NULL THEN {UNDATED}
               ELSE pow(0.5, greatest(0, date_diff('day', day, $as_of::DATE)) / {HALF_LIFE_DAYS})
          END
        * CASE WHEN verified THEN 1.0 ELSE {UNVERIFIED} END AS w
    FROM outcomes WHERE {COUNTS}
"""  # noqa: S608 - own numbers
NEAREST: Final = f"""
    SELECT segment, line, start, length FROM outcomes
    WHERE method = $method AND verdict = 'effective' AND {COUNTS}
    ORDER BY CASE WHEN arch = $arch AND kernel = $family AND language = $language
                  AND limiter = $limiter THEN {NEAR}
             WHEN arch = $arch THEN {SAME_ARCH} ELSE {ANYWHERE} END DESC,
        gain DESC NULLS LAST, id LIMIT $limit
"""  # noqa: S608 - own numbers
_NEARER: Final = (
    "arch <> $arch, dims_class <> $dims_class, dtype IS DISTINCT FROM $dtype, limiter <> $limiter, "
    "coalesce(gain, 0) DESC, method, id"
)
"""The order of ``kbs_engine.loop.seeding``."""

TUNED: Final = f"""
    SELECT segment, line, start, length FROM outcomes
    WHERE tunables <> '' AND verdict = 'effective' AND kernel = $family AND language = $language
        AND {COUNTS}
    QUALIFY row_number() OVER (PARTITION BY tunables ORDER BY {_NEARER}) = 1
    ORDER BY {_NEARER} LIMIT $limit
"""  # noqa: S608 - own names
TOLD: Final = f"""
    SELECT task, machine, min(library_ns), min(reached_ns) FROM outcomes
    WHERE {COUNTS} AND task IN (
        SELECT task FROM outcomes WHERE {COUNTS} AND task <> ''
        GROUP BY task HAVING min(library_ns) / min(reached_ns) > $factor
        UNION SELECT unnest($live::VARCHAR[]))
    GROUP BY task, machine
"""  # noqa: S608 - own names
"""What machines say of the tasks in which a baseline may stand against a time."""

DOUBTED: Final = f"""
    SELECT id FROM outcomes
    JOIN (SELECT unnest($tasks::VARCHAR[]) AS task, unnest($ns::DOUBLE[]) AS ns) USING (task)
    WHERE {COUNTS} AND library_ns IS NULL AND ns / after_ns > $factor
"""  # noqa: S608 - own names
HELD: Final = f"SELECT 1 FROM outcomes WHERE starts_with(id, $prefix) AND {COUNTS} LIMIT 1"  # noqa: S608
TALLIES: Final = f"""
    SELECT method, machine, count(*), count(*) FILTER (verdict = 'effective'),
        sum(w), max(w),
        coalesce(sum(w) FILTER (verdict = 'effective'), 0),
        coalesce(sum(w) FILTER (verdict NOT IN ('effective', '{UNDECIDED}')), 0),
        coalesce(sum(w * gain) FILTER (verdict = 'effective' AND gain IS NOT NULL), 0),
        coalesce(sum(w) FILTER (verdict = 'effective' AND gain IS NOT NULL), 0)
    FROM ({WEIGHTS}) GROUP BY method, machine
"""  # noqa: S608 - own numbers


def tally_of(parts: Sequence[Any]) -> Tally:
    """A row of ``TALLIES`` behind its method and machine."""
    rows, helped_rows, *weights = parts
    total, largest, helped, failed, gain, gain_weight = (float(part or 0.0) for part in weights)
    return Tally(
        rows=rows,
        helped_rows=helped_rows,
        total=total,
        largest=largest,
        helped=helped,
        failed=failed,
        gain=gain,
        gain_weight=gain_weight,
    )

"""Who a row is about: launch, kernel, device, launch shape."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from kbs_engine.errors import ReportError
from kbs_ingest.readers.launches import Launch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from kbs_ingest.readers.tables import Table

_SHAPE: Final = re.compile(r"\(?\s*(\d+)\s*[,xX]\s*(\d+)\s*[,xX]\s*(\d+)\s*\)?")
_ID_DIGITS: Final = 9
_CC: Final = re.compile(r"\d{1,2}\.\d")
_SHAPES: Final = {"launch__grid_size": "Grid Size", "launch__block_size": "Block Size"}


def column(header: Sequence[str], name: str) -> int | None:
    """Index of a column, or None."""
    return header.index(name) if name in header else None


def product(shape: str) -> float | None:
    """``(128, 2, 1)`` as the number of its elements; None for anything else."""
    match = _SHAPE.fullmatch(shape.strip())
    return float(match[1]) * float(match[2]) * float(match[3]) if match else None


def require_ids(tables: Iterable[Table], path: Path) -> None:
    """ReportError when a table has no column of launch ids."""
    for table in tables:
        if "ID" not in table.header:
            raise ReportError(
                "the header has no column ID: nothing tells one launch from another",
                where=f"{path}:{table.line}",
                remedy="export it again with ncu --import … --csv, with all columns",
            )


def launch(cells: Mapping[str, str], where: str) -> Launch:
    """Start a launch from the identity columns; ReportError when its id is no number."""
    number = cells.get("ID", "").strip()
    if not (number.isascii() and number.isdigit() and len(number) <= _ID_DIGITS):
        raise ReportError(
            f"the launch id is {number!r}",
            where=where,
            remedy="the row is damaged; export the report again",
        )
    capability = cells.get("CC", "").strip().replace(",", ".")
    device = cells.get("device__attribute_display_name", "").strip()
    one = Launch(
        number=int(number),
        name=cells.get("Kernel Name", "").strip(),
        chip=device or None,
        compute_capability=capability if _CC.fullmatch(capability) else None,
    )
    for metric, label in _SHAPES.items():
        size = product(cells.get(label, ""))
        if size is not None:
            one.values[metric] = (size, "")
    return one


def renumber(launches: Iterable[Launch]) -> dict[int, int]:
    """Give every launch a number of its own where several processes use the same ids.

    An id that occurs once is kept, and so is the first launch of one that occurs more often;
    its others are numbered on from the highest id.

    Returns:
        The id in the report of each launch that shares it, by the launch's number here.
    """
    found = list(launches)
    times = Counter(one.number for one in found)
    following = max(times, default=-1) + 1
    taken: set[int] = set()
    reported: dict[int, int] = {}
    for one in found:
        stated = one.number
        if times[stated] == 1:
            continue
        if stated in taken:
            one.number, following = following, following + 1
        taken.add(stated)
        reported[one.number] = stated
        one.flags.append(f"id {stated} occurs more than once; numbered {one.number} here")
    return reported

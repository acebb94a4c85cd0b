"""One segment out of a whole log, for anybody to merge."""

from __future__ import annotations

import sys
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from kbs_engine.durable import write_whole
from kbs_engine.experience.records import write_line
from kbs_ingest.experience.lines import read_bytes, read_record
from kbs_ingest.experience.lore import Lore
from kbs_ingest.experience.places import experience_folder
from kbs_ingest.experience.query import Reading, Wanted


def export(home: Path, lore: Lore, filters: Mapping[str, Any], file: Path) -> int:
    """Write the outcomes that the filters choose, and every mask and replication.

    Args:
        home: the home folder.
        lore: names from the wiki.
        filters: fields of ``Wanted``.
        file: where to; ``-`` is standard output.

    Returns:
        How many records were written.

    Raises:
        StoreError: The file cannot be written; it is as before.
    """
    lines = list(_lines(home, lore, msgspec.convert(dict(filters), Wanted)))
    data = b"".join(lines)
    if str(file) == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    elif lines:
        write_whole(file, data)
    return len(lines)


def _lines(home: Path, lore: Lore, wanted: Wanted) -> Iterator[bytes]:
    folder = experience_folder(home)
    reading = Reading(home, lore)
    places = [(row.file, row.line, row.origin) for row in reading.rows(wanted)]
    places += [
        (f"experience/{mark.segment}", mark.line, mark.origin) for mark in reading.marks.values()
    ]
    held, lines = "", []
    for name, number, origin in sorted(places):
        if name != held:
            held = name
            lines = read_bytes(folder / name.removeprefix("experience/")).split(b"\n")
        entry = read_record(lines[number - 1].removeprefix(BOM_UTF8))
        yield write_line(msgspec.structs.replace(entry, origin=origin))

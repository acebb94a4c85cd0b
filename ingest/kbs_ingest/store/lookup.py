"""Questions to the index that need more than one query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb
import msgspec

from kbs_engine.errors import RefusedError
from kbs_engine.facts import Chip, Citation
from kbs_ingest.store import near_chips
from kbs_ingest.store.fingerprint import MIN_SHARED, SIZE, fingerprint
from kbs_ingest.store.near_chips import ChipName
from kbs_ingest.wiki.model import Case, Chunk
from kbs_ingest.wiki.names import normalise

LIST_THEM = "`kbs specs` lists the GPUs that the wiki knows"


def chip(connection: duckdb.DuckDBPyConnection, name: str) -> Chip:
    """The chip that ``name`` names; RefusedError with candidates otherwise."""
    key = normalise(name)
    rows = connection.execute(
        "SELECT DISTINCT chip, ambiguous FROM aliases WHERE key = ? ORDER BY ALL", [key]
    ).fetchall()
    exact = [id_ for id_, ambiguous in rows if not ambiguous]
    if not exact:
        raise _refusal(connection, name, key, [id_ for id_, _ in rows])
    record = connection.execute("SELECT record FROM chips WHERE id = ?", [exact[0]]).fetchone()
    return msgspec.json.decode(record[0] if record else "", type=Chip)


def _refusal(
    connection: duckdb.DuckDBPyConnection, name: str, key: str, shared: Sequence[str]
) -> RefusedError:
    chips = _chip_names(connection)
    family = [] if shared else near_chips.of_architecture(name, chips)
    if family:
        return RefusedError(
            f"{name!r} is an architecture, not a GPU; its chips are {', '.join(family)}",
            remedy=f"name one of them, for example {family[0]}",
        )
    rows = connection.execute("SELECT DISTINCT key, chip FROM aliases ORDER BY ALL").fetchall()
    begin = sorted({id_ for other, id_ in rows if key and other.startswith(key)})
    candidates = sorted(shared) or begin
    if len(candidates) > 1:
        return RefusedError(
            f"{name!r} does not say which GPU: {', '.join(candidates)}",
            remedy=f"name one of them, for example {candidates[0]}",
        )
    near = near_chips.named_alike(name, chips)
    if shared:
        return RefusedError(
            f"{name!r} names several GPUs; gpu-wiki has a page of {shared[0]} alone",
            remedy=f"name {shared[0]} where it is that one; {LIST_THEM}",
        )
    remedy = f"near names: {', '.join(near)}; {LIST_THEM}" if near else LIST_THEM
    return RefusedError(
        f"gpu-wiki knows no GPU named {name!r}; nothing is approximated", remedy=remedy
    )


def shared_names(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Names that stand for several chips, as ``H100`` does."""
    return [
        name
        for (name,) in connection.execute(
            "SELECT DISTINCT name FROM aliases WHERE ambiguous ORDER BY ALL"
        ).fetchall()
    ]


def _chip_names(connection: duckdb.DuckDBPyConnection) -> list[ChipName]:
    rows = connection.execute(
        "SELECT c.id, c.architecture, c.arch, list(a.name ORDER BY a.name) FROM chips c "
        "JOIN aliases a ON a.chip = c.id GROUP BY ALL ORDER BY c.id"
    ).fetchall()
    return [ChipName(id_, family, arch, tuple(names)) for id_, family, arch, names in rows]


Place = tuple[str, int, int, int]


def nearest(
    connection: duckdb.DuckDBPyConnection, metrics: Mapping[str, float], limit: int
) -> list[tuple[Place, float]]:
    """Places of outcomes by root mean squared difference over the features that both have."""
    mine = fingerprint(metrics)
    if mine.empty:
        return []
    kind = f"FLOAT[{SIZE}]"
    rows = connection.execute(
        f"""
        SELECT segment, line, start, length, sqrt(greatest(0, d2) / shared) AS distance FROM (
            SELECT id, segment, line, start, length,
                array_inner_product(mask, $mask::{kind}) AS shared,
                array_inner_product(mask, $squares::{kind})
                    - 2 * array_inner_product(print, $values::{kind})
                    + list_sum(list_transform(
                        list_zip(print, $mask::{kind}::FLOAT[]),
                        lambda pair: pair[1] * pair[1] * pair[2])) AS d2
            FROM outcomes WHERE print IS NOT NULL AND doubt = '')
        WHERE shared >= {MIN_SHARED} ORDER BY distance, id LIMIT {int(limit)}
        """,  # noqa: S608 - own numbers
        {
            "mask": list(mine.mask),
            "values": list(mine.values),
            "squares": [value * value for value in mine.values],
        },
    ).fetchall()
    return [((segment, line, start, length), float(d)) for segment, line, start, length, d in rows]


def chunk(connection: duckdb.DuckDBPyConnection, id_: str) -> Chunk | None:
    """The piece of text of this id."""
    row = connection.execute("SELECT record FROM chunks WHERE id = ?", [id_]).fetchone()
    return None if row is None else msgspec.json.decode(row[0], type=Chunk)


def case(id_: str, title: str, path: str, line: int, record: str) -> Case:
    """A case from its row."""
    return Case(
        id=id_,
        title=title,
        raw=msgspec.json.decode(record),
        citation=Citation(path=path, line=line),
    )


def resolve(roots: Mapping[str, str], files: Mapping[str, str], path: str) -> Path | None:
    """The file of a citation path that the index read."""
    if path not in files:
        return None
    first, _, rest = path.partition("/")
    if first in roots and first:
        return Path(roots[first]) / rest
    return Path(roots[""]) / path if "" in roots else None

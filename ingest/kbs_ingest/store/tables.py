"""The DuckDB file of one generation: columns to ask by, and each record as JSON."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import msgspec

from kbs_engine.facts import Spec
from kbs_ingest.store.similarity import Similarities
from kbs_ingest.wiki.model import Wiki
from kbs_ingest.wiki.names import normalise

TABLES: dict[str, str] = {
    "meta": "key VARCHAR, value VARCHAR",
    "files": "path VARCHAR, sha256 VARCHAR",
    "chips": "id VARCHAR, name VARCHAR, vendor VARCHAR, architecture VARCHAR, arch VARCHAR, "
    "path VARCHAR, line BIGINT, record VARCHAR",
    "aliases": "key VARCHAR, chip VARCHAR, name VARCHAR, ambiguous BOOLEAN",
    "specs": "chip VARCHAR, metric VARCHAR, words VARCHAR, number DOUBLE, word VARCHAR, "
    "unit VARCHAR, basis VARCHAR, density VARCHAR, scope VARCHAR, source VARCHAR, "
    "grade VARCHAR, measured BOOLEAN, path VARCHAR, line BIGINT",
    "methods": "id VARCHAR, title VARCHAR, axis VARCHAR, priority BIGINT, status VARCHAR, "
    "languages VARCHAR[], path VARCHAR, line BIGINT, record VARCHAR",
    "addresses": "method VARCHAR, symptom VARCHAR, weight DOUBLE",
    "symptoms": "id VARCHAR, axis VARCHAR, title VARCHAR, path VARCHAR, line BIGINT",
    "rules": "id VARCHAR, needs VARCHAR[], condition VARCHAR, severity VARCHAR, "
    "recoverable VARCHAR, record VARCHAR",
    "signatures": "method VARCHAR, path VARCHAR, line BIGINT, record VARCHAR",
    "features": "id VARCHAR, archs VARCHAR[], record VARCHAR",
    "groups": "number BIGINT, method VARCHAR",
    "metrics": "vendor VARCHAR, record VARCHAR",
    "cases": "id VARCHAR, title VARCHAR, path VARCHAR, line BIGINT, record VARCHAR",
    "chunks": "id VARCHAR, kind VARCHAR, owner VARCHAR, path VARCHAR, line BIGINT, "
    "title VARCHAR, record VARCHAR",
    "similarities": "symptom VARCHAR, method VARCHAR, score DOUBLE",
    "page_similarities": "symptom VARCHAR, chunk VARCHAR, score DOUBLE",
}


def write_tables(
    path: Path,
    wiki: Wiki,
    experience: Callable[[duckdb.DuckDBPyConnection], None],
    similarities: Similarities,
    meta: dict[str, str],
) -> None:
    """Create the file; it is complete and closed when this returns.

    Args:
        path: the file.
        wiki: parsed pages.
        experience: creates and fills the tables of the experience log.
        similarities: of methods and pages to symptoms.
        meta: key and value of what stands beside.
    """
    rows = {
        **_wiki_rows(wiki),
        **_method_rows(wiki),
        "meta": sorted(meta.items()),
        "similarities": [(*key, score) for key, score in sorted(similarities.methods.items())],
        "page_similarities": [(*key, score) for key, score in sorted(similarities.pages.items())],
    }  # fmt: skip
    with duckdb.connect(str(path), config={"threads": "1"}) as connection:
        for name, columns in TABLES.items():
            connection.execute(f"CREATE TABLE {name} ({columns})")
            _insert(connection, name, columns, rows[name])
        experience(connection)
        connection.execute("CHECKPOINT")


def _wiki_rows(wiki: Wiki) -> dict[str, list[tuple[Any, ...]]]:
    chips = [page.chip for page in wiki.chips.values()]
    return {
        "files": sorted(wiki.files.items()),
        "chips": [
            (
                chip.id, chip.name, chip.vendor, chip.architecture, chip.arch,
                chip.citation.path, chip.citation.line, _json(chip),
            )
            for chip in chips
        ],
        "aliases": _alias_rows(wiki),
        "specs": [_spec_row(spec) for chip in chips for spec in chip.specs],
        "features": [
            (name, list(feature.archs), _json(feature)) for name, feature in wiki.features.items()
        ],
        "groups": [
            (number, method)
            for number, group in enumerate(wiki.groups)
            for method in sorted(group)
        ],
        "metrics": [(vendor, _json(found)) for vendor, found in wiki.metric_maps.items()],
        "cases": [
            (case.id, case.title, case.citation.path, case.citation.line, _json(case.raw))
            for case in wiki.cases.values()
        ],
        "chunks": [
            (
                chunk.id, chunk.kind, chunk.owner, chunk.path, chunk.line, chunk.title,
                _json(chunk),
            )
            for chunk in wiki.chunks
        ],
    }  # fmt: skip


def _alias_rows(wiki: Wiki) -> list[tuple[Any, ...]]:
    rows = set()
    for page in wiki.chips.values():
        chip = page.chip
        for name in (chip.id, chip.name, *chip.aliases):
            rows.add((normalise(name), chip.id, name, False))
        for name in page.ambiguous:
            rows.add((normalise(name), chip.id, name, True))
    return sorted(rows)


def _spec_row(spec: Spec) -> tuple[Any, ...]:
    number = spec.value if isinstance(spec.value, float) else None
    word = spec.value if isinstance(spec.value, str) else None
    return (
        spec.chip, spec.metric, spec.words, number, word, spec.unit, str(spec.basis),
        spec.basis.density, spec.basis.scope, spec.source, spec.grade, spec.measured,
        spec.citation.path, spec.citation.line,
    )  # fmt: skip


def _method_rows(wiki: Wiki) -> dict[str, list[tuple[Any, ...]]]:
    methods, rules = wiki.methods.values(), wiki.rules.values()
    return {
        "methods": [
            (
                method.id, method.title, method.axis, method.priority, method.status,
                list(method.languages), method.citation.path, method.citation.line,
                _json(method),
            )
            for method in methods
        ],
        "addresses": [
            (method.id, symptom, weight)
            for method in methods
            for symptom, weight in sorted(method.addresses.items())
        ],
        "symptoms": [
            (rule.id, rule.axis, rule.title, rule.citation.path, rule.citation.line)
            for rule in rules
        ],
        "rules": [
            (
                rule.id, list(rule.needs), rule.when, rule.severity, rule.recoverable,
                _json(rule),
            )
            for rule in rules
        ],
        "signatures": [
            (method, found.citation.path, found.citation.line, _json(found))
            for method, found in wiki.signatures.items()
        ],
    }  # fmt: skip


def _insert(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    columns: str,
    rows: Sequence[tuple[Any, ...]],
) -> None:
    if not rows:
        return
    pa = importlib.import_module("pyarrow")
    names = [part.split()[0] for part in columns.split(", ")]
    columns_data = list(zip(*rows, strict=True))
    table = pa.table({key: list(part) for key, part in zip(names, columns_data, strict=True)})
    connection.register("incoming", table)
    connection.execute(f"INSERT INTO {name} SELECT * FROM incoming")  # noqa: S608 - own names
    connection.unregister("incoming")


def _json(record: Any) -> str:
    return msgspec.json.encode(record).decode()

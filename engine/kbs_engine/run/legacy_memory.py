"""Memory records of alibaba/atrex-kernel-agent, in the form that ``MemoryRecord`` decodes."""

from __future__ import annotations

from typing import Any

_LISTS = {"pitfalls_and_fixes": "problem", "search_log": "finding", "isa_metric_progress": "metric"}
"""Lists whose entries older files also wrote as plain text, and the field that text becomes."""


def modern(plain: dict[str, Any]) -> dict[str, Any]:
    """The same record with entries as objects and verdicts in capitals; nothing is invented."""
    record = dict(plain)
    for name, field in _LISTS.items():
        record[name] = [_entry(row, field) for row in record.get(name) or ()]
    experience = record.get("experience") or {}
    rows = experience.get("experiments") or () if isinstance(experience, dict) else ()
    record["experience"] = {"experiments": [_entry(row, "change") for row in rows]}
    for name, field in (("correctness", "status"), ("quality_gate", "result")):
        value = record.get(name)
        if isinstance(value, dict) and isinstance(value.get(field), str):
            record[name] = {**value, field: _verdict(value[field])}
    return {name: value for name, value in record.items() if value is not None}


def _entry(row: object, field: str) -> object:
    return {field: row} if isinstance(row, str) else row


def _verdict(word: str) -> str:
    upper = word.upper()
    return {"PASSED": "PASS", "FAILED": "FAIL"}.get(
        upper, upper if upper in ("PASS", "FAIL") else word
    )

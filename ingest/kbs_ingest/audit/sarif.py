"""An audit as SARIF 2.1.0, for code-scanning tools."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from kbs_ingest.audit.model import VERDICTS, AuditReport

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LEVELS = {
    "moved": "warning",
    "changed": "warning",
    "missing": "error",
    "wrong_value": "error",
    "wrong_chip": "error",
    "uncited": "note",
    "vague": "note",
    "unexplained": "note",
}
_OTHERS = {
    "uncited": "a spec-like number without a citation",
    "vague": "vague wording beside a spec",
    "unexplained": "a citation that holds, with words that the cited row does not explain",
}


def sarif_log(report: AuditReport, version: str, *, strict: bool = False) -> dict[str, Any]:
    """One run with a result for everything but ``ok`` and what was re-anchored."""
    texts: dict[str, str] = {str(name): text for name, text in VERDICTS.items() if name != "ok"}
    texts.update(_OTHERS)
    rules = sorted(texts)
    results = [
        _result(rules, row.verdict, row.file, row.line, f"{row.text}: {row.detail}")
        for row in report.citations
        if row.verdict != "ok" and not row.fixed
    ]
    results.extend(
        _result(rules, row.kind, row.file, row.line, row.text, strict=strict)
        for row in report.uncited
    )
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "kbs audit",
                        "semanticVersion": version,
                        "rules": [
                            {
                                "id": name,
                                "shortDescription": {"text": texts[name]},
                                "defaultConfiguration": {"level": _LEVELS[name]},
                            }
                            for name in rules
                        ],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": results,
            }
        ],
    }


def _result(
    rules: list[str], rule: str, file: str, line: int, text: str, *, strict: bool = False
) -> dict[str, Any]:
    level = "error" if strict else _LEVELS[rule]
    return {
        "ruleId": rule,
        "ruleIndex": rules.index(rule),
        "level": level,
        "message": {"text": text},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": _uri(file)},
                    "region": {"startLine": line},
                }
            }
        ],
    }


def _uri(file: str) -> str:
    encoded = quote(file, safe="/")
    return f"file://{encoded}" if file.startswith("/") else encoded

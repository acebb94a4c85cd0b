# ruff: noqa: E501 - tables and messages stand on one line, as in the files that they test
"""What the tests of the index share: making one, all that it answers, outcomes to put in."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from kbs_ingest.store import Store, ingest


def index(home: Path, root: Path, **options: bool) -> None:
    ingest(home, [root], embedding_model="none", **options)


def everything(store: Store) -> bytes:
    """All that a reader can ask, as bytes."""
    found = {
        "chips": store.chips(),
        "rules": store.rules(),
        "methods": store.methods(),
        "groups": [sorted(group) for group in store.groups()],
        "features": store.feature_list(),
        "signatures": store.signatures(),
        "cases": store.cases(),
        "maps": store.metric_map("nvidia"),
        "similar": store.similarity(
            [rule.id for rule in store.rules()], [method.id for method in store.methods()]
        ),
        "pages": [store.similar_pages(rule.id) for rule in store.rules()],
        "search": [store.search(text) for text in ("sectors per request", "bank conflicts")],
        "outcomes": store.outcomes(),
    }
    return msgspec.json.encode(found)


def outcome(**changes: object) -> dict[str, object]:
    base: dict[str, object] = {
        "method": "coalesced_access", "verdict": "effective", "kernel": "transpose",
        "language": "cuda-cpp", "chip": "h100_sxm", "arch": "sm_90a", "correct": True,
        "integrity": True, "gain": 0.4,
        "metrics_before": dict.fromkeys(("dram_pct", "l2_pct", "l1_pct", "compute_pct", "memory_pct", "fma_pct", "alu_pct", "lsu_pct", "issue_active_pct"), 50.0),
    }  # fmt: skip
    return {**base, **changes}


def write_outcomes(home: Path, name: str = "a", *records: dict[str, object] | str) -> None:
    folder = home / "experience"
    folder.mkdir(parents=True, exist_ok=True)
    lines = [r if isinstance(r, str) else json.dumps(r) for r in records or (outcome(),)]
    with (folder / f"{name}.jsonl").open("a") as file:
        file.writelines(f"{line}\n" for line in lines)

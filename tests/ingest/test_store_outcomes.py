"""Outcomes in the index, and those that are newer than it."""

from __future__ import annotations

from pathlib import Path

import pytest
from indexed import index, outcome, write_outcomes

from kbs_engine.outcomes import Outcome
from kbs_ingest.store import ingest, open_store


def test_outcomes_are_read_and_bad_lines_told(empty_home: Path, wiki_root: Path) -> None:
    write_outcomes(
        empty_home, "a", outcome(), "{not json", outcome(correct=False), outcome(verdict="good"),
        {"kind": "mask", "targets": ["0" * 64], "reason": "a test"}, outcome(gain=0.1), "[1]",
    )  # fmt: skip
    write_outcomes(empty_home, "b", outcome(origin="another team"))
    summary = ingest(empty_home, [wiki_root], embedding_model="none")
    assert summary.counts["outcomes"] == 2
    assert [line.line for line in summary.bad_lines] == [2, 3, 4, 7]
    assert all(line.file == "experience/a.jsonl" for line in summary.bad_lines)
    with open_store(empty_home) as store:
        assert len({item.id for item in store.stored_outcomes()}) == 2
        assert all(isinstance(item, Outcome) for item in store.outcomes("coalesced_access"))
        assert len(store.bad_lines()) == 4
        assert not store.outcomes("smem_padding")


def test_newer_segments_are_read_without_an_ingest(empty_home: Path, wiki_root: Path) -> None:
    write_outcomes(empty_home, "a", outcome())
    index(empty_home, wiki_root)
    write_outcomes(empty_home, "a", outcome(gain=0.2))
    write_outcomes(empty_home, "b", outcome(gain=0.3))
    with open_store(empty_home) as store:
        assert sorted(item.gain or 0 for item in store.outcomes()) == [0.2, 0.3, 0.4]
    (empty_home / "experience/a.jsonl").unlink()
    with open_store(empty_home) as store:
        assert [item.gain for item in store.outcomes()] == [0.3]


def test_similar_profiles_come_first(empty_home: Path, wiki_root: Path) -> None:
    metrics = outcome()["metrics_before"]
    assert isinstance(metrics, dict)
    near, far = {**metrics, "dram_pct": 60.0}, {**metrics, "dram_pct": 95.0, "l2_pct": 0.0}
    few = {"dram_pct": 50.0}
    write_outcomes(
        empty_home, "a", outcome(gain=0.1, metrics_before=far),
        outcome(gain=0.2, metrics_before=near), outcome(gain=0.3, metrics_before=few),
    )  # fmt: skip
    index(empty_home, wiki_root)
    with open_store(empty_home) as store:
        found = store.nearest_outcomes(metrics)
        assert [outcome.gain for outcome, _ in found] == [0.2, 0.1]
        assert found[0][1] == pytest.approx((0.1**2 / 9) ** 0.5, abs=1e-4)
        assert store.nearest_outcomes(few) == []

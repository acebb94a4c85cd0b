"""Comparisons of two sessions count together, and only of one harness."""

from __future__ import annotations

import json

import pytest

from tests.gpu import pooled, store

ROWS = [[1.0, 0.99, 1.01, "within noise"], [1.05, 1.03, 1.07, "faster"]]


def part(rows, **more):
    return {
        "harness": 2, "jobs": 2, "failures": [], "process_noise": 0.01, "all": rows,
        "disjoint_all": rows[:1], "slowed_all": {"0.05": rows[1:]}, **more,
    }  # fmt: skip


def test_self_comparisons_add_up():
    data = pooled.self_comparisons([part(ROWS), part(ROWS[:1] * 8, slowed_all={"0.05": []})])
    assert data["comparisons"] == 10
    assert (data["summary"].excluded, data["summary"].false_wins) == (1, 1)
    assert data["disjoint"].comparisons == 2
    assert data["jobs"] == 4
    assert data["process_noise"] == pytest.approx(0.01)
    assert data["slowed_in_the_record"][0].found == 1


def test_powers_add_up():
    one = {"points": [{"asked": 0.05, "all": ROWS}], "failures": [], "base_ns": 1.0}
    (point,) = pooled.powers([one, one])["points"]
    assert (point["point"].comparisons, point["point"].found, len(point["all"])) == (4, 2, 4)


@pytest.mark.parametrize(("harness", "kept"), [(2, 4), (1, 2)])
def test_another_harness_replaces_what_was_kept(tmp_path, monkeypatch, harness, kept):
    monkeypatch.setattr(store, "FOLDER", tmp_path / "kept")
    for number, of in enumerate((2, harness)):
        folder = tmp_path / str(number)
        folder.mkdir()
        new = {
            "date": "2026",
            "provenance": {"gpu": "X"},
            "seconds": 1.0,
            "data": part(ROWS, harness=of, summary={"excluded": 0}),
        }
        (folder / "self_comparison.json").write_text(json.dumps(new))
        store._keep(folder / "self_comparison.json")
    assert len(store.stored("self_comparison")["data"]["all"]) == kept
    told = [{"date": "2026", "excluded": 0}] if harness == 1 else []
    assert store.stored("self_comparison")["earlier"] == told, "what was replaced is still told"

"""Older flat logs: taken in as unverified, once however often and by whomever."""

from __future__ import annotations

import contextlib
import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbs_engine.chance import Context, chance_of
from kbs_engine.experience.legacy import legacy_entries, limiter_of, method_slug, outcome_of
from kbs_ingest.experience import Lore, merge
from kbs_ingest.experience.places import experience_folder, list_segments
from kbs_ingest.experience.query import Reading
from tests.experience.records import outcome

ENTRY = {
    "id": 7, "date": "2026-03-01", "iteration": 2, "kernel": "softmax", "backend": "cuda",
    "chip": "sm_90", "dims": {"N": 4096, "D": 4096}, "bottleneck_before": "memory_bound",
    "dominant_stall": "long_scoreboard",
    "metrics_before": {"memory_sol_pct": 61.0, "sm_sol_pct": 20.0, "latency_ms": 0.5,
                       "achieved_occupancy": 44.0},
    "metrics_after": {"latency_ms": 0.25}, "optimization": "Vectorized Access {float4}",
    "hypothesis": "wider loads", "outcome": "success", "speedup": 2.0, "notes": "fine",
}  # fmt: skip


def read(**changes):
    (entry,) = legacy_entries([{**ENTRY, **changes}], "team")
    return outcome_of(entry.record)


def test_every_field_finds_its_place():
    found = read()
    assert not found.verified
    assert (found.kernel, found.language, found.chip, found.arch) == (
        "softmax", "cuda-cpp", "sm_90", "sm_90a",
    )  # fmt: skip
    assert (found.limiter, found.dominant_stall) == ("dram", "long_scoreboard")
    assert (found.before_ns, found.after_ns, found.gain) == (5e5, 2.5e5, 0.5)
    assert found.metrics_before == {
        "memory_pct": 61.0, "compute_pct": 20.0, "achieved_occupancy_pct": 44.0,
    }  # fmt: skip
    assert (found.method, found.words) == ("vectorized_access", "Vectorized Access {float4}")
    assert found.dims_class == "D=4096,N=4096"


@pytest.mark.parametrize(
    ("word", "verdict"),
    [("success", "effective"), ("neutral", "ineffective"), ("failure", "ineffective"),
     ("regressed", "harmful"), ("incorrect", "implementation_failed")],
)  # fmt: skip
def test_outcome_words_become_verdicts(word, verdict):
    assert read(outcome=word).verdict == verdict


@pytest.mark.parametrize(
    ("word", "limiter"),
    [("memory_bound", "dram"), ("compute_bound", "mixed"), ("latency_bound", "latency"),
     ("occupancy_bound", "occupancy"), ("grid_anomaly", "launch"), ("unknown", "unknown"),
     ("Memory-Bound", "dram"), ("bananas", "unknown"), ("tensor", "tensor")],
)  # fmt: skip
def test_older_words_for_the_limiter(word, limiter):
    assert limiter_of(word) == limiter


@pytest.mark.parametrize(
    "changes",
    [{"outcome": "bananas"}, {"speedup": 0}, {"speedup": -2}, {"speedup": "fast"},
     {"metrics_after": {"latency_ms": 0}}, {"optimization": ""}, {"outcome": None}],
)  # fmt: skip
def test_what_means_nothing_is_refused(changes):
    with pytest.raises(ValueError, match=r"outcome|speedup|latency_ms|optimization"):
        read(**changes)


def test_two_teams_that_import_one_log_have_the_same_ids():
    log = [ENTRY, {**ENTRY, "id": 8, "speedup": 2.5}]
    renumbered = [{**entry, "id": n} for n, entry in enumerate(log)]
    ours, theirs = legacy_entries(log, "a"), legacy_entries(renumbered, "b")
    assert [entry.id for entry in ours] == [entry.id for entry in theirs]


def test_equal_entries_of_one_log_are_two_measurements():
    ids = {entry.id for entry in legacy_entries([ENTRY, {**ENTRY, "id": 8}], "a")}
    assert len(ids) == 2


def test_one_log_imported_by_two_teams_counts_once(tmp_path):
    path = tmp_path / "log.json"
    path.write_text(json.dumps([ENTRY, {**ENTRY, "kernel": "gemm"}], indent=1))
    for team in ("a", "b"):
        assert merge(tmp_path / team, [path], lore=Lore(), origin=team).added == 2
    both = merge(tmp_path / "a", [tmp_path / "b"], lore=Lore(), origin="a")
    assert (both.added, both.duplicates) == (0, 2)
    assert len(list(Reading(tmp_path / "a", Lore()).rows())) == 2


def test_unverified_counts_for_less():
    place = Context(family="softmax", language="cuda-cpp", arch="sm_90a", limiter="dram")
    proved = outcome(kernel="softmax", date="2026-03-01")
    as_of = date(2026, 3, 1)
    assert (
        chance_of([proved], place, as_of=as_of).mean > chance_of([read()], place, as_of=as_of).mean
    )


@pytest.mark.parametrize(
    "text",
    ['{"entries": %s}', "%s", "\ufeff%s", '  {"experiences":%s, "version": 1}'],
)
def test_arrays_come_in_several_wrappings(tmp_path, text):
    path = tmp_path / "log.json"
    path.write_text(text % json.dumps([ENTRY]), encoding="utf-8")
    assert merge(tmp_path / "home", [path], lore=Lore(), origin="a").added == 1


def test_a_damaged_log_is_kept_up_to_the_damage(tmp_path):
    path = tmp_path / "log.json"
    good = json.dumps([ENTRY, {**ENTRY, "kernel": "gemm"}], indent=1)
    path.write_text(good[:-30])
    report = merge(tmp_path / "home", [path], lore=Lore(), origin="a")
    assert report.added == 1
    (fault,) = report.rejected
    assert fault.line > 20
    assert "no JSON" in fault.reason


def test_bad_entries_are_told_with_their_line_and_the_rest_is_kept(tmp_path):
    path = tmp_path / "log.json"
    rows = [ENTRY, "words", {**ENTRY, "outcome": "bananas"}, {**ENTRY, "kernel": "gemm"}, 3]
    path.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]")
    report = merge(tmp_path / "home", [path], lore=Lore(), origin="a")
    assert report.added == 2
    assert [fault.line for fault in report.rejected] == [3, 4, 6]
    assert [fault.reason.split(":")[0] for fault in report.rejected] == [
        "entry 2", "entry 3", "entry 5",
    ]  # fmt: skip
    assert all(fault.file == str(path) for fault in report.rejected)
    assert len(list_segments(experience_folder(tmp_path / "home"))) == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(sorted(ENTRY)), JSON))
def test_any_entry_is_an_outcome_or_a_reason(changes):
    with contextlib.suppress(ValueError):
        assert not read(**changes).verified


@given(st.text(max_size=200))
def test_any_words_make_a_method_id(words):
    assert method_slug(words)

"""What the index says of experience is what the records say, before and after an ingest."""

from __future__ import annotations

import shutil
from datetime import date, datetime, timezone

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kbs_engine.chance import Context, posterior, tally
from kbs_engine.experience import Legacy, Mask, Unmask, record_id
from kbs_engine.loop.seeding import Place, seeds_for
from kbs_ingest.experience import append
from kbs_ingest.experience.places import experience_folder, list_segments
from kbs_ingest.store import ingest, open_store
from tests.experience.records import METRICS, PLACES, outcome, outcomes, placed, replication

AS_OF = date(2026, 6, 1)
HERE = Context(family="gemm", language="cuda-cpp", arch="sm_90a", limiter="dram")


def evidence(home, place=HERE):
    with open_store(home) as store:
        return store.evidence(place, AS_OF)


def expected(records, place=HERE):
    groups = {}
    for record in records:
        groups.setdefault(record.method, []).append(record)
    return {name: tally(rows, place, as_of=AS_OF) for name, rows in groups.items()}


def assert_same(found, wanted):
    assert found.keys() == wanted.keys()
    for method, tallies in wanted.items():
        assert found[method].keys() == tallies.keys()
        for machine, one in tallies.items():
            other = found[method][machine]
            for name in one.__struct_fields__:
                assert getattr(other, name) == pytest.approx(getattr(one, name), abs=1e-9), name


believable = outcomes.map(
    lambda o: msgspec.structs.replace(
        o, gain=None, before_ns=None, after_ns=None, metrics_before={}
    )
)


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(believable, min_size=1, max_size=12, unique_by=repr), st.integers(0, 12))
def test_the_index_counts_as_the_engine_does(small_index, small_wiki, tmp_path_factory, log, cut):
    home = shutil.copytree(small_index, tmp_path_factory.mktemp("same") / "home")
    if log[:cut]:
        append(home, log[:cut], origin="old")
        ingest(home, [small_wiki], embedding_model="none")
    if log[cut:]:
        append(home, log[cut:], origin="new")
    dated = [r if r.date else msgspec.structs.replace(r, date=today()) for r in log]
    assert_same(evidence(home), expected(dated))


def today():
    return datetime.now(timezone.utc).date().isoformat()


def test_what_is_masked_never_counts_and_counts_again_once_unmasked(indexed, reindex):
    ids = append(indexed, [outcome(measurement="1"), outcome(measurement="2")], origin="t")
    reindex(indexed)
    assert evidence(indexed)["coalesced_access"]["m1"].rows == 2
    (mask,) = append(indexed, [Mask(targets=(ids[0],), reason="a test")], origin="t")
    assert evidence(indexed)["coalesced_access"]["m1"].rows == 1
    reindex(indexed)
    assert evidence(indexed)["coalesced_access"]["m1"].rows == 1
    append(indexed, [Unmask(masks=(mask,))], origin="t")
    assert evidence(indexed)["coalesced_access"]["m1"].rows == 2
    reindex(indexed)
    assert evidence(indexed)["coalesced_access"]["m1"].rows == 2


def test_what_is_quarantined_never_counts(indexed, reindex):
    poison = [
        outcome(gain=0.99, measurement="p1"),
        outcome(after_ns=100.0, before_ns=200.0, gain=0.5, measurement="p2"),
        outcome(before_ns=None, after_ns=None, gain=1 - 1e-9, measurement="p3"),
    ]
    append(indexed, poison, origin="t")
    assert evidence(indexed).keys() <= {"coalesced_access"}
    assert sum(t.rows for t in evidence(indexed).get("coalesced_access", {}).values()) <= 1
    summary = reindex(indexed)
    assert summary.counts["outcomes"] == 3
    assert summary.counts["quarantined"] >= 2
    with open_store(indexed) as store:
        assert len(store.outcomes()) == 3 - summary.counts["quarantined"]


def library(machine, ns=7e5, **changes):
    """A record that is believed, with a library baseline of its task."""
    fields = {"after_ns": ns / 7, "before_ns": ns / 7, "gain": 0.0, "verdict": "ineffective"}
    named = {"machine": machine, "measurement": f"library of {machine}"}
    return outcome(baseline="flashinfer", baseline_ns=ns, **{**fields, **named, **changes})


def test_baselines_of_two_machines_doubt_a_record_of_another_segment(indexed, reindex):
    append(indexed, [library("a"), library("b")], origin="a")
    append(indexed, [outcome(measurement="p")], origin="b")
    for _ in range(2):
        assert set(evidence(indexed)["coalesced_access"]) == {"a", "b"}
        assert reindex(indexed).counts["quarantined"] == 1


@pytest.mark.parametrize("first", ["baselines", "time", "nothing"])
def test_what_baselines_take_out_is_the_same_before_and_after_an_ingest(indexed, reindex, first):
    """Whatever the index holds of it already; masks and unmasks are felt at once."""
    parts = {"baselines": [library("a"), library("b")], "time": [outcome(measurement="p")]}
    ids = append(indexed, parts.pop(first, []), origin="o")
    reindex(indexed)
    ids += append(indexed, [record for part in parts.values() for record in part], origin="n")
    lender = next(i for i in ids if i == record_id(library("a")))

    def machines():
        return set(evidence(indexed)["coalesced_access"])

    def state_is(*told):
        assert machines() == set(told)
        reindex(indexed)
        assert machines() == set(told)

    assert machines() == {"a", "b"}
    (mask,) = append(indexed, [Mask(targets=(lender,), reason="a test")], origin="n")
    state_is("b", "m1")
    append(indexed, [Unmask(masks=(mask,))], origin="n")
    state_is("a", "b")


def test_one_machine_silences_nobody(indexed, reindex):
    """A made-up baseline, believed by itself, of as many records as it likes."""
    append(indexed, [outcome(machine=f"h{n}", measurement=str(n)) for n in range(3)], origin="h")
    evil = [library("evil", 1e9, measurement=str(n), notes=str(n)) for n in range(5)]
    evil.append(library("h0", 1e9))
    append(indexed, evil, origin="e")
    for _ in range(2):
        assert {"h0", "h1", "h2"} <= set(evidence(indexed)["coalesced_access"])
        assert reindex(indexed).counts["quarantined"] == 0


def test_what_a_host_timed_never_counts(indexed, reindex):
    append(indexed, [outcome(device="host")], origin="t")
    assert evidence(indexed) == {}
    reindex(indexed)
    assert evidence(indexed) == {}
    with open_store(indexed) as store:
        assert store.outcomes() == []


def test_a_replication_counts_as_a_machine(indexed, reindex):
    (target,) = append(indexed, [outcome()], origin="t")
    append(indexed, [replication(target)], origin="t")
    for _ in range(2):
        found = evidence(indexed)["coalesced_access"]
        assert set(found) == {"m1", "m9"}
        assert found["m9"].helped_rows == 1
        assert posterior(found).counts.machines == 2
        reindex(indexed)


@pytest.mark.parametrize(
    ("changes", "helped"),
    [({"verdict": "not replicated", "ratio": 1.0}, 0), ({"verdict": "failed", "correct": False}, 0),
     ({}, 1)],
)  # fmt: skip
def test_a_claim_that_does_not_hold_elsewhere_counts_against_the_method(indexed, changes, helped):
    (target,) = append(indexed, [outcome()], origin="t")
    append(indexed, [replication(target, **changes)], origin="t")
    found = evidence(indexed)["coalesced_access"]["m9"]
    assert found.helped_rows == helped
    assert (found.failed > 0) == (helped == 0)


@pytest.mark.parametrize("device", ["host", "recorded"])
def test_a_replication_without_a_gpu_says_nothing(indexed, device):
    (target,) = append(indexed, [outcome()], origin="t")
    append(indexed, [replication(target, device=device)], origin="t")
    assert set(evidence(indexed)["coalesced_access"]) == {"m1"}


def test_masks_hide_replications_and_their_targets(indexed):
    (target,) = append(indexed, [outcome()], origin="t")
    (again,) = append(indexed, [replication(target)], origin="t")
    append(indexed, [Mask(targets=(again,), reason="r")], origin="t")
    assert set(evidence(indexed)["coalesced_access"]) == {"m1"}
    append(indexed, [Mask(targets=(target,), reason="r")], origin="t")
    assert evidence(indexed) == {}


def test_older_logs_are_read_under_the_names_of_the_wiki(indexed):
    entry = {"optimization": "Coalesced access", "outcome": "success", "kernel": "transpose",
             "backend": "cuda", "chip": "h100_sxm", "speedup": 2.0}  # fmt: skip
    append(indexed, [Legacy(entry=entry, measurement="legacy-0")], origin="t")
    with open_store(indexed) as store:
        (found,) = store.outcomes()
    assert not found.verified
    assert found.chip == "h100_sxm"
    assert found.arch == "sm_90a"


def test_what_was_tried_on_a_source_is_found(indexed, reindex):
    append(indexed, [outcome(source_hash="s1"), outcome(source_hash="s2")], origin="t")
    for _ in range(2):
        with open_store(indexed) as store:
            assert [row.source_hash for row in store.tried_on("s1")] == ["s1"]
        reindex(indexed)


def test_the_nearest_success_comes_first(indexed, reindex):
    near = outcome(kernel="gemm", gain=0.1, before_ns=None, after_ns=None, measurement="near")
    far = outcome(
        chip="a100_sxm_80gb",
        arch="sm_80",
        gain=0.5,
        before_ns=None,
        after_ns=None,
        measurement="far",
    )
    append(indexed, [far, near], origin="t")
    for _ in range(2):
        with open_store(indexed) as store:
            found = store.nearest_successes("coalesced_access", HERE, 5)
        assert [item.outcome.measurement for item in found] == ["near", "far"]
        reindex(indexed)


def test_a_segment_edited_in_place_is_not_believed(indexed, reindex):
    append(indexed, [outcome(gain=0.25)], origin="t")
    reindex(indexed)
    (path,) = list_segments(experience_folder(indexed)).values()
    path.write_bytes(path.read_bytes().replace(b'"gain":0.25', b'"gain":0.35'))
    with open_store(indexed) as store:
        assert store.outcomes() == []
    summary = reindex(indexed)
    assert summary.counts["outcomes"] == 0
    assert "altered" in summary.bad_lines[0].reason


def test_similar_profiles_are_found_through_their_segments(indexed, reindex):
    append(indexed, [outcome(), outcome(metrics_before={"dram_pct": 1.0})], origin="t")
    reindex(indexed)
    with open_store(indexed) as store:
        ((found, distance),) = store.nearest_outcomes(METRICS)
    assert found.metrics_before == METRICS
    assert distance == pytest.approx(0, abs=1e-6)


PLACE = Place(family="gemm", language="triton", arch="sm_90a", dims_class="M=64", limiter="dram")
tuned = st.builds(
    placed,
    place=PLACES,
    verdict=st.sampled_from(["effective", "effective", "ineffective"]),
    kernel=st.sampled_from(["gemm", "gemm", "softmax"]),
    language=st.sampled_from(["triton", "triton", "cuda-cpp"]),
    dims_class=st.sampled_from(["M=64", "M=128"]),
    dtype=st.sampled_from([None, "fp16"]),
    limiter=st.sampled_from(["dram", "tensor"]),
    tunables=st.dictionaries(st.sampled_from(["BM", "BN"]), st.sampled_from([16, 32, 64])),
    gain=st.none(), before_ns=st.none(), after_ns=st.none(), metrics_before=st.just({}),
    measurement=st.uuids().map(str),
)  # fmt: skip


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(tuned, min_size=1, max_size=30), st.integers(0, 30))
def test_seeds_from_a_query_are_those_of_the_whole_log(
    small_index, small_wiki, tmp_path_factory, log, cut
):
    home = shutil.copytree(small_index, tmp_path_factory.mktemp("tuned") / "home")
    append(home, log[:cut], origin="old")
    ingest(home, [small_wiki], embedding_model="none")
    append(home, log[cut:], origin="new")
    with open_store(home) as store:
        found = store.tuned_successes(PLACE)
        assert seeds_for(found, PLACE) == seeds_for(store.outcomes(), PLACE)


def test_seeds_and_citations_read_no_more_of_a_long_log_than_they_need(indexed, reindex):
    ids = append(
        indexed,
        [
            outcome(kernel="gemm", language="triton", tunables={"BM": i % 8}, measurement=str(i))
            for i in range(500)
        ],
        origin="t",
    )
    reindex(indexed)
    with open_store(indexed) as store:
        assert len(store.tuned_successes(PLACE)) == 8
        assert store.holds_outcome(ids[7][:12])
        assert not store.holds_outcome("no such id")
    append(indexed, [Mask(targets=(ids[7],), reason="a test")], origin="t")
    (newer,) = append(indexed, [outcome(measurement="newer")], origin="t")
    with open_store(indexed) as store:
        assert not store.holds_outcome(ids[7])
        assert store.holds_outcome(newer)

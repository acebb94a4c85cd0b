"""Records for the tests of the experience log."""

from __future__ import annotations

from hypothesis import strategies as st

from kbs_engine.experience import Mask, Replication, Unmask, entry_of
from kbs_engine.outcomes import Outcome

METRICS = {
    "dram_pct": 50.0, "l2_pct": 40.0, "l1_pct": 30.0, "compute_pct": 20.0, "memory_pct": 55.0,
    "fma_pct": 10.0, "alu_pct": 12.0, "lsu_pct": 14.0, "issue_active_pct": 33.0,
}  # fmt: skip


def outcome(**changes):
    fields = {
        "method": "coalesced_access", "verdict": "effective", "kernel": "transpose",
        "language": "cuda-cpp", "chip": "h100_sxm", "arch": "sm_90a", "limiter": "dram",
        "correct": True, "integrity": True, "gain": 0.25, "before_ns": 80_000.0,
        "after_ns": 60_000.0, "machine": "m1", "date": "2026-06-01", "measurement": "u1",
        "dims": {"M": 4096, "N": 4096}, "metrics_before": METRICS,
    }  # fmt: skip
    return Outcome(**{**fields, **changes})


def entries(*records, origin="team"):
    return [entry_of(record, origin) for record in records]


def replication(target, **changes):
    fields = {
        "capsule": "c" * 64, "targets": (target,), "language": "cuda-cpp", "chip": "h100_sxm",
        "arch": "sm_90a", "machine": "m9", "device": "cuda", "correct": True, "integrity": True,
        "verdict": "replicated", "ratio": 1.3, "low": 1.25, "high": 1.35,
        "measurement": "r1", "date": "2026-06-01",
    }  # fmt: skip
    return Replication(**{**fields, **changes})


texts = st.text(max_size=20)
numbers = st.floats(-1e300, 1e300, allow_nan=False)

PLACES = st.sampled_from([("h100_sxm", "sm_90a"), ("a100_sxm_80gb", "sm_80")])
"""Chips with the architecture that each has."""


def placed(place, **changes):
    return outcome(chip=place[0], arch=place[1], **changes)


outcomes = st.builds(
    placed,
    place=PLACES,
    method=st.sampled_from(["split_k", "smem_padding", "coalesced_access"]),
    verdict=st.sampled_from(["effective", "ineffective", "harmful", "inseparable"]),
    machine=st.sampled_from(["m1", "m2", "m3"]),
    kernel=st.sampled_from(["gemm", "softmax"]),
    verified=st.booleans(),
    gain=st.none() | st.floats(-5, 0.99),
    date=st.sampled_from(["2026-06-01", "2026-01-01", "", "2024-02-29T10:00:00Z"]),
    notes=texts,
    metrics_before=st.dictionaries(texts, numbers, max_size=4),
    measurement=st.sampled_from("abcdef"),
)
IDS = st.sampled_from([entry_of(outcome(measurement=m), "t").id for m in "abc"])
masks = st.builds(
    Mask,
    targets=st.lists(IDS, min_size=1, max_size=2).map(tuple),
    reason=st.just("a test"),
    measurement=st.sampled_from("xy"),
)


@st.composite
def logs(draw):
    """A log of outcomes, masks of them, and unmasks of those masks."""
    known = [outcome(measurement=m) for m in draw(st.lists(st.sampled_from("abc"), max_size=3))]
    others = draw(st.lists(outcomes, max_size=3))
    hides = draw(st.lists(masks, max_size=3))
    hide_ids = [entry_of(mask, "").id for mask in hides]
    chosen = draw(st.lists(st.sampled_from(hide_ids), max_size=2)) if hide_ids else []
    shows = [Unmask(masks=(id_,), measurement="z") for id_ in chosen]
    origin = st.sampled_from(["a", "b", "c"])
    return [entry_of(r, draw(origin)) for r in (*known, *others, *hides, *shows)]

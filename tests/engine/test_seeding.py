"""A search begins with what did well where things were much the same."""

from __future__ import annotations

from kbs_engine.loop.seeding import Place, seeds_for
from kbs_engine.outcomes import Outcome

PLACE = Place(
    family="softmax", language="triton", arch="sm_90a", dims_class="M=4096", dtype="fp32",
    limiter="dram",
)  # fmt: skip


def outcome(block: int, **changes) -> Outcome:
    fields = {
        "method": "block_size_tuning", "verdict": "effective", "kernel": "softmax",
        "language": "triton", "chip": "h100_sxm", "arch": "sm_90a", "dims_class": "M=4096",
        "dtype": "fp32", "limiter": "dram", "correct": True, "integrity": True, "gain": 0.1,
        "tunables": {"BLOCK": block},
    }  # fmt: skip
    return Outcome(**{**fields, **changes})


def test_the_nearest_context_comes_first_and_the_larger_gain_among_equals():
    rows = [
        outcome(1, arch="sm_80", gain=0.9),
        outcome(2, dims_class="M=64", gain=0.8),
        outcome(3, gain=0.2),
        outcome(4, gain=0.4),
    ]
    assert seeds_for(rows, PLACE, most=4) == (
        {"BLOCK": 4}, {"BLOCK": 3}, {"BLOCK": 2}, {"BLOCK": 1},
    )  # fmt: skip


def test_what_failed_or_is_of_another_family_or_language_gives_no_seed():
    rows = [
        outcome(1, verdict="harmful", gain=-0.2),
        outcome(2, kernel="gemm"),
        outcome(3, language="cuda-cpp"),
        outcome(4, tunables={}),
    ]
    assert seeds_for(rows, PLACE) == ()


def test_the_same_assignment_comes_once_and_no_more_than_asked():
    rows = [outcome(1), outcome(1, gain=0.3), outcome(2), outcome(3), outcome(4)]
    assert len(seeds_for(rows, PLACE)) == 3
    assert seeds_for(rows, PLACE)[0] == {"BLOCK": 1}


def test_the_order_of_the_log_does_not_matter():
    rows = [outcome(block, gain=None) for block in (32, 16, 128, 64)]
    assert seeds_for(rows, PLACE) == seeds_for(rows[::-1], PLACE)

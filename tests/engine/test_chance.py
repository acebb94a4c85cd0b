"""The Beta posterior over past outcomes."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kbs_engine.chance import Context, age_weight, chance_of, distance_weight
from kbs_engine.outcomes import Outcome

AS_OF = date(2026, 6, 1)
HERE = Context(family="gemm", language="triton", arch="sm_90a", limiter="tensor")


def outcome(verdict="effective", machine="m1", **changes):
    fields = {
        "method": "split_k", "verdict": verdict, "kernel": "gemm", "language": "triton",
        "chip": "h100_sxm", "arch": "sm_90a", "limiter": "tensor", "correct": True,
        "integrity": True, "machine": machine, "date": "2026-06-01",
    }  # fmt: skip
    return Outcome(**{**fields, **changes})


def mean(outcomes, context=HERE):
    return chance_of(outcomes, context, as_of=AS_OF).mean


def test_without_outcomes_the_prior_is_an_even_chance():
    assert mean([]) == 0.5


def test_success_raises_and_failure_lowers():
    assert mean([outcome()]) > 0.5 > mean([outcome("ineffective")])
    assert mean([outcome("harmful")]) < 0.5
    assert mean([outcome("implementation_failed")]) < 0.5
    assert mean([outcome("inseparable")]) == 0.5


def test_nearer_outcomes_weigh_more():
    near = outcome()
    same_arch = outcome(kernel="softmax")
    far = outcome(arch="sm_80")
    weights = [distance_weight(row, HERE) for row in (near, same_arch, far)]
    assert weights == sorted(weights, reverse=True)
    assert len(set(weights)) == 3
    assert mean([near]) > mean([same_arch]) > mean([far]) > 0.5


def test_half_is_lost_every_ninety_days():
    old = outcome(date=str(AS_OF - timedelta(days=90)))
    assert age_weight(old, AS_OF) == pytest.approx(0.5)
    assert age_weight(outcome(date="nonsense"), AS_OF) == 0.5
    assert mean([outcome()]) > mean([old]) > 0.5


def test_machines_count_not_rows():
    one_machine = [outcome(machine="m1") for _ in range(50)]
    machines = [outcome(machine=f"m{i}") for i in range(10)]
    assert mean(machines) > mean(one_machine)
    assert chance_of(one_machine, HERE, as_of=AS_OF).counts.machines == 1


def test_unverified_records_count_for_less():
    assert mean([outcome()]) > mean([outcome(verified=False)]) > 0.5


def test_a_success_without_correctness_cannot_be_recorded():
    with pytest.raises(ValueError, match="without passed verdicts"):
        outcome(correct=False)


rows = st.builds(
    outcome,
    verdict=st.sampled_from(["effective", "ineffective", "harmful", "inseparable"]),
    machine=st.sampled_from(["a", "b", "c"]),
    arch=st.sampled_from(["sm_90a", "sm_80"]),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(rows, max_size=12), st.randoms())
def test_order_does_not_matter_and_bounds_hold(outcomes, random):
    found = chance_of(outcomes, HERE, as_of=AS_OF)
    assert 0 <= found.low <= found.mean <= found.high <= 1
    random.shuffle(outcomes)
    assert chance_of(outcomes, HERE, as_of=AS_OF).mean == pytest.approx(found.mean)

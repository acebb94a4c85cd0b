"""Ablation truth on simulated kernels whose single and joint effects are known."""

import itertools
import math

import msgspec
import pytest

from kbs_engine.ablation import attribute, factorial_group, plan_variants, variant_name, verdicts
from kbs_engine.errors import InputError, MeasurementError, UsageError
from kbs_engine.results import Timed
from tests.engine.timing.simulated import timed


def measured(truth, variants, *, seed=0, processes=3, calls=30):
    """``truth``: set of methods that are on -> time factor."""
    on = [frozenset(m for m, is_on in v.items() if is_on) for v in variants]
    return timed([truth(s) for s in on], seed=seed, processes=processes, calls=calls, offset=0.002)


def product(**speedups):
    return lambda on: 1 / math.prod(speedups[m] for m in on)


def run(truth, methods, mode="loo", **more):
    variants = plan_variants(methods, mode)
    return attribute(measured(truth, variants, **more), variants)


@pytest.mark.parametrize("mode", ["loo", "factorial"])
def test_single_effects_agree_with_the_truth(mode):
    true = {"a": 1.30, "b": 1.10, "c": 1.0, "d": 0.85}
    found = run(product(**true), tuple(true), mode)
    for method, factor in true.items():
        effect = found.of(method).speedup
        assert effect.low <= factor <= effect.high, method
    assert [e.effect for e in found.effects] == ["helps", "helps", "within noise", "harms"]
    assert found.total.low <= math.prod(true.values()) <= found.total.high
    assert not found.needs_factorial
    given_codes = dict.fromkeys(true, "confirmed")
    assert list(verdicts(found, given_codes).values()) == [
        "effective", "effective", "ineffective", "harmful",
    ]  # fmt: skip


def either(on):
    """a and b do the same thing; c does nothing."""
    return 1 / 1.25 if on & {"a", "b"} else 1.0


def test_two_redundant_switches_come_out_inseparable():
    loo = run(either, ("a", "b", "c"))
    assert loo.needs_factorial
    assert loo.of("a").effect == loo.of("b").effect == "inseparable"
    found = run(either, ("a", "b", "c"), "factorial")
    assert found.of("a").effect == found.of("b").effect == "inseparable"
    assert found.of("a").partners == ("b",)
    assert found.of("a").alone.low <= 1.25 <= found.of("a").alone.high
    assert found.of("c").effect == "within noise"
    assert verdicts(found, {}) == {"a": "inseparable", "b": "inseparable", "c": "ineffective"}


def test_the_factorial_finds_the_interaction():
    found = run(either, ("a", "b", "c"), "factorial")
    pair = next(i for i in found.interactions if i.methods == ("a", "b"))
    assert pair.significant
    assert pair.factor.low <= 1 / 1.25 <= pair.factor.high
    assert [i.methods for i in found.interactions if i.significant] == [("a", "b")]


def test_synergy_is_an_interaction_and_both_are_effective():
    def both(on):
        return 1 / 1.2 if {"a", "b"} <= on else 1.0

    assert run(both, ("a", "b", "c")).needs_factorial
    found = run(both, ("a", "b"), "factorial")
    assert {e.effect for e in found.effects} == {"helps"}
    assert found.interactions[0].significant
    assert found.interactions[0].factor.ratio == pytest.approx(1.2, rel=0.02)


def test_shares_multiply_to_the_total():
    def truth(on):
        return (0.8 if "a" in on else 1.0) * (0.9 if {"a", "b"} <= on else 1.0)

    found = run(truth, ("a", "b", "c"), "factorial")
    shares = math.prod(effect.share.ratio for effect in found.effects)
    assert shares == pytest.approx(found.total.ratio, rel=0.01)


def test_a_partly_redundant_switch_needs_the_factorial():
    def truth(on):
        return 1 / max([1.20] * ("a" in on) + [1.15] * ("b" in on) + [1.0])

    loo = run(truth, ("a", "b"))
    assert loo.of("a").effect == "helps"
    assert loo.of("b").effect == "inseparable"
    assert run(truth, ("a", "b"), "factorial").of("b").effect == "inseparable"


def test_a_variant_that_fails_leaves_its_method_unmeasured():
    variants = plan_variants(("a", "b"))
    data = measured(product(a=1.2, b=1.1), variants)
    broken = msgspec.structs.replace(data.arms[1], reason="wrong_result", samples_ns=())
    data = Timed(arms=(data.arms[0], broken, *data.arms[2:]), timer="simulated")
    found = attribute(data, variants)
    assert found.of("a").effect == "not measured"
    assert "wrong_result" in found.of("a").detail
    assert found.of("b").effect == "helps"
    assert not found.needs_factorial
    assert verdicts(found, {})["a"] == "inseparable"


def test_an_incomplete_factorial_says_so():
    variants = plan_variants(("a", "b"), "factorial")
    data = measured(product(a=1.2, b=1.1), variants)
    last = msgspec.structs.replace(data.arms[-1], reason="hung", samples_ns=())
    found = attribute(Timed(arms=(*data.arms[:-1], last), timer="simulated"), variants)
    assert found.total is None
    assert any("incomplete" in note for note in found.notes)
    assert found.of("a").effect == "helps"


def test_a_single_method_is_its_own_total():
    found = run(product(a=1.2), ("a",))
    assert found.total == found.of("a").speedup
    assert found.of("a").gain == pytest.approx(1 - 1 / 1.2, abs=0.01)
    low, high = found.of("a").gain_interval
    assert low <= 1 - 1 / 1.2 <= high


def test_a_refused_champion_attributes_nothing():
    variants = plan_variants(("a",))
    data = measured(product(a=1.2), variants)
    bad = msgspec.structs.replace(data.arms[0], reason="cached_output")
    with pytest.raises(MeasurementError, match="cached_output"):
        attribute(Timed(arms=(bad, data.arms[1]), timer="x"), variants)


def test_variants_and_arms_must_match():
    variants = plan_variants(("a", "b"))
    with pytest.raises(InputError, match="4 variants and 2 timed arms"):
        attribute(timed([1.0, 1.0]), variants)
    with pytest.raises(InputError, match="every method on"):
        attribute(timed([1.0, 1.0]), variants[2:])


def test_false_verdicts_on_switches_that_do_nothing_are_rare():
    """60 ablations of three idle switches: 180 single effects, none called; fixed seeds."""
    wrong = 0
    for seed in range(60):
        found = run(lambda on: 1.0, ("a", "b", "c"), seed=seed, calls=20)
        wrong += found.needs_factorial or any(e.effect != "within noise" for e in found.effects)
    assert wrong <= 3


def test_plans():
    loo = plan_variants(("a", "b"))
    assert loo == (
        {"a": True, "b": True}, {"a": False, "b": True}, {"a": True, "b": False},
        {"a": False, "b": False},
    )  # fmt: skip
    assert [variant_name(v) for v in loo] == ["full", "no_a", "no_b", "off_a+b"]
    assert plan_variants(("a",)) == ({"a": True}, {"a": False})
    states = {tuple(v.values()) for v in plan_variants(("a", "b", "c"), "factorial")}
    assert states == set(itertools.product((True, False), repeat=3))
    some = plan_variants(("a", "b", "c"), "factorial", among=("a", "c"))
    assert len(some) == 4
    assert all(v["b"] for v in some)


@pytest.mark.parametrize("methods", [(), ("a", "a")])
def test_a_plan_names_each_method_once(methods):
    with pytest.raises(UsageError, match="name each method once"):
        plan_variants(methods)


def test_a_factorial_stays_affordable():
    with pytest.raises(UsageError, match="32 variants"):
        plan_variants(tuple("abcde"), "factorial")


def test_the_factorial_among_some_leaves_the_others_on():
    def truth(on):
        return either(on) * (0.9 if "c" in on else 1.0)

    variants = plan_variants(("a", "b", "c"), "factorial", among=("a", "b"))
    found = attribute(measured(truth, variants), variants)
    assert {e.method for e in found.effects} == {"a", "b"}
    assert {e.effect for e in found.effects} == {"inseparable"}


def test_the_group_for_the_factorial_holds_what_could_not_be_told_apart():
    def truth(on):
        return either(on) * (0.7 if "d" in on else 1.0)

    group = factorial_group(run(truth, ("a", "b", "c", "d", "e")))
    assert len(group) == 4
    assert {"a", "b"} <= set(group)

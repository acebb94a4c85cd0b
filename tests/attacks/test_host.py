"""Every attack that a machine without a GPU can run, against the host device."""

import pytest

from kbs_engine.jobs import Time
from kbs_engine.results import Timed, read
from tests.attacks.cases import CASES
from tests.attacks.manifest import SMALL_DIMS, TWIN_TASKS, TWINS, attacks, twins
from tests.attacks.suite import SETTINGS, failure_of
from tests.probes.selection import of_the_week


def some_a_week():
    """A third of the attacks on the host, others every week; the rest is part of the sweep."""
    rows = attacks("host")
    now = of_the_week([name(row) for row in rows], len(rows) // 3)
    for row in rows:
        marks = [] if name(row) in now else [pytest.mark.sweep]
        yield pytest.param(row, id=name(row), marks=marks)


def name(attack):
    return f"{attack.id}-{attack.file}"


@pytest.mark.parametrize("attack", list(some_a_week()))
def test_an_attack_is_refused_or_pays_its_honest_cost(attack, bench, tight_bench):
    outcome = (tight_bench if attack.tight else bench).run(attack)
    assert failure_of(attack, outcome) is None


@pytest.mark.parametrize("stem", twins())
def test_an_honest_twin_passes(stem, bench):
    outcome = bench.run_twin(stem, TWIN_TASKS.get(stem, "silu_bias"), SMALL_DIMS.get(stem))
    assert outcome.code == "accepted", outcome.detail


@pytest.mark.parametrize("attack", [a for a in attacks("engine") if a.case], ids=lambda a: a.id)
def test_an_attack_on_the_harness_is_refused(attack):
    assert CASES[attack.case](off=False).code in attack.expect


def test_the_next_candidate_is_measured_normally(tight_bench):
    for attack in attacks("host"):
        if attack.id in ("X1", "X3", "X6", "T12"):
            assert tight_bench.run(attack).code != "accepted"
            assert tight_bench.run_twin("in_place", "silu_bias").code == "accepted"


@pytest.fixture(scope="module")
def two_pairs(bench):
    source = bench.source(TWINS / "in_place.py")
    other = bench.source(TWINS / "workspace_by_shape.py")
    job = Time(
        arms=(source, other), task=bench.task("silu_bias", {}), settings=SETTINGS,
        fresh_processes=2,
    )  # fmt: skip
    return read(bench.device.submit(job).result(), Timed)


def test_both_arms_start_in_fresh_processes(two_pairs):
    first, second = two_pairs.arms
    assert set(first.process) == set(second.process) == {0, 1}
    assert first.process == second.process


def test_both_clocks_are_stored(two_pairs):
    for arm in two_pairs.arms:
        assert len(arm.host_ns) == len(arm.samples_ns) > 0
    assert two_pairs.timer == "perf_counter_ns"

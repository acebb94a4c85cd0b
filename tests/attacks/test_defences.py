"""No defence is decorative: without any one of them, an attack gets through."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kbs_engine.refusals import DEFENCES, REASONS
from tests.attacks.cases import CASES
from tests.attacks.manifest import TASKS, attacks

ROOT = Path(__file__).resolve().parents[2]
NEEDS_GPU = {"l2_flush"}
"""Defences against what only a GPU has; proved by record_gpu.py."""


def got_through(attack, outcome) -> bool:
    """Accepted; where even with the defence it is accepted, faster than it may be."""
    return outcome.code == "accepted" and (outcome.faster or not attack.honest)


def _best_try(bench, attack):
    """Some attacks race with the owner: one success in ten is a success of the attack."""
    for _ in range(10):
        outcome = bench.run(attack)
        if got_through(attack, outcome):
            break
    return outcome


SWITCHED = sorted({a.without for a in attacks("host") if a.without})


@pytest.mark.sweep
@pytest.mark.parametrize("defence", SWITCHED)
def test_without_it_an_attack_gets_through(defence, make_bench):
    bench = make_bench(off=(defence,))
    tried = [attack for attack in attacks("host") if attack.without == defence]
    outcomes = {attack.id: _best_try(bench, attack) for attack in tried}
    bench.device.close()
    shut = [a.id for a in tried if not got_through(a, outcomes[a.id])]
    assert not shut, {i: outcomes[i] for i in shut}


@pytest.mark.parametrize(
    "attack", [a for a in attacks("engine") if a.case and a.without], ids=lambda a: a.without
)
def test_without_it_an_attack_on_the_harness_gets_through(attack):
    assert CASES[attack.case](off=True).code == "accepted"
    assert CASES[attack.case](off=False).code != "accepted"


@pytest.fixture(scope="module")
def naive():
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.attacks.naive"], cwd=ROOT, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip

    def ask(attack):
        request = {"kernel": str(attack.path), "task": str(TASKS / f"{attack.task}.py")}
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    yield ask
    process.stdin.close()
    process.stdout.close()
    process.wait(timeout=10)
    Path("/dev/shm/kbs_attack_replay.pt").unlink(missing_ok=True)


@pytest.mark.parametrize(
    "attack", [a for a in attacks("host") if a.naive], ids=lambda a: f"{a.naive}-{a.id}"
)
def test_a_harness_without_it_is_fooled(attack, naive):
    answer = naive(attack)
    if attack.naive == "resource_limits":
        assert answer["died"] < 0  # in one process with the harness, the run is lost
    elif attack.naive == "pinned_baseline":
        assert answer["speedup"] > 10
    else:
        assert answer["passed"]


def test_every_defence_is_proved():
    shown = {a.without for a in attacks()} | {a.naive for a in attacks()}
    refusing = {REASONS[c].defence for a in attacks("host") for c in a.codes}
    for defence in DEFENCES.values():
        if defence.how == "switch" and defence.id not in NEEDS_GPU:
            assert defence.id in shown, defence.id
        if defence.how == "structure":
            assert defence.id in shown | refusing, defence.id

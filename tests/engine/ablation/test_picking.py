"""Variants are found among the arms of a timing that rivals are in too."""

from __future__ import annotations

import pytest

from kbs_engine.ablation import attribute, pick_arms, places_of
from kbs_engine.results import ArmTimes, Timed

TURNS = 12


def timing(*sources: str, ns: dict[str, float] | None = None) -> Timed:
    """Arms by their hashes, in turns A B C C B A over three process pairs."""
    count = len(sources)
    arms = []
    for place, sha256 in enumerate(sources):
        turns = [i * count + (place if i % 2 == 0 else count - 1 - place) for i in range(TURNS)]
        base = (ns or {}).get(sha256, 100.0)
        samples = [base * (1 + 0.001 * ((7 * i + place) % 5)) for i in range(3 * TURNS)]
        arms.append(
            ArmTimes(name="kernel.py", sha256=sha256, samples_ns=tuple(samples),
                     process=tuple(i // TURNS for i in range(3 * TURNS)), position=(*turns,) * 3)
        )  # fmt: skip
    return Timed(arms=tuple(arms), timer="host")


@pytest.mark.parametrize(
    ("arms", "variants", "places"),
    [
        ("cxy", "xy", (1, 2)),
        ("cbzxy", "xy", (3, 4)),
        ("cbzx", "zx", (2, 3)),  # v0 is a variant
        ("cbz", "zz", (2, 2)),  # two variants of one source share its arm
        ("cxx", "xx", (1, 2)),  # or have one each
        ("cbz", "zc", None),  # the champion is no variant of itself
        ("cbz", "", ()),
    ],
)
def test_each_variant_has_its_arm(arms, variants, places):
    assert places_of(timing(*arms), tuple(variants)) == places


def test_effects_in_a_wider_timing_are_those_of_one_without_rivals():
    ns = {"c": 100.0, "x": 150.0, "b": 130.0, "z": 300.0}
    variants = [{"m": True}, {"m": False}]
    wide = timing("c", "b", "z", "x", ns=ns)
    one = attribute(pick_arms(wide, places_of(wide, ["x"])), variants).of("m")
    two = attribute(timing("c", "x", ns=ns), variants).of("m")
    assert one.effect == two.effect == "helps"
    assert one.gain == pytest.approx(two.gain, abs=0.005)
    assert one.speedup.process_pairs == 3
    assert one.speedup.pairs == two.speedup.pairs

"""Attacks on the harness itself that no kernel carries out: each returns how it ended.

``off`` switches the case's own defence off; cases without such a switch ignore it.
"""

from collections.abc import Callable

import msgspec
import numpy as np

from kbs_engine.ablation import attribute, plan_variants, verdicts
from kbs_engine.facts import Basis, Chip, Citation, Spec
from kbs_engine.opcodes import FunctionListing, Instruction, OpcodePattern
from kbs_engine.results import ArmTimes, Checked, Timed
from kbs_engine.signatures import Claim, Signature, verdict
from kbs_engine.timing import abba, apply_floor, check_gain, compare, physics_floor
from kbs_engine.work import Work
from tests.attacks.suite import Outcome

_CITED = Citation(path="hardware/nvidia/test_chip.md", line=1)


def _interleaved(factors, *, order, seed=0, drift=0.0, noise=0.003, base=20_000.0, processes=1):
    rng = np.random.default_rng(seed)
    samples = [[] for _ in factors]
    places = [[] for _ in factors]
    for place, arm in enumerate(order):
        time_ns = base * factors[arm] * np.exp(drift * place + rng.normal(0.0, noise))
        samples[arm].append(float(time_ns))
        places[arm].append(place)
    arms = tuple(
        ArmTimes(
            name=f"k{i}",
            samples_ns=tuple(s),
            position=tuple(p),
            process=tuple(place * processes // len(order) for place in p),
        )
        for i, (s, p) in enumerate(zip(samples, places, strict=True))
    )
    return Timed(arms=arms, timer="simulated")


def one_shape_near_zero(*, off: bool) -> Outcome:
    """T15: the result of one shape is claimed in 10 ns; its bytes alone take longer."""
    chip = Chip(
        id="test_chip", name="Test chip", vendor="nvidia", architecture="Test", arch="sm_00",
        citation=_CITED,
        specs=(
            Spec(chip="test_chip", metric="memory_bandwidth", words="", value=3.0, unit="TB/s",
                 basis=Basis(), source="made up for this test", citation=_CITED),
        ),
    )  # fmt: skip
    timed = Timed(arms=(ArmTimes(name="cheat", samples_ns=(10.0,) * 20),), timer="simulated")
    if not off:
        work = Work(kernel="elementwise", dtype="fp32", bytes_in=6e7, bytes_out=0.0)
        timed = apply_floor(timed, physics_floor(work, chip))
    return Outcome(code=timed.arms[0].reason or "accepted", by="time")


def small_lies_about_time(*, off: bool) -> Outcome:
    """T14b: 1.9 µs less than true in every answer, within what the clocks tolerate."""
    data = _interleaved((1.0, 1.0), order=abba(2, 60), processes=3)
    rng = np.random.default_rng(1)
    arms = []
    for index, arm in enumerate(data.arms):
        true = np.asarray(arm.samples_ns)
        host = true + 80_000.0 + rng.gamma(2.0, 300.0, true.size)
        lie = 1_900.0 if index == 0 else 0.0
        arms.append(msgspec.structs.replace(arm, samples_ns=tuple(true - lie), host_ns=tuple(host)))
    timed = msgspec.structs.replace(data, arms=tuple(arms))
    found = None if off else check_gain(timed, 0, 1)
    return Outcome(
        code="accepted" if found is None or found.ok else str(found.reason), by="compare"
    )


def drifting_clocks(*, off: bool) -> Outcome:
    """T26: the card warms up; the reference ran first, or both took turns."""
    order = abba(2, 30)
    timed = _interleaved(
        (1.0, 1.0), order=tuple(sorted(order, reverse=True)) if off else order, drift=-0.002
    )
    if not off:
        return Outcome(code=compare(timed, 0, 1).verdict, by="compare")
    first, second = (float(np.median(arm.samples_ns)) for arm in timed.arms)
    return Outcome(code="within noise" if abs(second / first - 1.0) < 0.02 else "accepted")


def best_of_many(*, off: bool) -> Outcome:
    """T27: the luckiest of forty equal branches, measured again before anything is claimed."""
    del off
    tries = [_interleaved((1.0, 1.0), order=abba(2, 4), seed=s, noise=0.06) for s in range(40)]
    lucky = max(np.mean(t.arms[1].samples_ns) / np.mean(t.arms[0].samples_ns) for t in tries)
    assert lucky > 1.02
    again = _interleaved((1.0, 1.0), order=abba(2, 50), seed=99, noise=0.06)
    return Outcome(code=compare(again, 0, 1).verdict, by="compare")


def timer_is_told(*, off: bool) -> Outcome:
    """T29: a timing without its timer is no record."""
    del off
    try:
        msgspec.convert({"arms": []}, Timed)
    except msgspec.ValidationError:
        return Outcome(code="timer stored", by="record")
    return Outcome(code="accepted")


def success_without_rounds(*, off: bool) -> Outcome:
    """B11: a passed check that compared nothing cannot be written down."""
    del off
    try:
        Checked(passed=True)
    except ValueError:
        return Outcome(code="record refused", by="record")
    return Outcome(code="accepted")


def ghost_optimization(*, off: bool) -> Outcome:
    """B5: a switch whose branch is never taken: the ablation finds no effect."""
    del off
    variants = plan_variants(("ghost",))
    timed = _interleaved((1.0, 1.0), order=abba(2, 50))
    found = attribute(timed, variants)
    return Outcome(code=verdicts(found, {"ghost": "confirmed"})["ghost"], by="ablation")


def opcode_by_name_only(*, off: bool) -> Outcome:
    """B15: a function called after an opcode that it does not hold."""
    del off
    signature = Signature(
        method="async_copy",
        claims=(Claim(arch=("sm_90",), all_of=(OpcodePattern(opcode="LDGSTS*"),)),),
    )
    listing = FunctionListing(
        name="kernel_with_LDGSTS_async_copy",
        instructions=(Instruction(address=0, mnemonic="LDG", operands=("R1", "[R2]")),),
    )
    return Outcome(code=verdict(signature, "sm_90", listing).outcome, by="opcodes")


def names_stay_in_variants(*, off: bool) -> Outcome:
    """B17: switching a method off leaves the names of kernels alone."""
    del off
    from kbs_backends.variants import write_variant

    text = (
        "#define PAD 1  // kbs:method smem_padding\n"
        'extern "C" __global__ void scale(float* x) { x[threadIdx.x] *= PAD ? 2.0f : 2.0f; }\n'
    )
    other = write_variant(text, "cuda-cpp", {}, {"smem_padding": False})
    changed = [a for a, b in zip(text.splitlines(), other.splitlines(), strict=True) if a != b]
    kept = len(changed) == 1 and "PAD" in changed[0] and "void scale(" in other
    return Outcome(code="names kept" if kept else "accepted", by="variants")


CASES: dict[str, Callable[..., Outcome]] = {
    function.__name__: function
    for function in (
        one_shape_near_zero, small_lies_about_time, drifting_clocks, best_of_many, timer_is_told,
        success_without_rounds, ghost_optimization, opcode_by_name_only, names_stay_in_variants,
    )
}  # fmt: skip

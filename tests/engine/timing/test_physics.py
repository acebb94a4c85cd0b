"""The physics floor: impossible times are refused, honest ones near the roof never."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbs_engine.facts import Basis, Chip, Citation, Spec
from kbs_engine.results import ArmTimes, Timed
from kbs_engine.timing import apply_floor, floor_ns, last_level_cache, physics_floor
from kbs_engine.work import Work

CITED = Citation(path="hardware/nvidia/test_chip.md", line=7)


def spec(metric, value, unit, **basis):
    return Spec(
        chip="test_chip", metric=metric, words=metric, value=value, unit=unit, grade="A",
        basis=Basis(**basis), source="made up for this test", citation=CITED,
    )  # fmt: skip


def peak(metric, value, clock=1.8e9):
    return spec(metric, value, "TFLOPS", density="dense", clock_hz=clock)


CHIP = Chip(
    id="test_chip", name="Test chip", vendor="nvidia", architecture="Test", arch="sm_00",
    citation=CITED,
    specs=(
        spec("memory_bandwidth", 3.0, "TB/s"), spec("l2_size", 50.0, "MB"),
        peak("peak_fp32", 60.0), peak("peak_fp64", 30.0), peak("peak_fp64_tensor", 60.0),
        peak("peak_tf32_tensor", 480.0), peak("peak_fp16_tensor", 960.0),
        peak("peak_bf16_tensor", 960.0), peak("peak_int8_tensor", 1920.0),
    ),
)  # fmt: skip
MB = 1e6


def work(**given_work):
    return Work(**{"kernel": "softmax", "dtype": "fp32", **given_work})


def test_writes_may_stay_in_the_cache():
    small = physics_floor(work(bytes_in=67 * MB, bytes_out=50 * MB), CHIP)
    assert small.time_ns == pytest.approx(67 * MB / 3e12 * 1e9)
    large = physics_floor(work(bytes_in=67 * MB, bytes_out=67 * MB), CHIP)
    assert large.time_ns == pytest.approx((67 + 17) * MB / 3e12 * 1e9)
    assert large.binding == "memory"
    assert "gpu-wiki/hardware/nvidia/test_chip.md:L7" in large.citations[0]


def test_input_that_was_not_flushed_lowers_the_floor():
    resident = last_level_cache(CHIP)
    assert resident == 50 * MB
    assert floor_ns(work(bytes_in=40 * MB, bytes_out=0), CHIP, resident_bytes=resident) is None


def test_what_the_timer_cannot_see_is_given_away():
    plain = floor_ns(work(bytes_in=67 * MB, bytes_out=0), CHIP)
    assert floor_ns(work(bytes_in=67 * MB, bytes_out=0), CHIP, timer_step_ns=500) == plain - 500


@pytest.mark.parametrize("family", ["gather_scatter", "attention", "sparse", "fused", "other"])
def test_input_that_may_be_skipped_binds_only_when_declared(family):
    task = work(kernel=family, bytes_in=67 * MB, bytes_out=0)
    counted = physics_floor(task, CHIP, bytes_from="counted")
    assert counted.time_ns is None
    assert any("declare `bytes`" in note for note in counted.notes)
    assert floor_ns(task, CHIP, bytes_from="declared") is not None


def test_counted_arithmetic_of_a_convolution_may_be_winograd():
    task = work(kernel="convolution", flops=1e12)
    assert floor_ns(task, CHIP, flops_from="counted") is None
    assert floor_ns(task, CHIP, flops_from="declared") is not None


def test_a_split_product_may_beat_the_vector_pipe():
    """fp32 as three TF32 or bf16 products: the fastest is bf16 / 3, not 60 TFLOPS."""
    task = work(kernel="gemm", flops=1e12)
    assert floor_ns(task, CHIP) == pytest.approx(1e12 / (960e12 / 3) * 1e9)
    counted = floor_ns(task, CHIP, flops_from="counted")
    assert counted == pytest.approx(floor_ns(task, CHIP) * 49 / 64)


def test_tf32_binds_where_it_is_permitted():
    task = work(kernel="gemm", flops=1e12, permitted=("fp32", "tf32"))
    floor = physics_floor(task, CHIP)
    assert floor.compute_ns == pytest.approx(1e12 / 960e12 * 1e9)
    assert floor.binding == "compute"


def test_the_peak_is_taken_at_the_maximum_clock_and_never_below_its_own():
    task = work(kernel="gemm", flops=1e12, dtype="fp16")
    plain = floor_ns(task, CHIP)
    assert floor_ns(task, CHIP, max_clock_hz=1.98e9) == pytest.approx(plain / 1.1)
    assert floor_ns(task, CHIP, max_clock_hz=1.0e9) == plain


def test_a_hole_in_the_wiki_leaves_no_floor():
    holed = msgspec.structs.replace(
        CHIP, specs=tuple(s for s in CHIP.specs if s.metric != "peak_bf16_tensor")
    )
    floor = physics_floor(work(kernel="gemm", flops=1e12), holed)
    assert floor.time_ns is None
    assert any("peak_bf16_tensor" in note for note in floor.notes)


def test_unknown_work_leaves_no_floor():
    assert floor_ns(work(), CHIP) is None
    assert floor_ns(work(bytes_in=1e9, bytes_out=0), CHIP, bytes_from="unknown") is None


@given(st.floats(1e3, 1e12), st.floats(0, 1e12), st.floats(0, 1e12))
def test_the_floor_grows_with_the_work_and_never_exceeds_the_plain_roof(bytes_in, bytes_out, more):
    low = floor_ns(work(bytes_in=bytes_in, bytes_out=bytes_out), CHIP)
    high = floor_ns(work(bytes_in=bytes_in + more, bytes_out=bytes_out), CHIP)
    assert low <= high
    assert low <= (bytes_in + bytes_out) / 3e12 * 1e9 * (1 + 1e-12)


def test_an_impossible_arm_is_refused_and_an_honest_one_is_not():
    floor = physics_floor(work(bytes_in=60 * MB, bytes_out=0), CHIP)
    honest = ArmTimes(name="honest", samples_ns=(19_900.0, *[20_500.0] * 19))
    cheat = ArmTimes(name="cheat", samples_ns=(300.0,) * 20)
    judged = apply_floor(Timed(arms=(honest, cheat), timer="x"), floor)
    assert judged.arms[0].reason is None
    assert judged.arms[0].floor_ns == floor.time_ns
    assert judged.arms[1].reason == "faster_than_physics"
    assert "300 ns" in judged.arms[1].detail


def test_an_older_reason_stays():
    floor = physics_floor(work(bytes_in=60 * MB, bytes_out=0), CHIP)
    arm = ArmTimes(name="cheat", samples_ns=(300.0,) * 20, reason="late_write")
    assert apply_floor(Timed(arms=(arm,), timer="x"), floor).arms[0].reason == "late_write"


def test_nothing_is_judged_without_a_floor():
    timed = Timed(arms=(ArmTimes(name="a", samples_ns=(1.0,)),), timer="x")
    assert apply_floor(timed, physics_floor(work(), CHIP)) is timed

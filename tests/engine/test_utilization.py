"""Static occupancy against what ncu printed, waves, tail, and tile minimum."""

from __future__ import annotations

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbs_engine.occupancy import LIMITS, Launch, occupancy
from kbs_engine.utilization import Matrix, tail_of, tiles_of, utilization
from kbs_ingest.readers import read_report
from tests.conftest import REPORT


@pytest.fixture(scope="module")
def launches(store):
    return read_report(REPORT, store.metric_map("nvidia")).profiles


def asked(metrics, **more):
    shared = metrics["shared_static_bytes"] + metrics["shared_dynamic_bytes"]
    return Launch(
        block=int(metrics["block_size"]),
        registers=int(metrics["registers_per_thread"]),
        shared_bytes=shared,
        **more,
    )


@pytest.mark.parametrize("number", range(5))
def test_occupancy_and_waves_are_those_that_ncu_prints(chip, launches, number):
    metrics = launches[number].metrics
    launch = asked(metrics, shared_config_bytes=metrics["shared_config_bytes"])
    found = occupancy(chip("h100_sxm"), launch)
    blocks = {limit.resource: limit.blocks for limit in found.limits}
    assert found.fits
    assert blocks == {
        "blocks": metrics["occupancy_limit_blocks"],
        "warps": metrics["occupancy_limit_warps"],
        "registers": metrics["occupancy_limit_registers"],
        "shared": metrics["occupancy_limit_shared"],
    }
    assert found.occupancy_pct == pytest.approx(metrics["theoretical_occupancy_pct"], abs=1e-9)
    assert found.warps_per_unit == metrics["theoretical_warps_per_sm"]
    tail = tail_of(int(metrics["grid_size"]), 132, found.blocks_per_unit)
    assert tail.waves == pytest.approx(metrics["waves_per_sm"], abs=1e-9)


@pytest.mark.parametrize("number", range(5))
def test_without_the_carve_out_the_occupancy_is_the_same_here(chip, launches, number):
    metrics = launches[number].metrics
    found = occupancy(chip("h100_sxm"), asked(metrics))
    assert found.occupancy_pct == pytest.approx(metrics["theoretical_occupancy_pct"])


def test_every_limit_is_cited(chip):
    found = occupancy(chip("h100_sxm"), Launch(block=128, registers=32))
    assert len(found.citations) == len(LIMITS)
    assert all(" <- gpu-wiki/hardware/nvidia/" in line for line in found.citations)


@pytest.mark.parametrize("name", [n for n in LIMITS if n not in (
    "unit_count", "max_threads_per_block", "registers_per_thread_max", "registers_per_block_max",
    "shared_per_block_max")])  # fmt: skip
def test_an_unknown_limit_makes_the_answer_unknown(chip, name):
    whole = chip("h100_sxm")
    bare = msgspec.structs.replace(
        whole, specs=tuple(spec for spec in whole.specs if spec.metric != name)
    )
    found = utilization(bare, Launch(block=128, registers=32), 1000)
    assert found.occupancy.fits is None
    assert found.occupancy.occupancy_pct is None
    assert name in found.occupancy.unknown
    assert found.tail is None
    assert any(f"{name}: UNKNOWN (gpu-wiki not found)" in c for c in found.occupancy.citations)


@pytest.mark.parametrize("name", ["rtx_5090", "b200", "mi300x"])
def test_chips_whose_allocation_units_nobody_cites_are_unknown(chip, name):
    found = occupancy(chip(name), Launch(block=256, registers=64))
    assert found.fits is None
    assert "register_alloc_unit" in found.unknown


@pytest.mark.parametrize(
    ("launch", "words"),
    [
        (Launch(block=1025, registers=32), "threads per block"),
        (Launch(block=128, registers=256), "registers per thread"),
        (Launch(block=1024, registers=128), "registers per block"),
        (Launch(block=128, registers=32, shared_bytes=227 * 1024 + 1), "shared memory per block"),
        (Launch(block=128, registers=32, shared_bytes=40_000, shared_config_bytes=32_768),
         "CUDA's reserve"),
    ],
)  # fmt: skip
def test_what_does_not_fit_says_which_limit(chip, launch, words):
    found = occupancy(chip("h100_sxm"), launch)
    assert found.fits is False
    assert any(words in fault for fault in found.faults)


@given(st.integers(1, 10**6), st.integers(1, 200), st.integers(1, 32))
def test_waves_and_tail(grid, units, blocks):
    tail = tail_of(grid, units, blocks)
    assert tail.full_waves * tail.slots + tail.last_wave_blocks == grid
    assert 0 <= tail.tail_share < 1
    assert 0 < tail.balance <= 1
    assert tail.rounds * units >= grid
    assert math.ceil(tail.waves) >= tail.full_waves
    if grid % tail.slots == 0:
        assert tail.tail_share == 0


def test_tile_minimum_of_the_tuned_gemm(chip):
    size = Matrix(m=4096, n=4096, k=4096)
    tile = Matrix(m=128, n=256, k=64)
    launch = Launch(block=256, registers=195, shared_bytes=147456)
    found = utilization(
        chip("h100_sxm"), launch, 512, dims=size, tile=tile, dtype="bf16", time_ns=189_824
    )
    row = found.tile
    assert row.blocks == 512 == tiles_of(size, tile)
    assert row.flops == 2 * 128 * 256 * 4096
    assert row.bytes == 2 * (128 * 4096 + 4096 * 256 + 128 * 256)
    assert row.tile_ns == pytest.approx(row.flops / (989.4e12 / 132) * 1e9)
    assert row.compute_ns == pytest.approx(4 * row.tile_ns)
    assert row.kernel_ns == row.compute_ns > row.memory.time_ns
    assert row.share == pytest.approx(row.kernel_ns / 189_824)
    assert "989.4 TFLOPS <- gpu-wiki/" in row.compute.citation


def test_a_memory_bound_problem_is_held_to_its_compulsory_bytes(chip):
    found = utilization(
        chip("h100_sxm"), Launch(block=128, registers=64), 132,
        dims=Matrix(m=16, n=16896, k=4096), tile=Matrix(m=16, n=128, k=64), dtype="bf16",
    )  # fmt: skip
    assert found.tile.kernel_ns == pytest.approx(found.tile.memory.time_ns)


def test_an_impossible_time_is_told(chip):
    found = utilization(
        chip("h100_sxm"), Launch(block=128, registers=64), 512,
        dims=Matrix(m=4096, n=4096, k=4096), tile=Matrix(m=128, n=256, k=64), dtype="bf16",
        time_ns=1000.0,
    )  # fmt: skip
    assert found.tile.share > 1
    assert any("below this minimum" in note for note in found.notes)


def test_a_dtype_without_a_peak_has_no_tile_minimum(chip):
    found = utilization(
        chip("h100_sxm"), Launch(block=128, registers=64), 512,
        dims=Matrix(m=64, n=64, k=64), tile=Matrix(m=64, n=64, k=64), dtype="int4",
    )  # fmt: skip
    if found.tile.compute is None:
        assert found.tile.kernel_ns is None
        assert any("UNKNOWN" in note for note in found.notes)


def test_extents_are_positive():
    with pytest.raises(ValueError, match="1 or more"):
        Matrix(m=0, n=1, k=1)

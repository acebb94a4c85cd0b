"""Golden examples of the roofline, built by hand on cited specs of the shipped wiki."""

from __future__ import annotations

import msgspec
import pytest

from kbs_engine.facts import Basis, Chip, Citation, Spec
from kbs_engine.roofline import build_roofline
from kbs_engine.work import Work

GEMM_4096 = Work(
    kernel="gemm",
    dtype="bf16",
    permitted=("bf16",),
    flops=2.0 * 4096**3,
    bytes_in=67108864,
    bytes_out=33554432,
)
SOFTMAX = Work(
    kernel="softmax", dtype="fp32", permitted=("fp32",), bytes_in=67108864, bytes_out=67108864
)


def measured(chip: Chip, metric: str, value: float, unit: str) -> Chip:
    """The chip with one measured ceiling added."""
    spec = Spec(
        chip=chip.id,
        metric=metric,
        words=metric,
        value=value,
        unit=unit,
        basis=Basis(density="dense"),
        source="[run] by hand (D)",
        grade="D",
        citation=Citation(path="measured/by_hand.md", line=1),
        measured=True,
    )
    return msgspec.structs.replace(chip, specs=(*chip.specs, spec))


def without_measured(chip: Chip) -> Chip:
    """The chip with its cited specs alone."""
    return msgspec.structs.replace(chip, specs=tuple(s for s in chip.specs if not s.measured))


@pytest.fixture
def h100(chip):
    return without_measured(chip("h100_sxm"))


def roof(line, kind, basis="cited"):
    return next(r for r in line.roofs if r.kind == kind and r.basis == basis)


def test_softmax_is_near_peak_at_cited_bandwidth(h100):
    metrics = {
        "duration_ns": 41184.0, "dram_pct": 81.4, "l2_pct": 82.9,
        "dram_read_bytes": 67123200.0, "dram_write_bytes": 45111552.0, "fma_pct": 10.7,
    }  # fmt: skip
    line = build_roofline(metrics, chip=h100, work=SOFTMAX)
    assert roof(line, "memory").time_ns == pytest.approx(40_065, rel=1e-3)
    assert "3.35 TB/s <- gpu-wiki/hardware/nvidia/h100_sxm.md:L" in roof(line, "memory").citation
    assert line.near_peak
    assert line.limiter == "dram"
    assert line.algorithm_bound == "memory"
    assert any("112.2 MB of 134.2 MB reached DRAM" in flag for flag in line.flags)


def test_a_measured_ceiling_above_the_time_is_flagged_not_refused(h100):
    chip = measured(h100, "memory_bandwidth", 3.0, "TB/s")
    line = build_roofline({"duration_ns": 41184.0}, chip=chip, work=SOFTMAX)
    assert line.model_measured_ns == pytest.approx(44_739, rel=1e-3)
    assert line.model_measured_ns > line.time_ns
    assert line.gap == 0.0
    flag = next(flag for flag in line.flags if "measured ceilings" in flag)
    assert "lies above the measured time" in flag
    assert "impossible" not in " ".join(line.flags)


def test_layernorm_with_excess_traffic_is_not_near_peak(h100):
    work = Work(
        kernel="normalization", dtype="bf16", permitted=("fp32", "bf16"),
        bytes_in=67174400, bytes_out=67108864,
    )  # fmt: skip
    metrics = {
        "duration_ns": 95040.0, "dram_pct": 78.5, "l2_pct": 77.2,
        "dram_read_bytes": 200215552.0, "dram_write_bytes": 49708032.0,
    }  # fmt: skip
    line = build_roofline(metrics, chip=h100, work=work)
    assert not line.near_peak
    assert line.limiter == "dram"
    assert line.gap == pytest.approx(1 - 40.085 / 95.04, abs=0.01)


def test_vendor_gemm_is_near_peak_at_the_clock_that_ran(h100):
    metrics = {"duration_ns": 174624.0, "sm_clock_hz": 1.6152e9, "tensor_pct": 90.2}
    line = build_roofline(metrics, chip=h100, work=GEMM_4096)
    compute = roof(line, "compute")
    rate = GEMM_4096.flops / (metrics["duration_ns"] * 1e-9)
    assert rate == pytest.approx(787e12, rel=1e-3)
    assert rate / compute.cited_value == pytest.approx(0.80, abs=0.01)
    assert rate / compute.value == pytest.approx(0.90, abs=0.01)
    assert line.near_peak
    assert line.algorithm_bound == "compute"
    assert any(flag.startswith("clock_throttled") for flag in line.flags)


def test_starved_tensor_pipe_is_compute_bound_and_far_from_every_roof(h100):
    metrics = {
        "duration_ns": 1558816.0, "sm_clock_hz": 1.798e9, "tensor_pct": 13.6, "l1_pct": 96.2,
        "l2_pct": 64.3, "dram_pct": 13.8,
    }  # fmt: skip
    line = build_roofline(metrics, chip=h100, work=GEMM_4096)
    assert line.algorithm_bound == "compute"
    assert line.limiter == "l1"
    assert line.binding == "none"
    assert not line.near_peak


def test_naive_fp32_gemm_is_compute_bound_and_l1_limited(h100):
    work = Work(
        kernel="gemm", dtype="fp32", permitted=("fp32",), flops=2.0 * 1024**3,
        bytes_in=8388608, bytes_out=4194304,
    )  # fmt: skip
    metrics = {
        "duration_ns": 500_000.0, "compute_pct": 65.0, "fma_pct": 30.0, "l1_pct": 98.0,
        "dram_pct": 0.5, "issue_active_pct": 65.0,
    }  # fmt: skip
    line = build_roofline(metrics, chip=h100, work=work)
    assert line.algorithm_bound == "compute"
    assert line.limiter == "l1"
    assert not line.near_peak


def test_the_empty_launch_is_in_the_model_of_a_short_kernel(h100):
    chip = measured(h100, "empty_launch_time", 2000.0, "ns")
    work = Work(
        kernel="elementwise", dtype="fp32", permitted=("fp32",), flops=1e6,
        bytes_in=10_000_000, bytes_out=10_000_000,
    )  # fmt: skip
    line = build_roofline({"duration_ns": 10_000.0}, chip=chip, work=work)
    memory = roof(line, "memory").time_ns
    assert line.fixed_ns == 2000.0
    assert line.model_ns == pytest.approx(2000.0 + memory)
    assert line.gap == pytest.approx(1 - (2000.0 + memory) / 10_000.0)


def test_decode_attention_at_low_occupancy_claims_no_binding_roof(h100):
    work = Work(
        kernel="attention_decode", dtype="fp16", permitted=("fp16",), flops=4.0e8,
        bytes_in=2e8, bytes_out=1e6,
    )  # fmt: skip
    metrics = {
        "duration_ns": 400_000.0, "achieved_occupancy_pct": 6.0, "dram_pct": 17.0,
        "l2_pct": 20.0, "l1_pct": 12.0, "tensor_pct": 3.0, "issue_active_pct": 9.0,
    }  # fmt: skip
    line = build_roofline(metrics, chip=h100, work=work)
    assert line.limiter == "latency"
    assert line.binding == "none"
    assert not line.near_peak


def test_tf32_changes_the_roof_only_where_it_is_permitted(h100):
    strict = Work(
        kernel="gemm", dtype="fp32", permitted=("fp32",), flops=2.0 * 4096**3,
        bytes_in=134217728, bytes_out=67108864,
    )  # fmt: skip
    loose = msgspec.structs.replace(strict, permitted=("fp32", "tf32"))
    lines = [build_roofline({"duration_ns": 1e6}, chip=h100, work=w) for w in (strict, loose)]
    roofs = [roof(line, "compute") for line in lines]
    assert [r.metric for r in roofs] == ["peak_fp32", "peak_tf32_tensor"]
    assert roofs[0].cited_value == pytest.approx(67e12, rel=0.01)
    assert roofs[1].cited_value == pytest.approx(494.7e12, rel=0.01)
    assert all("<- gpu-wiki/hardware/nvidia/h100_sxm.md:L" in r.citation for r in roofs)


@pytest.mark.parametrize("dtype", ["fp16", "bf16", "fp8_e4m3", "int8"])
def test_sparse_peaks_are_never_used_for_dense_work(h100, dtype):
    work = msgspec.structs.replace(GEMM_4096, dtype=dtype, permitted=(dtype,))
    line = build_roofline({"duration_ns": 1e6}, chip=h100, work=work)
    sparse = {
        spec.base_value
        for spec in h100.specs
        if spec.basis.density == "sparse" and spec.value is not None
    }
    dense = {
        spec.base_value
        for spec in h100.specs
        if spec.metric == roof(line, "compute").metric and spec.basis.density == "dense"
    }
    assert roof(line, "compute").cited_value in dense
    assert roof(line, "compute").cited_value not in sparse or dtype in ("fp8_e4m3", "int8")
    assert roof(line, "compute").cited_value == max(dense)


def test_matrix_peaks_are_no_roof_for_elementwise_work(h100):
    work = Work(
        kernel="elementwise", dtype="bf16", permitted=("bf16",), flops=1e9,
        bytes_in=1e6, bytes_out=1e6,
    )  # fmt: skip
    line = build_roofline({"duration_ns": 1e5}, chip=h100, work=work)
    assert "tensor" not in roof(line, "compute").metric


def test_no_roof_without_a_chip_and_without_work():
    for chip, work in ((None, SOFTMAX), (None, None)):
        line = build_roofline({"duration_ns": 1.0, "dram_pct": 99.0}, chip=chip, work=work)
        assert line.roofs == ()
        assert line.gap is None
        assert line.flags


def test_a_citation_cannot_leave_its_wiki():
    for path in ("/etc/passwd", "../x.md", "a/../../b.md", "a\\b.md", "a//b.md"):
        with pytest.raises(ValueError, match="stays inside"):
            Citation(path=path, line=1)

"""The metric ids of gpu-wiki/hardware/README.md and what each may be measured in.

This is the one table in code; a test compares it with the list on that page.
"""

from __future__ import annotations

import math
from typing import Final

from kbs_engine.facts import Basis
from kbs_engine.units import QUANTITY
from kbs_ingest.wiki.faults import near

DTYPES: Final = (
    "fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "fp6", "fp4", "int8", "int4", "int32",
)  # fmt: skip
WORD, COUNT, NUMBER = "word", "count", "number"
"""Without a unit: a word, a whole number, any number."""
BYTES, RATE, HZ = "bytes", "bytes_per_s", "hz"
OPS, PER_CLOCK, WATT, NS = "ops_per_s", "ops_per_clock", "watt", "ns"
BYTES_PER_CLOCK = "bytes_per_clock"

METRIC_QUANTITY: Final[dict[str, str]] = {
    **dict.fromkeys(
        (
            "gfx_target", "gfxip", "memory_type", "fp8_format", "mma_sync_fp8_opcode",
            "mma_sync_int4_opcode", "tcgen05_int8", "packed_fp32_fma", "tma_multicast",
            "tf32_matrix_instruction",
        ),
        WORD,
    ),
    **dict.fromkeys(
        (
            "unit_count", "unit_count_full_die", "xcd_count", "gpc_count", "fp32_lane_count",
            "tensor_core_count", "tensor_cores_per_unit", "fp32_lanes_per_unit",
            "fp64_lanes_per_unit", "int32_lanes_per_unit", "sub_partitions_per_unit",
            "memory_bus_width", "shared_banks", "warp_size", "max_warps_per_unit",
            "max_warps_per_sub_partition", "max_threads_per_unit", "max_blocks_per_unit",
            "max_threads_per_block", "max_cluster_size", "max_resident_grids",
            "registers_per_unit", "registers_per_block_max", "registers_per_thread_max",
            "registers_per_lane", "register_alloc_unit", "interconnect_links",
            "direct_to_lds_width_max", "load_width_max",
        ),
        COUNT,
    ),
    **dict.fromkeys(
        (
            "compute_capability", "fp32_to_fp64_ratio", "ds_read_b128_cycles", "pcie_generation",
            *(f"mfma_cycles_{dtype}" for dtype in DTYPES),
        ),
        NUMBER,
    ),
    **dict.fromkeys(("clock_base", "clock_boost", "tensor_clock"), HZ),
    **dict.fromkeys(
        (
            "memory_capacity", "l2_size", "infinity_cache_size", "l1_shared_per_unit",
            "l1_per_unit", "shared_per_unit", "shared_per_wgp", "shared_per_block_max",
            "shared_reserved_per_block", "shared_alloc_unit", "tensor_memory_per_unit",
            "constant_memory", "constant_cache_per_unit", "local_memory_per_thread_max",
            "l1_shared_total", "scalar_cache_size", "instruction_cache_size",
            "graphics_l1_size", "register_file_per_unit", "scalar_register_file_per_unit",
            "register_file_listed", "scalar_register_file_listed", "register_file_total",
            "cpu_memory_capacity",
        ),
        BYTES,
    ),
    **dict.fromkeys(("l2_read_bytes_per_clock", "shared_bytes_per_clock"), BYTES_PER_CLOCK),
    **dict.fromkeys(
        (
            "memory_bandwidth", "infinity_cache_bandwidth", "interconnect_bandwidth",
            "interconnect_link_bandwidth", "die_to_die_bandwidth", "cpu_link_bandwidth",
            "cpu_memory_bandwidth", "pcie_bandwidth", "read_bandwidth", "write_bandwidth",
            "l2_bandwidth",
        ),
        RATE,
    ),
    **{f"peak_{dtype}{pipe}": OPS for dtype in DTYPES for pipe in ("", "_tensor")},
    **{f"{pipe}ops_per_clock_{dtype}": PER_CLOCK for dtype in DTYPES for pipe in ("", "tensor_")},
    **dict.fromkeys(
        (
            "packed_ops_per_clock_fp32", "int32_multiply_per_clock", "sfu_per_clock",
            "shuffle_per_clock", "popc_per_clock", "f32_to_f16_per_clock",
            "f32_to_int32_per_clock",
        ),
        PER_CLOCK,
    ),
    "empty_launch_time": NS,
    "tdp": WATT,
}  # fmt: skip
"""What each hardware metric measures."""

_UNITS: Final[dict[str, tuple[str, str]]] = {
    WORD: ("count", "a word or a number without a unit"),
    COUNT: ("count", "a whole number without a unit"),
    NUMBER: ("count", "a number without a unit"),
    BYTES: ("bytes", "a size: B, KiB, MiB, GiB, MB, GB"),
    RATE: ("bytes_per_s", "a bandwidth: GB/s or TB/s"),
    HZ: ("hz", "a clock: MHz or GHz"),
    OPS: ("ops_per_s", "a peak: TFLOPS or TOPS"),
    PER_CLOCK: ("ops_per_clock", "a rate: FLOP/clk/unit or OP/clk/unit"),
    WATT: ("watt", "a power: W"),
    NS: ("ns", "a time: ns, us or ms"),
}
_SCOPES: Final = frozenset({"chip", "die", "unit"})


def check_row(metric: str, value: float | str | None, unit: str, basis: Basis) -> None:
    """ValueError when the id is not listed, or value, unit or basis cannot be of this metric."""
    kind = METRIC_QUANTITY.get(metric)
    if kind is None:
        hint = near(metric, METRIC_QUANTITY) or "its ids are the known ones"
        msg = f"gpu-wiki/hardware/README.md lists no metric {metric!r}; {hint}"
        raise ValueError(msg)
    if value is not None or unit:
        _check_unit(metric, kind, value, unit)
    if isinstance(value, float):
        _check_number(metric, kind, value, unit)
    if metric.startswith("peak_") and value is not None and basis.scope not in _SCOPES:
        msg = f"{metric} does not say per chip, per die or per unit"
        raise ValueError(msg)


def _check_unit(metric: str, kind: str, value: float | str | None, unit: str) -> None:
    if kind == BYTES_PER_CLOCK:
        wanted, words = {"bytes", "bytes_per_clock"}, "bytes per clock: B"
    else:
        quantity, words = _UNITS[kind]
        wanted = {quantity}
    if isinstance(value, str):
        if kind not in (WORD, NUMBER, COUNT):
            msg = f"{metric} is {value!r}; it is {words}, or UNKNOWN"
            raise ValueError(msg)
    elif QUANTITY[unit] not in wanted:
        msg = f"{metric} has the unit {unit!r}; it is {words}"
        raise ValueError(msg)


def _check_number(metric: str, kind: str, value: float, unit: str) -> None:
    if value <= 0 or not math.isfinite(value):
        shown = f"{value:g} {unit}".rstrip()
        msg = f"{metric} is {shown}; no such quantity is zero, negative or without end"
        raise ValueError(f"{msg} (write UNKNOWN with 'no such unit' where the hardware lacks it)")
    if kind == COUNT and not value.is_integer():
        msg = f"{metric} is {value:g}; it is a whole number"
        raise ValueError(msg)

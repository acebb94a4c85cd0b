"""Names of other profilers, older tools and people for canonical metrics.

Keys are compared without case, separators and units in words. ``scale`` brings a value to the
base unit that the canonical name states.
"""

from __future__ import annotations

import re
from typing import Final

_PLAIN: Final = re.compile(r"[^a-z0-9]+")

ALIASES: Final[dict[str, tuple[str, float]]] = {
    # earlier optimizers' logs
    "memory_sol_pct": ("memory_pct", 1), "sm_sol_pct": ("compute_pct", 1),
    "memory_sol": ("memory_pct", 1), "sm_sol": ("compute_pct", 1), "compute_sol": ("compute_pct", 1),
    "compute_sol_pct": ("compute_pct", 1), "sol_memory": ("memory_pct", 1), "sol_sm": ("compute_pct", 1),
    "latency_ms": ("duration_ns", 1e6), "latency_us": ("duration_ns", 1e3),
    "latency_ns": ("duration_ns", 1), "time_ms": ("duration_ns", 1e6), "time_us": ("duration_ns", 1e3),
    "kernel_time_us": ("duration_ns", 1e3), "kernel_time_ms": ("duration_ns", 1e6),
    "duration_us": ("duration_ns", 1e3), "duration_ms": ("duration_ns", 1e6),
    "gpu_time_us": ("duration_ns", 1e3), "runtime_us": ("duration_ns", 1e3), "runtime_ms": ("duration_ns", 1e6),
    # speed of light in words
    "memory_throughput": ("memory_pct", 1), "memory_throughput_pct": ("memory_pct", 1),
    "mem_throughput": ("memory_pct", 1), "mem_throughput_pct": ("memory_pct", 1), "memory_utilization": ("memory_pct", 1),
    "compute_throughput": ("compute_pct", 1), "compute_throughput_pct": ("compute_pct", 1),
    "sm_throughput": ("compute_pct", 1), "sm_throughput_pct": ("compute_pct", 1), "sm_utilization": ("compute_pct", 1),
    "compute_utilization": ("compute_pct", 1), "sm_pct": ("compute_pct", 1),
    "dram_throughput": ("dram_pct", 1), "dram_throughput_pct": ("dram_pct", 1), "dram_utilization": ("dram_pct", 1),
    "dram_sol": ("dram_pct", 1), "dram_bandwidth_pct": ("dram_pct", 1), "dram_bw_pct": ("dram_pct", 1),
    "hbm_pct": ("dram_pct", 1), "hbm_utilization": ("dram_pct", 1), "hbm_bandwidth_pct": ("dram_pct", 1),
    "bandwidth_pct": ("dram_pct", 1), "bandwidth_utilization": ("dram_pct", 1), "bandwidth_utilization_pct": ("dram_pct", 1),
    "memory_bandwidth_pct": ("dram_pct", 1), "memory_bandwidth_utilization": ("dram_pct", 1),
    "pct_of_peak_bandwidth": ("dram_pct", 1), "dram_busy_pct": ("dram_pct", 1),
    "l2_throughput": ("l2_pct", 1), "l2_throughput_pct": ("l2_pct", 1), "l2_cache_throughput_pct": ("l2_pct", 1),
    "l1_throughput": ("l1_pct", 1), "l1_throughput_pct": ("l1_pct", 1), "l1tex_throughput_pct": ("l1_pct", 1),
    "l1tex_pct": ("l1_pct", 1), "l1_tex_throughput": ("l1_pct", 1),
    # caches
    "l2_hit_rate": ("l2_hit_pct", 1), "l2_hit_rate_pct": ("l2_hit_pct", 1), "l2_cache_hit": ("l2_hit_pct", 1),
    "l2_cache_hit_rate": ("l2_hit_pct", 1), "l2_hit": ("l2_hit_pct", 1),
    "l1_hit_rate": ("l1_hit_pct", 1), "l1_hit_rate_pct": ("l1_hit_pct", 1), "l1_cache_hit_rate": ("l1_hit_pct", 1),
    "l1_hit": ("l1_hit_pct", 1), "l1tex_hit_rate": ("l1_hit_pct", 1), "tex_cache_hit_rate": ("l1_hit_pct", 1),
    # access patterns, nvprof's words among them
    "gld_efficiency": ("load_bytes_per_sector_pct", 1), "gst_efficiency": ("store_bytes_per_sector_pct", 1),
    "global_load_efficiency": ("load_bytes_per_sector_pct", 1), "global_store_efficiency": ("store_bytes_per_sector_pct", 1),
    "load_efficiency_pct": ("load_bytes_per_sector_pct", 1), "store_efficiency_pct": ("store_bytes_per_sector_pct", 1),
    "gld_transactions_per_request": ("load_sectors_per_request", 1), "gst_transactions_per_request": ("store_sectors_per_request", 1),
    "sectors_per_request": ("load_sectors_per_request", 1), "global_load_sectors_per_request": ("load_sectors_per_request", 1),
    "sectors_per_load_request": ("load_sectors_per_request", 1), "sectors_per_store_request": ("store_sectors_per_request", 1),
    "global_store_sectors_per_request": ("store_sectors_per_request", 1), "sectors_per_load": ("load_sectors_per_request", 1),
    "bank_conflict_ways": ("shared_load_conflict_ways", 1), "bank_conflicts_ways": ("shared_load_conflict_ways", 1),
    "shared_load_bank_conflicts": ("shared_load_conflicts", 1), "shared_store_bank_conflicts": ("shared_store_conflicts", 1),
    "bank_conflicts": ("shared_load_conflicts", 1), "shared_bank_conflicts": ("shared_load_conflicts", 1),
    "smem_bank_conflicts": ("shared_load_conflicts", 1), "bank_conflicts_load": ("shared_load_conflicts", 1),
    "bank_conflicts_store": ("shared_store_conflicts", 1), "lds_bank_conflict": ("shared_conflict_pct", 1),
    "lds_bank_conflicts": ("shared_conflict_cycles", 1),
    "spill_bytes": ("local_store_bytes", 1), "local_bytes": ("local_load_bytes", 1),
    "local_memory_bytes": ("local_load_bytes", 1), "spill_stores": ("local_store_bytes", 1), "spill_loads": ("local_load_bytes", 1),
    "spill_store_bytes": ("local_store_bytes", 1), "spill_load_bytes": ("local_load_bytes", 1),
    "spills": ("local_store_bytes", 1), "register_spills": ("local_store_bytes", 1), "n_spills": ("local_store_bytes", 1),
    "atomics": ("global_atomics", 1), "global_atomic_instructions": ("global_atomics", 1),
    # pipes and issue
    "tensor_core_utilization": ("tensor_pct", 1), "tensor_pipe_pct": ("tensor_pct", 1), "tensor_utilization": ("tensor_pct", 1),
    "tensor_active_pct": ("tensor_pct", 1), "tensor_core_pct": ("tensor_pct", 1), "tensor_cores_pct": ("tensor_pct", 1),
    "tensor_pipe_utilization": ("tensor_pct", 1), "hmma_pct": ("tensor_pct", 1), "mfma_util": ("tensor_pct", 1),
    "mfma_utilization": ("tensor_pct", 1), "pipe_tensor": ("tensor_pct", 1), "tensor_precision_fu_utilization": ("tensor_pct", 10),
    "fp32_pct": ("fma_pct", 1), "fma_utilization": ("fma_pct", 1), "fp32_utilization": ("fma_pct", 1), "fma_pipe_pct": ("fma_pct", 1),
    "pipe_fma": ("fma_pct", 1), "fma_pipe_utilization": ("fma_pct", 1),
    "sfu_pct": ("xu_pct", 1), "mufu_pct": ("xu_pct", 1), "xu_pipe_pct": ("xu_pct", 1), "xu_utilization": ("xu_pct", 1), "xu_pipe_utilization": ("xu_pct", 1),
    "alu_utilization": ("alu_pct", 1), "alu_pipe_pct": ("alu_pct", 1), "alu_pipe_utilization": ("alu_pct", 1), "valu_busy": ("alu_pct", 1),
    "fp64_utilization": ("fp64_pct", 1), "fp64_pipe_pct": ("fp64_pct", 1), "fp64_pipe_utilization": ("fp64_pct", 1),
    "lsu_utilization": ("lsu_pct", 1), "lsu_pipe_pct": ("lsu_pct", 1),
    "issue_slot_utilization": ("issue_active_pct", 1), "issue_active": ("issue_active_pct", 1),
    "issue_slots_busy": ("issue_slots_busy_pct", 1), "sm_busy": ("sm_busy_pct", 1), "no_eligible": ("no_eligible_pct", 1),
    "one_or_more_eligible": ("issue_active_pct", 1), "ipc": ("ipc_active", 1), "executed_ipc": ("ipc_active", 1),
    "eligible_warps_per_scheduler": ("eligible_warps", 1), "eligible_warps_per_cycle": ("eligible_warps", 1),
    "active_warps_per_scheduler": ("active_warps", 1),
    "warp_execution_efficiency": ("warp_execution_efficiency_pct", 1),
    "avg_active_threads_per_warp": ("threads_per_instruction", 1), "active_threads_per_warp": ("threads_per_instruction", 1),
    "branch_efficiency": ("branch_efficiency_pct", 1), "valu_utilization": ("lane_utilization_pct", 1),
    # occupancy and launch
    "occupancy": ("achieved_occupancy_pct", 1), "occupancy_pct": ("achieved_occupancy_pct", 1),
    "achieved_occupancy": ("achieved_occupancy_pct", 1), "occupancy_percent": ("achieved_occupancy_pct", 1),
    "theoretical_occupancy": ("theoretical_occupancy_pct", 1), "warp_occupancy": ("achieved_occupancy_pct", 1),
    "registers": ("registers_per_thread", 1), "regs": ("registers_per_thread", 1), "regs_per_thread": ("registers_per_thread", 1),
    "num_regs": ("registers_per_thread", 1), "n_regs": ("registers_per_thread", 1), "vgprs": ("registers_per_thread", 1), "vgpr_count": ("registers_per_thread", 1),
    "smem_bytes": ("shared_bytes_per_block", 1), "shared_bytes": ("shared_bytes_per_block", 1), "shared_memory_bytes": ("shared_bytes_per_block", 1),
    "smem_kb": ("shared_bytes_per_block", 1024), "shared_kb": ("shared_bytes_per_block", 1024), "smem_per_block": ("shared_bytes_per_block", 1),
    "shared_mem_per_block": ("shared_bytes_per_block", 1), "shared_memory_per_block": ("shared_bytes_per_block", 1), "lds_bytes": ("shared_bytes_per_block", 1),
    "blocks": ("grid_size", 1), "num_blocks": ("grid_size", 1), "grid": ("grid_size", 1), "grid_blocks": ("grid_size", 1), "ctas": ("grid_size", 1), "num_ctas": ("grid_size", 1), "programs": ("grid_size", 1), "workgroups": ("grid_size", 1),
    "threads_per_block": ("block_size", 1), "block_threads": ("block_size", 1), "workgroup_size": ("block_size", 1),
    "waves": ("waves_per_sm", 1), "waves_per_multiprocessor": ("waves_per_sm", 1), "sms": ("sm_count", 1), "num_sms": ("sm_count", 1),
    "launches": ("kernel_count", 1), "kernel_launches": ("kernel_count", 1), "num_kernels": ("kernel_count", 1), "n_kernels": ("kernel_count", 1), "kernels": ("kernel_count", 1),
    # warp states
    "warp_cycles_per_issued_instruction": ("warp_cycles_per_issue", 1), "warp_latency": ("warp_cycles_per_issue", 1),
    # amounts
    "dram_bytes_read": ("dram_read_bytes", 1), "dram_bytes_write": ("dram_write_bytes", 1), "dram_bytes_written": ("dram_write_bytes", 1),
    "fetch_size_kb": ("dram_read_bytes", 1024), "write_size_kb": ("dram_write_bytes", 1024),
    "dram_read_mb": ("dram_read_bytes", 1e6), "dram_write_mb": ("dram_write_bytes", 1e6), "dram_read_gb": ("dram_read_bytes", 1e9), "dram_write_gb": ("dram_write_bytes", 1e9),
}  # fmt: skip

STALLS: Final[dict[str, str]] = {
    # nvprof's stall reasons and short forms, all shares of warp cycles
    "memory_dependency": "long_scoreboard", "exec_dependency": "wait", "execution_dependency": "wait",
    "sync": "barrier", "synchronization": "barrier", "texture": "tex_throttle", "pipe_busy": "math_pipe_throttle",
    "memory_throttle": "lg_throttle", "inst_fetch": "no_instruction", "instruction_fetch": "no_instruction",
    "no_inst": "no_instruction", "no_instructions": "no_instruction", "constant_memory_dependency": "imc_miss",
    "long_sb": "long_scoreboard", "short_sb": "short_scoreboard", "longscoreboard": "long_scoreboard",
    "shortscoreboard": "short_scoreboard", "math_pipe": "math_pipe_throttle", "lg": "lg_throttle", "mio": "mio_throttle", "tex": "tex_throttle",
}  # fmt: skip


def plain(name: str) -> str:
    """The form in which names are compared."""
    return _PLAIN.sub("_", name.casefold().replace("%", " pct ")).strip("_")


PLAIN: Final = {plain(name): target for name, target in ALIASES.items()}
SQUEEZED: Final = {name.replace("_", ""): target for name, target in PLAIN.items()}
"""The same without separators, for names in camel case."""

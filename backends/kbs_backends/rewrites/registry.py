"""Every rewrite by language and method id; a module is imported when its language is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from kbs_backends.rewrites.base import ModuleRewrite, Rewrite
from kbs_engine.vocabulary import Language

TRITON: Final = (
    "aligned_access_hint",
    "block_size_tuning",
    "cache_eviction_hints",
    "exp2_rescaling",
    "fast_math_intrinsics",
    "index_width_reduction",
    "l2_grouped_ordering",
    "launch_parameter_tuning",
    "loop_unrolling",
    "mask_elision",
    "more_pipeline_stages",
    "multiple_rows_per_block",
    "occupancy_tuning_registers",
    "persistent_kernel",
    "row_in_registers",
    "software_pipelining",
    "split_k",
    "split_precision_emulation",
    "streaming_stores",
    "tf32_precision",
    "tma_load",
    "two_stage_reduction",
    "warp_specialization",
)
CUDA: Final = (
    "avoid_fp64",
    "block_size_tuning",
    "cache_eviction_hints",
    "exp2_rescaling",
    "fast_math_intrinsics",
    "index_width_reduction",
    "loop_unrolling",
    "occupancy_tuning_registers",
    "readonly_cache_path",
    "smem_padding",
    "streaming_stores",
    "vectorized_access",
)
MODULES: Final[dict[Language, tuple[str, tuple[str, ...]]]] = {
    "triton": ("triton", TRITON),
    "cuda-cpp": ("cuda", CUDA),
    "cutlass": ("cuda", CUDA),
}
"""Language → folder of its rewrites and their method ids."""


def all_rewrites(language: Language) -> dict[str, Rewrite]:
    """Return the rewrites of a language by method id; none for a language without any."""
    folder, methods = MODULES.get(language, ("", ()))
    found: dict[str, Rewrite] = {}
    for method in methods:
        module = import_module(f"kbs_backends.rewrites.{folder}.{method}")
        found[method] = ModuleRewrite(method=method, rewrite=module.rewrite)
    return found

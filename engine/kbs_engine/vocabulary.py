"""The words that rules, pages, outcomes and evaluations share (docs/vocabulary.md)."""

from __future__ import annotations

from typing import Final, Literal, get_args

Language = Literal["cuda-cpp", "cutlass", "triton", "cute-dsl", "flydsl", "hip", "other"]
Limiter = Literal[
    "dram", "l2", "l1", "shared", "tensor", "fma", "alu", "xu", "fp64", "lsu",
    "issue", "latency", "occupancy", "launch", "mixed", "unknown",
]  # fmt: skip
Axis = Literal["memory", "compute", "latency", "none"]
MethodAxis = Literal["memory", "compute", "latency"]
Bound = Literal["memory", "compute", "unknown"]
Status = Literal["cited", "compiled", "exercised"]
Direction = Literal["up", "down"]
Verdict = Literal["effective", "ineffective", "implementation_failed", "harmful", "inseparable"]
Family = Literal[
    "elementwise", "reduction", "softmax", "normalization", "gemm", "batched_gemm",
    "grouped_gemm", "gemv", "attention", "attention_decode", "convolution", "transpose",
    "scan", "histogram", "gather_scatter", "embedding", "sort", "sparse", "stencil", "fft",
    "quantization", "loss", "fused", "other",
]  # fmt: skip
Dtype = Literal[
    "fp64", "fp32", "tf32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2", "fp6", "fp4",
    "int32", "int8", "int4", "bool",
]  # fmt: skip

LANGUAGES: Final[tuple[str, ...]] = get_args(Language)
LIMITERS: Final[tuple[str, ...]] = get_args(Limiter)
AXES: Final[tuple[str, ...]] = get_args(Axis)
METHOD_AXES: Final[tuple[str, ...]] = get_args(MethodAxis)
FAMILIES: Final[tuple[str, ...]] = get_args(Family)
DTYPES: Final[tuple[str, ...]] = get_args(Dtype)
STATUSES: Final[tuple[str, ...]] = get_args(Status)
VERDICTS: Final[tuple[str, ...]] = get_args(Verdict)

MATRIX_FAMILIES: Final = frozenset(
    {"gemm", "batched_gemm", "grouped_gemm", "attention", "attention_decode", "convolution"}
)
"""Families whose arithmetic is matrix multiplication, so that matrix units are permitted."""

LANGUAGE_ALIASES: Final[dict[str, str]] = {
    "cuda": "cuda-cpp", "cu": "cuda-cpp", "cuda_cpp": "cuda-cpp", "cuda-c++": "cuda-cpp",
    "cutedsl": "cute-dsl", "cute_dsl": "cute-dsl", "cute": "cute-dsl", "rocm": "hip",
}  # fmt: skip

LIMITER_ALIASES: Final[dict[str, str]] = {
    "memory_bound": "dram", "memory": "dram", "compute_bound": "mixed", "compute": "mixed",
    "latency_bound": "latency", "occupancy_bound": "occupancy", "grid_anomaly": "launch",
}  # fmt: skip
"""Older words, read with their precision lost (compute does not say which pipe)."""

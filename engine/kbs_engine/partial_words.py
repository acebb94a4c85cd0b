"""Words of people and of other tools for kernels, languages and limiters."""

from __future__ import annotations

import re
from typing import Final

from kbs_engine.vocabulary import FAMILIES, LANGUAGE_ALIASES, LANGUAGES

_FAMILY_WORDS: Final[tuple[tuple[str, str], ...]] = (
    # first fit wins: the narrower word stands before the wider one
    (r"decode|paged.?attention|flash.?decod|mqa.?decod|kv.?cache", "attention_decode"),
    (r"attention|\bmha\b|\bgqa\b|\bmqa\b|\bmla\b|sdpa|flash.?attn|\bfmha\b", "attention"),
    (r"grouped.?gemm|group.?gemm|\bmoe\b|mixture.of.experts", "grouped_gemm"),
    (r"batched.?(gemm|matmul)|\bbmm\b", "batched_gemm"),
    (r"gemv|mat.?vec|matrix.vector|skinny", "gemv"),
    (r"spmv|spmm|sparse|\bcsr\b", "sparse"),
    (r"implicit.?gemm|conv", "convolution"),
    (r"quant", "quantization"),
    (r"gemm|mat.?mul|\bmm\b|matrix.?mult|linear|syrk|\bdot\b", "gemm"),
    (r"softmax", "softmax"),
    (r"layer.?norm|rms.?norm|batch.?norm|group.?norm|instance.?norm|normali[sz]", "normalization"),
    (r"cross.?entropy|\bloss\b|kl.?div", "loss"),
    (r"histogram|bincount", "histogram"),
    (r"prefix|\bscan\b|cumsum|selective.?scan|mamba", "scan"),
    (r"transpose|permut", "transpose"),
    (r"embedding", "embedding"),
    (r"gather|scatter|index.?select|index.?add", "gather_scatter"),
    (r"\bsort|top.?k\b|radix", "sort"),
    (r"stencil|jacobi|laplac|convolve.?2d|heat", "stencil"),
    (r"\bfft\b|fourier", "fft"),
    (r"reduc|\bsum\b|argmax|\bmax\b|\bmean\b", "reduction"),
    (r"fused", "fused"),
    ((r"element.?wise|pointwise|copy|axpy|gelu|silu|relu|swiglu|activation|\badd\b|saxpy|"
     r"memcpy|dropout|rope|rotary|map\b"), "elementwise"),
)  # fmt: skip

_LANGUAGE_WORDS: Final[tuple[tuple[str, str], ...]] = (
    (r"triton|gluon", "triton"),
    (r"cute.?dsl|cutedsl|cutlass.?python", "cute-dsl"),
    (r"cutlass|\bcute\b", "cutlass"),
    (r"flydsl", "flydsl"),
    (r"hip|rocm", "hip"),
    (r"cuda|\bcu\b|nvcc|c\+\+", "cuda-cpp"),
)

_NO_FAMILY: Final = frozenset({"", "other"})


def family_of(words: str) -> str | None:
    """The kernel family that ``words`` name, or None."""
    plain = words.casefold().strip()
    if plain in _NO_FAMILY:
        return None
    if plain in FAMILIES:
        return plain
    spaced = re.sub(r"[_\-/]+", " ", plain)
    return next((name for pattern, name in _FAMILY_WORDS if re.search(pattern, spaced)), None)


def language_of(words: str) -> str | None:
    """The language that ``words`` name, or None."""
    plain = words.casefold().strip()
    found = LANGUAGE_ALIASES.get(plain, plain)
    if found in LANGUAGES:
        return None if found == "other" else found
    return next((name for pattern, name in _LANGUAGE_WORDS if re.search(pattern, plain)), None)

"""Hard filters: what a method cannot do here, whatever its score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from kbs_engine.methods import Method
from kbs_engine.outcomes import Outcome
from kbs_engine.peaks import spec_dtype
from kbs_engine.recommendations import Filtered
from kbs_engine.work import Work

MANAGED: Final = frozenset({"triton"})
"""Languages whose compiler owns registers, shared memory and warps: what a page does not show for
them cannot be written in them. The others can write whatever the chip has."""

NATIVE: Final = (frozenset({"cuda-cpp", "cutlass", "cute-dsl"}), frozenset({"hip", "flydsl"}))
"""Languages of one vendor that reach the same hardware."""

OUTSIDE_THE_KERNEL: Final = frozenset(
    {
        "algorithmic_replacement",
        "cuda_graph",
        "data_layout_change",
        "gather_scatter_sorting",
        "host_launch_path",
        "kernel_batching",
        "kernel_fission",
        "kernel_fusion",
        "l2_persistence",
        "remove_redundant_kernels",
        "shape_dispatch",
        "stream_overlap",
        "vendor_library_call",
    }
)
"""Methods of the host code, the data or the algorithm: the kernel's language does not matter."""

NO_RECIPE: Final = 0.75
"""Fit of a method that the language can express but whose page shows no code for it."""

OTHER_FAMILY: Final = 0.5
"""Fit of a method whose page names other kernel families, where the family was only told."""


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the place where methods would be used."""

    arch: str | None = None
    features: frozenset[str] | None = None
    language: str | None = None
    family: str | None = None
    work: Work | None = None
    applied: frozenset[str] = frozenset()
    """Methods that the kernel already has."""
    source_hash: str | None = None
    told: bool = False
    """Somebody says what the kernel is; one word for it may be too narrow."""


def filter_method(method: Method, setting: Setting, outcomes: Sequence[Outcome]) -> Filtered | None:
    """The first hard filter that removes ``method``, or None."""
    for name, reason in (
        ("architecture", _architecture(method, setting)),
        ("language", _language(method, setting)),
        ("kernel", _kernel(method, setting)),
        ("dtype", _dtype(method, setting)),
        ("precision", _precision(method, setting)),
        ("applied", "already in the kernel" if method.id in setting.applied else ""),
        ("conflict", _conflict(method, setting)),
        ("outcome", _same_source(outcomes, setting)),
    ):
        if reason:
            return Filtered(method=method.id, filter=name, reason=reason)
    return None


def loose_fit(method: Method, setting: Setting) -> dict[str, float]:
    """Parts of the fit of a method that no filter removes but whose page names other places."""
    parts = {}
    if setting.language is not None and setting.language not in method.languages:
        parts[f"no recipe for {setting.language}"] = NO_RECIPE
    if setting.family and method.kernels and setting.family not in method.kernels:
        parts[f"not written for {setting.family}"] = OTHER_FAMILY
    return parts


def _architecture(method: Method, setting: Setting) -> str:
    if setting.features is None:
        return ""
    missing = [name for name in method.requires if name not in setting.features]
    return f"{setting.arch} has no {', '.join(missing)}" if missing else ""


def _language(method: Method, setting: Setting) -> str:
    if setting.language is None or setting.language in method.languages:
        return ""
    if method.id in OUTSIDE_THE_KERNEL:
        return ""
    near = next((group for group in NATIVE if setting.language in group), frozenset())
    if setting.language not in MANAGED and (
        near & set(method.languages) or (not method.requires and set(method.languages) - MANAGED)
    ):
        return ""  # what needs hardware needs a language that reaches it
    return f"not for {setting.language}; only {', '.join(method.languages)}"


def _kernel(method: Method, setting: Setting) -> str:
    if setting.family is None:
        return ""
    if setting.family in method.not_kernels:
        return f"does not apply to {setting.family} kernels"
    if method.kernels and setting.family not in method.kernels and not setting.told:
        return f"only for {', '.join(method.kernels)}"
    return ""


def _dtype(method: Method, setting: Setting) -> str:
    work = setting.work
    if not method.dtypes or work is None or not work.precisions:
        return ""
    wanted = {spec_dtype(dtype) for dtype in method.dtypes}
    have = {
        spec_dtype(dtype) for dtype in (*work.precisions, *([work.dtype] if work.dtype else []))
    }
    return "" if wanted & have else f"only for {', '.join(method.dtypes)}"


def _precision(method: Method, setting: Setting) -> str:
    if not method.needs_permitted:
        return ""
    if setting.work is None or not setting.work.precisions:
        return "" if setting.work is None else "the task does not say which precisions it permits"
    have = {spec_dtype(dtype) for dtype in setting.work.precisions}
    if have & {spec_dtype(dtype) for dtype in method.needs_permitted}:
        return ""
    return f"the task permits {', '.join(sorted(have))}, not {', '.join(method.needs_permitted)}"


def _conflict(method: Method, setting: Setting) -> str:
    clash = sorted(setting.applied & set(method.conflicts))
    return f"conflicts with {', '.join(clash)}, already in the kernel" if clash else ""


def _same_source(outcomes: Sequence[Outcome], setting: Setting) -> str:
    """An earlier failure removes a method only for the very same source."""
    if setting.source_hash is None:
        return ""
    failed = [
        row
        for row in outcomes
        if row.source_hash == setting.source_hash and row.verdict in ("ineffective", "harmful")
    ]
    return f"{failed[0].verdict} before on this very source" if failed else ""

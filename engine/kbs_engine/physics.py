"""The physics floor: a time that no correct kernel can beat on this chip (measurement.md).

t_floor = max((bytes in that must come from device memory + max(0, bytes out - last-level
cache)) / cited peak bandwidth, provable FLOPs / fastest permitted pipe at maximum clock)
- timer step. It refuses only what is impossible; whatever is not proved lowers the floor:
writes may stay in the cache, a more precise type may be emulated on a faster pipe, work that
nobody declared is not compulsory where a kernel may skip it.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from kbs_engine.facts import Chip, Spec
from kbs_engine.results import ArmTimes, Timed
from kbs_engine.work import Work

SCHEMA_VERSION = 1

Known = Literal["declared", "counted", "unknown"]

WHOLE_INPUT: Final = frozenset(
    {"elementwise", "reduction", "softmax", "normalization", "gemm", "batched_gemm", "gemv",
     "transpose", "scan", "histogram", "sort", "fft", "stencil"}
)  # fmt: skip
"""Families whose result depends on every input byte, so that counted bytes are compulsory.
A gather, a mask, sparsity or a fused chain may skip input: only declared bytes bind there."""

WHOLE_ARITHMETIC: Final = frozenset({"gemm", "batched_gemm"})
"""Families whose counted FLOPs are compulsory, up to ``STRASSEN``. Masks halve attention and
Winograd more than halves a convolution, so those need declared FLOPs."""

STRASSEN: Final = (7.0 / 8.0) ** 2
"""Two levels of Strassen's recursion; deeper ones lose the accuracy that the check asks for."""

_EMULATED: Final[dict[str, tuple[tuple[str, float], ...]]] = {
    "fp32": (("tf32", 3.0), ("bf16", 3.0), ("fp16", 3.0)),
    "fp64": (("int8", 15.0), ("fp16", 15.0), ("tf32", 6.0)),
}
"""Products of a lower type that make up one of a higher: three for split fp32, s(s + 1) / 2 of
s slices for fp64 (Ozaki scheme, five slices taken as the fewest that could pass)."""

_MORE_PRECISE: Final[dict[str, tuple[str, ...]]] = {
    "fp4": ("fp6", "fp8", "fp16", "bf16", "tf32", "fp32", "fp64"),
    "fp6": ("fp8", "fp16", "bf16", "tf32", "fp32", "fp64"),
    "fp8": ("fp16", "bf16", "tf32", "fp32", "fp64"),
    "fp16": ("bf16", "tf32", "fp32", "fp64"),
    "bf16": ("fp16", "tf32", "fp32", "fp64"),
    "tf32": ("fp16", "bf16", "fp32", "fp64"),
    "fp32": ("fp64",),
    "int4": ("int8", "int32"),
    "int8": ("int32", "fp16"),
}


class Floor(msgspec.Struct, frozen=True, kw_only=True):
    """The floor and what it rests on. ``time_ns`` is None where nothing can be proved."""

    time_ns: float | None
    memory_ns: float | None = None
    compute_ns: float | None = None
    binding: Literal["memory", "compute", "none"] = "none"
    citations: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def physics_floor(
    work: Work,
    chip: Chip,
    *,
    flops_from: Known = "declared",
    bytes_from: Known = "declared",
    resident_bytes: float = 0.0,
    max_clock_hz: float | None = None,
    timer_step_ns: float = 0.0,
) -> Floor:
    """The floor of one call.

    Args:
        work: Compulsory work of the call.
        chip: Cited specs.
        flops_from: Whether the FLOPs were declared as a lower bound or merely counted.
        bytes_from: The same of the bytes.
        resident_bytes: Input that may already lie in a cache: 0 after a flush, the size of
            the last-level cache (``last_level_cache``) without one.
        max_clock_hz: Highest clock of the card as its driver says; where it exceeds the clock
            of a cited peak, the peak is scaled up to it.
        timer_step_ns: What the timer cannot resolve is given to the candidate.
    """
    memory, memory_notes, cite = _memory(work, chip, bytes_from, resident_bytes)
    compute, compute_notes, more = _compute(work, chip, flops_from, max_clock_hz)
    bounds = [bound for bound in (memory, compute) if bound is not None]
    lowest = max(bounds, default=0.0) - timer_step_ns
    proved = lowest > 0.0
    return Floor(
        time_ns=lowest if proved else None,
        memory_ns=memory,
        compute_ns=compute,
        binding="none" if not proved else "memory" if max(bounds) == memory else "compute",
        citations=(*cite, *more),
        notes=(*memory_notes, *compute_notes),
    )


def floor_ns(
    work: Work,
    chip: Chip,
    *,
    flops_from: Known = "declared",
    bytes_from: Known = "declared",
    resident_bytes: float = 0.0,
    max_clock_hz: float | None = None,
    timer_step_ns: float = 0.0,
) -> float | None:
    """``physics_floor(...).time_ns``: None where nothing can be proved."""
    return physics_floor(
        work, chip, flops_from=flops_from, bytes_from=bytes_from, resident_bytes=resident_bytes,
        max_clock_hz=max_clock_hz, timer_step_ns=timer_step_ns,
    ).time_ns  # fmt: skip


def last_level_cache(chip: Chip) -> float | None:
    """Bytes of the cache before device memory: AMD's Infinity Cache where there is one."""
    sizes = [chip.number(metric) for metric in ("l2_size", "infinity_cache_size")]
    known = [size for size in sizes if size is not None]
    return sum(known) if known and sizes[0] is not None else None


def _memory(
    work: Work, chip: Chip, known: Known, resident: float
) -> tuple[float | None, tuple[str, ...], tuple[str, ...]]:
    bandwidth, cache = chip.find_device("memory_bandwidth"), last_level_cache(chip)
    if known == "unknown" or work.bytes_in is None:
        return None, ("compulsory bytes are not known",), ()
    if known == "counted" and work.kernel not in WHOLE_INPUT:
        note = f"a {work.kernel} kernel may skip input; declare `bytes` to bound its time"
        return None, (note,), ()
    if bandwidth is None or not bandwidth.base_value:
        return None, (f"memory bandwidth of {chip.id} is UNKNOWN",), ()
    written = 0.0 if cache is None else max(0.0, (work.bytes_out or 0.0) - cache)
    moved = max(0.0, work.bytes_in - resident) + written
    return moved / bandwidth.base_value * 1e9, (), (bandwidth.cite(chip.name),)


def _compute(
    work: Work, chip: Chip, known: Known, max_clock_hz: float | None
) -> tuple[float | None, tuple[str, ...], tuple[str, ...]]:
    if known == "unknown" or not work.flops or not work.precisions:
        return None, ("arithmetic or its precision is not known",), ()
    if known == "counted" and work.kernel not in WHOLE_ARITHMETIC:
        note = f"a {work.kernel} kernel may skip arithmetic; declare `flops` to bound its time"
        return None, (note,), ()
    flops = work.flops * (STRASSEN if known == "counted" else 1.0)
    usable = _usable(work)
    holes = [metric for metric in usable if _unknown(chip, metric)]
    rates = [
        (_rate(spec, max_clock_hz) / products, spec)
        for metric, products in usable.items()
        if (spec := chip.find_device(metric)) is not None
    ]
    if holes or not rates or any(rate <= 0.0 for rate, _ in rates):
        lacking = ", ".join(holes) or "every permitted pipe"
        return None, (f"{chip.id}: {lacking} UNKNOWN, so no pipe is provably the fastest",), ()
    rate, spec = max(rates, key=lambda pair: pair[0])
    return flops / rate * 1e9, (), (spec.cite(chip.name),)


def _usable(work: Work) -> dict[str, float]:
    """Metrics of every pipe that could do the work, with products per useful operation."""
    usable: dict[str, float] = {}
    for declared in work.precisions:
        word = "fp8" if declared.startswith("fp8") else declared
        for dtype in (word, *_MORE_PRECISE.get(word, ())):
            for name, products in ((dtype, 1.0), *_EMULATED.get(dtype, ())):
                for metric in (f"peak_{name}", f"peak_{name}_tensor"):
                    usable[metric] = min(products, usable.get(metric, products))
    return usable


def _unknown(chip: Chip, metric: str) -> bool:
    """A matrix pipe that the chip may have and that nobody cited.

    Vector pipes that the wiki leaves out (fp16, bf16) are at most as fast as the matrix pipe
    of the same type.
    """
    word = metric.removeprefix("peak_")
    if not word.endswith("_tensor") or word in ("fp32_tensor", "int32_tensor", "fp6_tensor"):
        return False
    return chip.find_device(metric) is None and not chip.lacks(metric)


def _rate(spec: Spec, max_clock_hz: float | None) -> float:
    """The peak at the higher of its own clock and the card's; 0 where that is not known."""
    value = spec.base_value or 0.0
    if max_clock_hz is None:
        return value
    if spec.basis.clock_hz is None:
        return 0.0
    return value * max(1.0, max_clock_hz / spec.basis.clock_hz)


def apply_floor(timed: Timed, floor: Floor) -> Timed:
    """The timing with its arms refused whose fastest tenth lies below the floor.

    A single stray sample is a fault of the timer, not a claim; a tenth of them is.
    """
    if floor.time_ns is None:
        return timed
    arms = tuple(_judged(arm, floor.time_ns) for arm in timed.arms)
    return msgspec.structs.replace(timed, arms=arms)


def _judged(arm: ArmTimes, floor: float) -> ArmTimes:
    arm = msgspec.structs.replace(arm, floor_ns=floor)
    if arm.reason is not None or not arm.samples_ns:
        return arm
    ordered = sorted(arm.samples_ns)
    fast = ordered[len(ordered) // 10]
    if fast >= floor:
        return arm
    detail = f"{fast:.0f} ns where the chip's peaks allow no less than {floor:.0f} ns"
    return msgspec.structs.replace(arm, reason="faster_than_physics", detail=detail)

"""Records that cannot be true: a view, computed from the records and the wiki.

A record is doubted when it has no possible form, when it is past the physics floor of its chip,
when it contradicts itself, or when it leaves the best library baseline behind by more than any
kernel can be believed to.
A large factor over a naive v0 is normal and never a reason: 11 and 700 times were measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

import msgspec

from kbs_engine.experience.form import malformed
from kbs_engine.facts import Chip
from kbs_engine.outcomes import Outcome
from kbs_engine.physics import (
    STRASSEN,
    WHOLE_ARITHMETIC,
    WHOLE_INPUT,
    last_level_cache,
)

LIBRARY_FACTOR: Final = 10.0
"""Largest believed factor over the best library baseline of the same task and chip."""

UNSHOWN_FACTOR: Final = 1000.0
"""Largest factor over its own predecessor that is believed where nothing of it can be checked:
without the two times, or with times that neither a floor nor a library baseline bounds."""

DISAGREEMENT: Final = 1.25
"""A claimed factor and the factor of its own times may differ by this."""

TIMER_STEP_NS: Final = 500.0
"""Resolution of CUDA event timing."""

MARGIN: Final = 0.95
"""Cited peaks are round numbers: a time is past the floor below this share of it."""

MAX_PERCENT: Final = 120.0
"""Profilers read a few percent over 100 for a busy unit; nothing runs at more than this."""

ROUNDED: Final = 0.02
"""Share by which a gain, as a factor, may lie outside of its own interval: digits left out."""

_CUDA_ARCH: Final = "sm_"
_ROCM_ARCH: Final = "gfx"

SHORTEST_LAUNCH: Final = 0.5
"""No kernel takes less than this share of what an empty launch was measured to take."""


class Physics(msgspec.Struct, frozen=True, kw_only=True):
    """What bounds every kernel on a chip, from its page; None is UNKNOWN and bounds nothing."""

    chip: str
    arch: str = ""
    bandwidth_bytes_per_s: float | None = None
    cache_bytes: float | None = None
    """Of the last cache before device memory."""
    ops_per_s: dict[str, float] = {}
    """Largest dense peak by data type word (``fp16``, ``fp8``)."""
    empty_launch_ns: float | None = None


def physics_of(chip: Chip) -> Physics:
    """The bounds of a chip from its cited specs; the empty launch is a measured one."""
    peaks: dict[str, float] = {}
    for spec in chip.specs:
        value = spec.base_value
        dense = spec.basis.density != "sparse" and not spec.measured
        if value is not None and spec.metric.startswith("peak_") and dense:
            dtype = spec.metric.split("_")[1]
            peaks[dtype] = max(value, peaks.get(dtype, 0.0))
    launch = chip.find("empty_launch_time", measured=True)
    return Physics(
        chip=chip.id,
        arch=chip.arch,
        bandwidth_bytes_per_s=chip.number("memory_bandwidth"),
        cache_bytes=last_level_cache(chip),
        ops_per_s=peaks,
        empty_launch_ns=None if launch is None else launch.base_value,
    )


def floor_ns(outcome: Outcome, physics: Physics) -> float | None:
    """Shortest time in which the chip can do the record's work, or None when that is unknown.

    max((bytes in and out beyond what caches can hold) / peak bandwidth, FLOPs / fastest pipe of
    the chip), of families that can skip neither; the FLOPs of a matrix product follow from its
    dims where the record does not state them. It asks less of a kernel than the floor of the
    device does, which knows the permitted precisions: an honest record is never doubted.
    """
    floors = []
    if outcome.kernel in WHOLE_ARITHMETIC and physics.ops_per_s:
        flops = outcome.flops or _flops_of_dims(outcome)
        if flops:
            floors.append(flops * STRASSEN / max(physics.ops_per_s.values()) * 1e9)
    known = physics.bandwidth_bytes_per_s and physics.cache_bytes is not None
    if known and outcome.kernel in WHOLE_INPUT and (outcome.bytes_in or outcome.bytes_out):
        moved = sum(
            max(0.0, (part or 0.0) - (physics.cache_bytes or 0.0))
            for part in (outcome.bytes_in, outcome.bytes_out)
        )
        floors.append(moved / (physics.bandwidth_bytes_per_s or math.inf) * 1e9)
    return max(floors) if floors else None


def _flops_of_dims(outcome: Outcome) -> float | None:
    if outcome.kernel != "gemm":
        return None
    sizes = {name.upper(): value for name, value in outcome.dims.items()}
    found = [sizes.get(name) for name in ("M", "N", "K")]
    numbers = [float(n) for n in found if isinstance(n, (int, float)) and n > 0]
    return 2 * math.prod(numbers) if len(numbers) == len(found) else None


def doubt(
    outcome: Outcome, physics: Physics | None = None, library_ns: float | None = None
) -> str | None:
    """Why a record is not believed, or None.

    Args:
        outcome: the record.
        physics: bounds of its chip, where the wiki knows the chip.
        library_ns: the best library baseline that any record of the task and chip states.
    """
    return (
        malformed(outcome)
        or _elsewhere(outcome, physics)
        or _past_floor(outcome, physics)
        or _past_library(outcome, library_ns)
        or _impossible_percent(outcome.metrics_before)
        or _impossible_percent(outcome.metrics_after)
        or _other_verdict(outcome)
        or _outside(outcome)
        or _other_factor(outcome)
        or _unchecked(outcome, physics, library_ns)
    )


def same_arch(one: str, other: str) -> bool:
    """Whether two words name one architecture: ``sm_90`` is the one of ``sm_90a``."""
    return _bare_arch(one) == _bare_arch(other)


@lru_cache(maxsize=1024)
def _bare_arch(word: str) -> str:
    key = word.strip().casefold()
    return key.rstrip("af") if key.startswith(_CUDA_ARCH) else key


def _elsewhere(outcome: Outcome, physics: Physics | None) -> str | None:
    """A chip, an architecture and a kind of device of which no GPU has all."""
    arch = outcome.arch
    if not arch:
        return None
    if physics is not None and physics.arch and not same_arch(arch, physics.arch):
        return f"{physics.chip} is of architecture {physics.arch}, not {arch}"
    other = {"cuda": _ROCM_ARCH, "rocm": _CUDA_ARCH}.get(outcome.device)
    if other and arch.casefold().startswith(other):
        return f"{arch} is no architecture of {outcome.device} devices"
    return None


def _past_floor(outcome: Outcome, physics: Physics | None) -> str | None:
    times = [t for t in (outcome.before_ns, outcome.after_ns) if t is not None]
    if not times:
        return None
    shortest = min(times)
    if outcome.floor_ns is not None and shortest < outcome.floor_ns * MARGIN - TIMER_STEP_NS:
        return (
            f"{shortest:g} ns is past the physics floor of {outcome.floor_ns:g} ns that it states"
        )
    if physics is None or outcome.device == "host":
        return None
    floor = floor_ns(outcome, physics)
    if floor is not None and shortest < floor * MARGIN - TIMER_STEP_NS:
        return f"{shortest:g} ns is past the physics floor of {floor:.0f} ns on {physics.chip}"
    launch = physics.empty_launch_ns
    if launch is not None and shortest < launch * SHORTEST_LAUNCH:
        return f"{shortest:g} ns is shorter than any launch on {physics.chip} ({launch:g} ns empty)"
    return None


def _past_library(outcome: Outcome, library_ns: float | None) -> str | None:
    known = [t for t in (outcome.baseline_ns, library_ns) if t is not None]
    if not known or outcome.after_ns is None:
        return None
    return beyond_library(outcome.after_ns, min(known), outcome.baseline)


def beyond_library(after_ns: float, library_ns: float | None, name: str = "") -> str | None:
    """Why a time is not believed beside the best library baseline of its task, or None."""
    factor = 0.0 if library_ns is None else library_ns / after_ns
    if factor <= LIBRARY_FACTOR:
        return None
    told = name or "the best library baseline"
    return f"{factor:.3g} times as fast as {told}, which is not believed beyond {LIBRARY_FACTOR:g}"


def _impossible_percent(metrics: Mapping[str, float]) -> str | None:
    if not metrics or max(metrics.values()) <= MAX_PERCENT:
        return None
    for name, value in metrics.items():
        if value > MAX_PERCENT and name.endswith("_pct"):
            return f"{name} is {value:g} %"
    return None


def _other_verdict(outcome: Outcome) -> str | None:
    """A verdict that the gain, or its whole interval, says the opposite of."""
    verdict, gain = outcome.verdict, outcome.gain
    if verdict == "effective":
        if gain is not None and gain <= 0:
            return f"called effective at a gain of {gain:.3g}"
        if outcome.gain_high is not None and outcome.gain_high <= 0:
            return f"called effective at a gain of at most {outcome.gain_high:.3g}"
    if verdict == "harmful":
        if gain is not None and gain > 0:
            return f"called harmful at a gain of {gain:.3g}"
        if outcome.gain_low is not None and outcome.gain_low > 0:
            return f"called harmful at a gain of at least {outcome.gain_low:.3g}"
    surely = [share for share in (gain, outcome.gain_low) if share is not None]
    if verdict == "ineffective" and outcome.verified and surely:
        least = min(surely)
        if 1 / (1 - least) > DISAGREEMENT:
            return f"called ineffective at a gain of {least:.3g}"
    return None


def _outside(outcome: Outcome) -> str | None:
    """A gain that its own interval leaves out, by more than digits left out explain."""
    if outcome.gain is None:
        return None
    factor = 1 / (1 - outcome.gain)
    for end, low in ((outcome.gain_low, True), (outcome.gain_high, False)):
        if end is None:
            continue
        share = factor * (1 - end)
        if (share < 1 - ROUNDED) if low else (share > 1 + ROUNDED):
            side = "low" if low else "high"
            told = f"whose {side} end is {end:.3g}"
            return f"a gain of {outcome.gain:.3g} lies outside of its interval, {told}"
    return None


def _unchecked(outcome: Outcome, physics: Physics | None, library_ns: float | None) -> str | None:
    """A vast factor whose times agree with each other and can be held against nothing else."""
    if outcome.before_ns is None or outcome.after_ns is None:
        return None
    factor = outcome.before_ns / outcome.after_ns
    if factor <= UNSHOWN_FACTOR or _checkable(outcome, physics, library_ns):
        return None
    return (
        f"its times say {factor:.3g} times, and it tells no floor, work or library baseline "
        f"that would bound them; believed up to {UNSHOWN_FACTOR:g} without"
    )


def _checkable(outcome: Outcome, physics: Physics | None, library_ns: float | None) -> bool:
    """Whether anything but the record's own two times bounds its shorter time."""
    told = (outcome.floor_ns, outcome.baseline_ns, library_ns)
    if any(value is not None for value in told):
        return True
    return bool(physics and floor_ns(outcome, physics))


def _other_factor(outcome: Outcome) -> str | None:
    """A claimed factor that its own times do not show."""
    if outcome.gain is None:
        return None
    claimed = 1 / (1 - outcome.gain)
    if outcome.before_ns is None or outcome.after_ns is None:
        if claimed > UNSHOWN_FACTOR:
            return f"claims {claimed:.3g} times without the times that would show it"
        return None
    measured = outcome.before_ns / outcome.after_ns
    if max(claimed / measured, measured / claimed) > DISAGREEMENT:
        return f"claims {claimed:.3g} times, its own times say {measured:.3g}"
    return None

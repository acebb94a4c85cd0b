"""What cannot be, or is doubtful, about a launch, its stated work and its time."""

from __future__ import annotations

from typing import Final

from kbs_engine.facts import Chip
from kbs_engine.roofs import Roof
from kbs_engine.units import human_bytes, human_ns
from kbs_engine.work import Work

IMPOSSIBLE: Final = 1.1
"""Beyond this multiple of the measurement no honest work can need more (timers and clocks err)."""


def dram_bytes(metrics: dict[str, float]) -> float | None:
    """Bytes that device memory moved; None where not both directions were counted."""
    read, write = metrics.get("dram_read_bytes"), metrics.get("dram_write_bytes")
    return None if read is None or write is None else read + write


def doubt(
    chip: Chip | None,
    work: Work | None,
    cited: list[Roof],
    time: float | None,
    metrics: dict[str, float],
) -> str:
    """Why the stated work cannot be that of this launch; empty when it can.

    Arithmetic stays in no cache: it cannot beat a cited peak at the clock that ran. Bytes can
    stay in L2, at most its size each way; what is beyond must cross to device memory.
    """
    if chip is None or work is None or not time:
        return ""
    by_kind = {roof.kind: roof for roof in cited}
    compute = by_kind.get("compute")
    if compute and compute.time_ns > IMPOSSIBLE * time:
        return _doubtful(
            f"its arithmetic needs {human_ns(compute.time_ns)} at the cited peak", metrics, time
        )
    l2 = chip.device_number("l2_size") or 0.0
    floor = max(0.0, (work.bytes_in or 0.0) - l2) + max(0.0, (work.bytes_out or 0.0) - l2)
    memory = by_kind.get("memory")
    if memory and floor / memory.value * 1e9 > IMPOSSIBLE * time:
        need = human_ns(floor / memory.value * 1e9)
        return _doubtful(f"its bytes beyond L2 need {need}", metrics, time)
    moved = dram_bytes(metrics)
    if moved is not None and floor > IMPOSSIBLE * moved + l2:
        why = f"{human_bytes(floor)} must cross to DRAM, {human_bytes(moved)} did"
        return _doubtful(why, metrics, time)
    return ""


def _doubtful(why: str, metrics: dict[str, float], time: float) -> str:
    if not metrics:
        return (
            f"nothing does the stated work in {human_ns(time)} ({why}): the time, the work, the "
            f"permitted precision or the chip is wrong"
        )
    return (
        f"the stated work cannot be that of this launch ({why}): the sidecar, the permitted "
        f"precision or the chip is wrong; the answer rests on counters only"
    )


def flag_model(
    time: float | None, cited: float | None, measured: float | None, flags: list[str]
) -> None:
    """Say where a model lies above the measured time."""
    for name, model in (("cited peaks", cited), ("measured ceilings", measured)):
        if time and model is not None and model > time:
            flags.append(
                f"the model at {name} ({human_ns(model)}) lies above the measured time "
                f"({human_ns(time)}): traffic stayed in a cache, or the ceiling was measured "
                f"under other conditions; the time stands"
            )


def flag_traffic(metrics: dict[str, float], work: Work | None, flags: list[str]) -> None:
    """Say where less than the compulsory bytes reached DRAM."""
    moved = dram_bytes(metrics)
    least = work.bytes_min if work else None
    if moved is None or not least:
        return
    if moved < 0.95 * least:
        flags.append(
            f"{human_bytes(moved)} of {human_bytes(least)} reached DRAM: "
            f"the rest stayed in L2 (writes not yet evicted, or inputs already there)"
        )

"""Interleaved samples of two arms, cut into blocks in which both took the same turns."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np

from kbs_engine.errors import MeasurementError
from kbs_engine.results import ArmTimes, Timed
from kbs_engine.timing.summaries import checked_samples

Turn = tuple[int, float]
"""Side (0 or 1) and (log of) the time."""


def arm_of(timed: Timed, index: int) -> ArmTimes:
    """The arm, when it exists and was not refused.

    Raises:
        MeasurementError: It was refused: nothing is claimed about it.
    """
    if not 0 <= index < len(timed.arms):
        raise MeasurementError(f"no arm {index}: the timing has {len(timed.arms)}")
    arm = timed.arms[index]
    if arm.reason is not None:
        raise MeasurementError(
            f"{arm.name} was refused ({arm.reason}); no speed is claimed for it",
            remedy="fix what the reason names, then time it again",
        )
    return arm


def block_log_ratios(timed: Timed, a: int, b: int) -> dict[int, np.ndarray]:
    """Per process pair, ln(time of b / time of a) of every block, in order.

    A block is the shortest run of turns in which both arms had equally many, joined with its
    mirror image (A B B A); its value is the difference of the mean logs. A lone last half
    counts as a block only where there is no whole one.

    Raises:
        MeasurementError: An arm was refused, has no valid sample, or never met the other.
    """
    turns = _turns(arm_of(timed, a), arm_of(timed, b))
    blocks = {process: _cut(sides) for process, sides in sorted(turns.items())}
    found = {process: np.asarray(ratios) for process, ratios in blocks.items() if ratios}
    if not found:
        raise MeasurementError(
            f"{timed.arms[a].name} and {timed.arms[b].name} were never timed in one process pair",
            remedy="time them in one job, so that they take turns",
        )
    return found


def _turns(a: ArmTimes, b: ArmTimes, *, logs: bool = True) -> dict[int, list[Turn]]:
    merged: dict[int, list[tuple[int, int, float]]] = {}
    for side, arm in enumerate((a, b)):
        values = checked_samples(arm.samples_ns, arm.name)
        values = np.log(values) if logs else values
        process = arm.process or (0,) * len(values)
        position = arm.position or _assumed_positions(len(values), side)
        if not len(values) == len(process) == len(position):
            raise MeasurementError(
                f"{arm.name}: {len(values)} samples, {len(process)} process numbers and "
                f"{len(position)} positions do not belong together",
                remedy="measure again, or restore the record",
            )
        for value, owner, place in zip(values, process, position, strict=True):
            merged.setdefault(owner, []).append((place, side, float(value)))
    return {
        owner: [(side, value) for _, side, value in sorted(found)]
        for owner, found in merged.items()
    }


def _assumed_positions(count: int, side: int) -> Sequence[int]:
    """Where an external timer did not say the order: A B B A."""
    return [2 * i + (side if i % 2 == 0 else 1 - side) for i in range(count)]


def _cut(turns: list[Turn]) -> list[float]:
    halves: list[tuple[list[float], list[float]]] = []
    open_half: tuple[list[float], list[float]] = ([], [])
    for side, value in turns:
        open_half[side].append(value)
        if len(open_half[0]) == len(open_half[1]):
            halves.append(open_half)
            open_half = ([], [])
    if not halves and all(open_half):
        halves.append(open_half)
    if len(halves) == 1:
        return [_difference(halves)]
    return [_difference(halves[i : i + 2]) for i in range(0, len(halves) - 1, 2)]


def _difference(halves: Sequence[tuple[list[float], list[float]]]) -> float:
    first = [value for half in halves for value in half[0]]
    second = [value for half in halves for value in half[1]]
    return float(np.mean(second) - np.mean(first))


def block_differences(
    timed: Timed, a: int, b: int, *, clock: Literal["device", "host"]
) -> dict[int, list[float]]:
    """Per process pair, time of b less time of a in nanoseconds of every block.

    Empty where the arms have no host times, or never took turns.
    """
    arms = [arm_of(timed, index) for index in (a, b)]
    if clock == "host":
        if any(len(arm.host_ns) != len(arm.samples_ns) for arm in arms):
            return {}
        arms = [msgspec.structs.replace(arm, samples_ns=arm.host_ns) for arm in arms]
    turns = _turns(arms[0], arms[1], logs=False)
    blocks = {process: _cut(sides) for process, sides in sorted(turns.items())}
    return {process: values for process, values in blocks.items() if values}


def timer_step_ns(timed: Timed, arms: Sequence[int]) -> float:
    """The step of the timer where samples lie on a lattice that is coarser than their noise.

    0 where fewer than half of the samples repeat a value: then noise dithers the step away.
    """
    samples = [np.round(np.asarray(timed.arms[i].samples_ns), 1) for i in arms]
    values = np.concatenate(samples)
    distinct = np.unique(values)
    if distinct.size < 2 or distinct.size > values.size / 2:  # noqa: PLR2004 - no lattice to see
        return 0.0
    return float(np.diff(distinct).min())


def data_seed(ratios: dict[int, np.ndarray]) -> tuple[int, float]:
    """A seed that anyone recomputes from the samples, and the sign of their canonical order.

    The seed rests on the ranks of the block ratios, so that scaling all times changes nothing;
    swapping the arms gives the same seed and the opposite sign, so that the interval of b over
    a is exactly the reciprocal of that of a over b.
    """
    forward, backward = _digest(ratios, 1.0), _digest(ratios, -1.0)
    sign = 1.0 if forward <= backward else -1.0
    return int.from_bytes(min(forward, backward)[:8], "big"), sign


def _digest(ratios: dict[int, np.ndarray], sign: float) -> bytes:
    digest = hashlib.sha256()
    for process, values in ratios.items():
        ranks = np.argsort(np.round(sign * values, 12), kind="stable").astype("<i8")
        digest.update(f"{process}:{values.size};".encode() + ranks.tobytes())
    return digest.digest()

"""From the answers of a device to bench.json, and the same computation again for the gate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from kbs_engine.errors import MeasurementError
from kbs_engine.jobs import Result, TimingSettings
from kbs_engine.results import Checked, Timed, read
from kbs_engine.run.claims import disbelieved, proof_of
from kbs_engine.run.measured import ArmSummary, Bench, StatedComparison, merge_timed


def build_bench(
    *,
    version: int,
    name: str,
    source_sha256: str,
    checks: Sequence[Result],
    blocks: Sequence[Result] = (),
    sanitized: Sequence[Result] = (),
    settings: TimingSettings | None = None,
    noise: float,
    **rest: Any,
) -> Bench:
    """bench.json from raw answers: times of every arm, and the kernel against every other arm.

    ``rest`` are further fields of ``Bench`` (tunables, switches, external). A check that failed,
    a job without an answer or a refused arm makes the bench incorrect, with its reason.
    """
    correct, reason, detail = verdict(source_sha256, checks, blocks)
    timed = _timed(blocks)
    arms = tuple(summaries(timed)) if timed else ()
    return Bench(
        version=version,
        name=name,
        source_sha256=source_sha256,
        correct=correct,
        reason=reason,
        detail=detail,
        settings=settings or TimingSettings(),
        arms=arms,
        comparisons=tuple(comparisons(timed, source_sha256, noise)) if timed and correct else (),
        blocks=tuple(blocks),
        checks=tuple(checks),
        sanitized=tuple(sanitized),
        **rest,
    )


def verdict(
    source_sha256: str, checks: Sequence[Result], blocks: Sequence[Result]
) -> tuple[bool, str | None, str]:
    """Whether the raw answers say that the kernel is correct, else the reason and its detail."""
    if not checks:
        return False, "not_checked", "no correctness check was run"
    for result in (*checks, *blocks):
        if result.value is None:
            return False, "job_failed", result.failure or ""
    for result in checks:
        checked = read(result, Checked)
        if not checked.passed:
            return False, checked.reason, checked.detail
    for result in blocks:
        for arm in read(result, Timed).arms:
            if arm.sha256 == source_sha256 and arm.reason is not None:
                return False, arm.reason, arm.detail
    return True, None, ""


def claims_judged(bench: Bench, noise: float, *, zero_sha256: str) -> Bench:
    """The bench, incorrect where its gain over another source cannot be believed.

    ``zero_sha256`` is v0's source, whose arm is the last that a champion's claims are over.
    """
    for result in bench.blocks if bench.correct else ():
        timed = proof_of(read(result, Timed), bench.source_sha256, zero_sha256)
        reason, detail = disbelieved(timed, bench.source_sha256, noise)
        if reason:
            return msgspec.structs.replace(
                bench, correct=False, reason=reason, detail=detail, comparisons=()
            )
    return bench


def summaries(timed: Timed) -> Iterable[ArmSummary]:
    """The times of every arm that was not refused."""
    from kbs_engine.timing.summaries import summary

    for arm in timed.arms:
        if arm.reason is None and arm.samples_ns:
            found = msgspec.structs.asdict(summary(arm.samples_ns))
            yield ArmSummary(name=arm.name, sha256=arm.sha256, **found)


def comparisons(timed: Timed, source_sha256: str, noise: float) -> Iterable[StatedComparison]:
    """The kernel of this hash against every other arm that it took turns with.

    ``ratio`` is the other's time over the kernel's: above 1, the kernel is faster.
    """
    mine = [i for i, arm in enumerate(timed.arms) if arm.sha256 == source_sha256]
    if not mine:
        return
    for other in range(len(timed.arms)):
        if other not in mine:
            row = compare_arms(timed, mine[0], other, noise)
            if row is not None:
                yield row


def compare_arms(timed: Timed, a: int, b: int, noise: float) -> StatedComparison | None:
    """Arm a against arm b (ratio t_b / t_a), or None where they cannot be compared."""
    from kbs_engine.timing.comparison import compare

    try:
        found = compare(timed, a, b, noise=noise)
    except MeasurementError:
        return None
    return StatedComparison(
        a=arm_label(timed, a),
        b=arm_label(timed, b),
        ratio=found.ratio,
        low=found.low,
        high=found.high,
        verdict=found.verdict,
        noise=found.noise,
        smallest_detectable=found.smallest_detectable,
    )


def arm_label(timed: Timed, index: int) -> str:
    """How a comparison names an arm: its source hash, or the baseline's name."""
    arm = timed.arms[index]
    return arm.sha256 or arm.name


def _timed(blocks: Sequence[Result]) -> Timed | None:
    return merge_timed([read(block, Timed) for block in blocks if block.value is not None])

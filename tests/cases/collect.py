"""From a run folder and two benches to the record of one case; every figure is read, none made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kbs_engine.proposals import TUNING_METHODS
from kbs_engine.run import RunFolder
from kbs_engine.run.view import RunView, VersionView, read_run
from tests.cases.case_list import CaseStudy
from tests.cases.records import CaseRecord, Factor, Gain

TEMPLATE = "algorithmic_replacement"
BASELINES = {
    "pytorch-eager": "over_eager",
    "torch-compile": "over_compile",
    "flashinfer": "over_flashinfer",
}


def collect(
    case: CaseStudy, root: Path, benches: dict[str, Path], **rest: Any
) -> tuple[CaseRecord, Path]:
    """The record of a finished run, and the champion's kernel file.

    Args:
        case: the case.
        root: its run folder.
        benches: ``benchmark.json`` of ``kbs bench`` by ``v0`` and ``best``; may be empty.
        rest: fields that only the caller knows (command, date, wall_s).
    """
    with RunFolder.open(root) as run:
        view = read_run(run)
    events = (root / "events.jsonl").read_text(encoding="utf-8").splitlines()
    state = view.state
    env, own = view.env, view.benchmark.own() if view.benchmark else None
    zero = view.benchmark.arm(state.baseline_sha256) if view.benchmark else None
    machine = env.machine if env else None
    factors, missing = _factors(view, benches)
    searches = [version.search for version in view.versions if version.search]
    best = view.version(state.best_version)
    line = best.roofline if best else None
    entry = state.version(0)
    record = CaseRecord(
        id=case.id,
        device=state.settings.device_kind,
        gpu=machine.gpu if machine else "",
        chip=state.settings.chip,
        driver=machine.driver if machine else "",
        versions=dict(machine.versions) if machine else {},
        dims=state.settings.dims,
        knowledge=bool(state.settings.extra.get("knowledge", True)),
        ended=state.ended,
        because=str(state.loop.get("because", "")),
        improved=state.improved,
        v0_ns=zero.median_ns if zero else entry.median_ns if entry else None,
        best_ns=own.median_ns if own else state.best_ns,
        not_compared=missing,
        vendor=case.vendor.name,
        over_vendor=factors.get(BASELINES[case.vendor.arm]),
        roof_ns=line.model_cited_ns if line else None,
        gpu_seconds=state.gpu_seconds_used,
        found_gpu_seconds=found_after(events, state.best_version),
        gpu_seconds_allowed=state.settings.gpu_seconds,
        samples=sum(one.samples for one in searches),
        variants=sum(row.proposed for one in searches for row in one.rounds),
        iterations=sum(version.number > 0 for version in view.versions),
        best_version=state.best_version,
        origin=_origin(view),
        confirmed=tuple(
            gain.method
            for version in _chain(view)
            for gain in _gains(view, version)
            if gain.verdict == "effective"
        ),
        gains=tuple(gain for version in view.versions for gain in _gains(view, version)),
        **{**factors, **rest},
    )
    return record, root / f"v{state.best_version}" / state.settings.kernel_file


def found_after(events: list[str], best: int) -> float | None:
    """GPU seconds of all jobs up to the gate of the best version; None where that is not passed."""
    spent = 0.0
    for event in map(json.loads, events):
        spent += event["data"].get("gpu_time_s") or 0.0 if event["kind"] == "job_finished" else 0.0
        if event["kind"] == "gate_passed" and event["data"]["version"] == best:
            return spent
    return None


def _factors(view: RunView, benches: dict[str, Path]) -> tuple[dict[str, Factor], dict[str, str]]:
    """Speedups of the champion, and why a baseline has none.

    Over v0 from the run's final benchmark, where both took turns, or from the champion's own
    timing beside v0 where a run came to no final benchmark; over the libraries from the bench of
    the champion, and where there is none from the final benchmark too.
    """
    found: dict[str, Factor] = {}
    missing: dict[str, str] = {}
    entry = view.state.version(view.state.best_version)
    if entry is not None and entry.speedup_v0_low is not None:
        found["over_v0"] = Factor(
            ratio=entry.speedup_v0 or 0.0,
            low=entry.speedup_v0_low,
            high=entry.speedup_v0_high or 0.0,
            verdict="faster" if view.state.improved else "within noise",
        )
    bench, zero = view.benchmark, view.state.baseline_sha256
    for row in bench.comparisons if bench else ():
        name = "over_v0" if row.b == zero else BASELINES.get(row.b)
        if name:
            found[name] = Factor(ratio=row.ratio, low=row.low, high=row.high, verdict=row.verdict)
    if "best" in benches and benches["best"].is_file():
        document = json.loads(benches["best"].read_text(encoding="utf-8"))
        for arm, row in document["baselines"].items():
            if row.get("speedup") is None:
                missing[arm] = f"{row.get('reason') or ''}: {row.get('detail') or ''}".strip(": ")
                continue
            low, high = row["ci95"]
            found[BASELINES[arm]] = Factor(
                ratio=row["speedup"], low=low, high=high, verdict=row["verdict"]
            )
    return found, missing


def _chain(view: RunView) -> list[VersionView]:
    """The versions that lead from v0 to the best, v0 left out."""
    found: list[VersionView] = []
    number: int | None = view.state.best_version
    while number:
        version = view.version(number)
        if version is None:
            break
        found.append(version)
        number = version.entry.base_version if version.entry else None
    return found[::-1]


def _origin(view: RunView) -> tuple[str, ...]:
    """What the champion is made of, in the order in which it came in."""
    rows: list[str] = []
    for version in _chain(view):
        for row in version.methods.methods if version.methods else ():
            if row.method == TEMPLATE:
                rows.append(_template(version))
            elif row.method in TUNING_METHODS and not row.switch:
                rows.append("tunables")
            else:
                rows.append(f"rewrite {row.method}")
    return tuple(dict.fromkeys(rows))


def _template(version: VersionView) -> str:
    """``template NAME``, as the version's methods name it."""
    held = version.methods.methods if version.methods else ()
    told = next((row.description for row in held if row.method == TEMPLATE), "")
    return told.partition("Start from ")[2] or "template"


def _gains(view: RunView, version: VersionView) -> list[Gain]:
    """Predicted and realised gain of each method of a version."""
    if version.attribution is None:
        return []
    before = view.version(version.number - 1)
    ranked = before.request.ranked if before and before.request else ()
    predicted = {row.method: row.predicted_gain for row in ranked}
    return [
        Gain(
            version=version.number,
            method=row.method,
            predicted_low=predicted[row.method][0] if row.method in predicted else None,
            predicted_high=predicted[row.method][1] if row.method in predicted else None,
            realised=row.gain,
            low=row.low,
            high=row.high,
            verdict=row.verdict,
            opcodes=row.opcodes,
        )
        for row in version.attribution.methods
    ]

"""README.md of a run: task, cited hardware, roofline with its calculation, targets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kbs_engine.reports.roofline import roofline_text
from kbs_engine.reports.text import NOT_COLLECTED, bullets, document, section, table
from kbs_engine.roofs import Roofline
from kbs_engine.run.settings import IsaTarget, Settings, Target
from kbs_engine.run.state import State, ToleranceUsed
from kbs_engine.units import human_ns
from kbs_engine.work import Work

TBD = "TBD"


def workspace_readme(
    state: State,
    *,
    specs: Sequence[str] = (),
    roofline: Roofline | None = None,
    work: Work | None = None,
    target: Target | None = None,
    isa_targets: Sequence[IsaTarget] = (),
    notes: Sequence[str] = (),
) -> str:
    """The static constraints of a run. What nobody knows yet is TBD; a spec is cited or UNKNOWN.

    ``specs`` are citation lines as ``Spec.cite`` writes them; ``target`` is the absolute stop
    target where the settings name none.
    """
    settings = state.settings
    placeholders = [str(row) for row in settings.placeholders]
    return document(
        f"Run {state.run_id}: {state.name}",
        section("Task Context", table(("Field", "Value"), _context(state))),
        section("Hardware Spec", bullets([*specs, *placeholders] or [TBD])),
        section("Roofline", roofline_text(roofline, work) if roofline is not None else f"- {TBD}"),
        section("Stop Conditions", bullets(_stops(settings, settings.target or target))),
        section("ISA Optimization Targets", _isa([*state.isa_targets, *isa_targets])),
        section("Epochs", bullets(_epochs(state))),
        section("Notes", bullets(note for note in (settings.notes, *notes) if note)),
    )


def _context(state: State) -> Iterable[tuple[str, str]]:
    settings = state.settings
    dims = ", ".join(f"{name}={value}" for name, value in settings.dims.items())
    given = ToleranceUsed(atol=settings.atol, rtol=settings.rtol, source=settings.tolerance_from)
    yield "kernel", state.baseline_file or state.name
    yield "platform", settings.platform or settings.gpu or TBD
    yield "architecture", settings.arch or TBD
    yield "language", settings.language
    yield "kernel family", settings.family
    yield "dtype", settings.dtype or state.dtype or TBD
    yield "shapes", dims or TBD
    yield "tolerances", str(state.tolerance or given) or "those of the reference, else derived"
    yield "seeds", settings.seed_policy
    yield "reference", "ref.py"
    yield "reference project", settings.reference_project or TBD
    yield "counters", settings.mode
    yield "methods per iteration", str(settings.slots)
    yield "iterations", str(settings.iterations)
    yield "proposer", settings.proposer
    yield "noise threshold", f"{100 * settings.noise:g} %"


def _stops(settings: Settings, target: Target | None) -> list[str]:
    lines = [
        (
            "near peak: t_model / t at least 0.90 at measured ceilings or 0.85 at cited peaks, or "
            "the limiter at least 0.90 of its ceiling with at most 1.1 times the compulsory traffic"
        ),
        f"{settings.iterations} iterations",
        "no method left whose gain is worth a slot",
    ]
    if settings.gpu_seconds is not None:
        lines.append(f"{settings.gpu_seconds:g} s of GPU time spent")
    lines.insert(0, _target(target) if target is not None else f"absolute target: {TBD}")
    return lines


def _target(target: Target) -> str:
    because = f"; {target.because}" if target.because else ""
    if target.kind == "time":
        return f"absolute target: kernel time at most {human_ns(target.value)}{because}"
    if target.kind == "share_of_model":
        return f"absolute target: t_model / t at least {target.value:.3g}{because}"
    unit = {"B/s": "TB/s", "FLOP/s": "TFLOP/s"}.get(target.unit, target.unit)
    what = "achieved bandwidth" if target.kind == "bandwidth" else "achieved throughput"
    return f"absolute target: {what} at least {target.value / 1e12:.4g} {unit}{because}"


def _isa(targets: Sequence[IsaTarget]) -> str:
    if not targets:
        return f"- {TBD}"
    rows = [(row.what, row.target, row.because or NOT_COLLECTED) for row in targets]
    return table(("What", "Target", "Because"), rows)


def _epochs(state: State) -> list[str]:
    lines = []
    for epoch in state.epochs:
        why = f": {epoch.reason}" if epoch.reason else ""
        lines.append(f"epoch {epoch.number} from v{epoch.first_version}{why}")
    return lines or ["epoch 0 from v0"]

"""Diagnoses and recommendations as a person reads them at a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kbs_engine.hints import Hint
from kbs_engine.limiter import busy_share
from kbs_engine.recommendations import Filtered, KernelAdvice, KernelDiagnosis, Recommendation
from kbs_engine.roofs import Roof, Roofline
from kbs_engine.symptoms import Cause, NotMeasurable
from kbs_engine.units import human_ns, human_rate

if TYPE_CHECKING:
    from rich.console import Console


def show_diagnosis(console: Console, item: KernelDiagnosis, *, verbose: bool) -> None:
    """One kernel: headline, roofline, causes, effects, what could not be measured."""
    _headline(console, item)
    show_roofline(console, item.roofline)
    for flag in item.flags:
        console.print(f"  note: {flag}", style="dim", markup=False)
    if item.causes:
        console.print("  Causes", style="bold")
    for cause in item.causes:
        _cause(console, cause)
    if not item.causes:
        console.print("  Causes: none; no symptom fired", markup=False)
    if item.effects and not verbose:
        names = ", ".join(effect.id for effect in item.effects)
        console.print(f"  Explained by these: {names}", markup=False)
    if verbose:
        for effect in item.effects:
            by = ", ".join(effect.explained_by)
            console.print(f"    effect {effect.id}: {effect.message}  (by {by})", markup=False)
    _not_measurable(console, item.not_measurable, verbose=verbose)
    _vendor(console, item, verbose=verbose)


def _headline(console: Console, item: KernelDiagnosis) -> None:
    console.print()
    time = human_ns(item.time_ns) if item.time_ns is not None else "time unknown"
    share = ""
    if item.time_share is not None and item.time_share < 1:
        share = f", {item.time_share:.0%} of the profiled time"
    console.print(f"{item.name}", style="bold", markup=False, end="")
    console.print(
        f"  launch {item.launch}, {time}{share}, {item.chip or 'chip unknown'}", markup=False
    )
    limiter = item.limiter
    if item.roofline.limiter_share is not None:
        busy = busy_share(limiter, item.roofline.limiter_share, item.metrics)
        limiter += f" ({busy:.0%} busy)"
    if item.time_ns is None and item.roofline.limiter_share is None:
        told = f"  nothing was measured; limiter {limiter}" if item.limiter != "unknown" else ""
        console.print(told or "  nothing was measured", markup=False)
        return
    verdict = "near peak" if item.near_peak else "not near peak"
    console.print(
        f"  algorithm bound by {item.algorithm_bound}; limiter {limiter}; {verdict}", markup=False
    )


def show_roofline(console: Console, line: Roofline) -> None:
    """Roofs with their citations, the model, and the gaps."""
    for roof in line.roofs:
        console.print(f"  {_roof(roof)}{_reached(roof, line)}", markup=False)
        console.print(f"      {roof.citation}", style="dim", markup=False)
    if line.fixed_ns is not None:
        console.print(f"  an empty launch takes {human_ns(line.fixed_ns)}", markup=False)
        console.print(f"      {line.fixed_citation}", style="dim", markup=False)
    if line.model_ns is not None and line.time_ns:
        gap = f"Δ = {line.gap:.2f}" if line.gap is not None else "Δ unknown"
        console.print(
            f"  model {human_ns(line.model_ns)} of {human_ns(line.time_ns)} measured by the "
            f"{line.time_source} ({line.model_ns / line.time_ns:.2f}); {gap}; "
            f"Δm {_or_unknown(line.gap_memory)}, Δc {_or_unknown(line.gap_compute)}, "
            f"Δl {_or_unknown(line.gap_latency)}",
            markup=False,
        )


def _reached(roof: Roof, line: Roofline) -> str:
    """What the kernel reached of a roof, in the roof's own unit."""
    if not line.time_ns:
        return ""
    rate = roof.value * roof.time_ns / line.time_ns
    share = f"{rate / roof.cited_value:.2f} of it"
    if roof.value != roof.cited_value:
        share += f", {rate / roof.value:.2f} at that clock"
    return f"; reached {human_rate(rate, roof.unit)}, {share}"


def _or_unknown(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}"


def _roof(roof: Roof) -> str:
    scaled = ""
    if roof.clock_hz is not None and roof.value != roof.cited_value:
        scaled = (
            f", {human_rate(roof.value, roof.unit)} at the {roof.clock_hz / 1e9:.2f} GHz that ran"
        )
    return (
        f"{roof.basis} {roof.kind} roof {human_rate(roof.cited_value, roof.unit)}{scaled}: "
        f"{human_ns(roof.time_ns)}"
    )


def _cause(console: Console, cause: Cause) -> None:
    console.print(
        f"    {cause.id} [{cause.axis}]  severity {cause.severity:.2f}, "
        f"could return {cause.recoverable:.0%}",
        markup=False,
    )
    console.print(f"      {cause.message}", markup=False)
    if cause.explains:
        console.print(f"      explains {', '.join(cause.explains)}", style="dim", markup=False)


def _not_measurable(console: Console, rows: Sequence[NotMeasurable], *, verbose: bool) -> None:
    if not rows:
        return
    sections = sorted({name for row in rows for name in row.sections})
    ids = ", ".join(row.id for row in rows)
    if verbose:
        for row in rows:
            console.print(
                f"    not measurable: {row.id} needs {', '.join(row.needs)}", markup=False
            )
    else:
        console.print(f"  Not measurable here ({len(rows)}): {ids}", style="dim", markup=False)
    work = any(need.startswith("w.") for row in rows for need in row.needs)
    profile = any(need.startswith("p.") for row in rows for need in row.needs)
    if profile and sections:
        flags = " ".join(f"--section {name}" for name in sections)
        console.print(f"    ncu {flags} would measure more", style="dim", markup=False)
    if work:
        console.print(
            "    a work sidecar (NAME.work.yaml) would tell more", style="dim", markup=False
        )


def _vendor(console: Console, item: KernelDiagnosis, *, verbose: bool) -> None:
    rules = [rule for rule in item.vendor_rules if rule.estimated_speedup_pct]
    rules.sort(key=lambda rule: -(rule.estimated_speedup_pct or 0))
    for rule in rules if verbose else rules[:3]:
        scope = f", {rule.scope}" if rule.scope else ""
        console.print(
            f"  Nsight's own rule {rule.rule}{': ' if rule.title else ''}{rule.title} "
            f"(est. {rule.estimated_speedup_pct:.1f} %{scope})",
            style="dim",
            markup=False,
        )


def show_advice(console: Console, advice: KernelAdvice, *, top: int, verbose: bool) -> None:
    """A diagnosis and its ranked methods."""
    show_diagnosis(console, advice.diagnosis, verbose=verbose)
    if advice.note:
        console.print(f"  {advice.note}", style="bold", markup=False)
    if advice.recommendations:
        console.print("  Methods (score = chance × gain × fit)", style="bold")
    for rank, row in enumerate(advice.recommendations[:top], 1):
        show_method(console, rank, row, verbose=verbose)
    rest = len(advice.recommendations) - top
    if rest > 0:
        console.print(f"    … and {rest} more with --top", style="dim", markup=False)
    for warning in advice.anti_strategies:
        console.print(
            f"  do not {warning.method} here ({warning.id}): {warning.because}", markup=False
        )
        console.print(f"      <- {warning.citation}", style="dim", markup=False)
    show_filtered(console, advice.filtered, verbose=verbose)


def show_method(console: Console, rank: int, row: Recommendation, *, verbose: bool) -> None:
    """One method with every part of its score; rank 0 for one that is not listed."""
    low, high = row.predicted_gain
    place = f"{rank}. " if rank else ""
    console.print(
        f"    {place}{row.method}  {row.score:.3f} = {row.chance:.2f} × {row.gain:.2f} × "
        f"{row.fit:.2f}",
        markup=False,
    )
    seen = (
        f"{row.outcomes.helped} of {row.outcomes.tried} helped on {row.outcomes.machines} machines"
    )
    past = seen if row.outcomes.tried else "no past outcomes"
    console.print(
        f"       {row.title} [{row.axis}, {row.status}]; predicted to return "
        f"{low:.0%} to {high:.0%}; {past}",
        markup=False,
    )
    for trigger in row.triggers:
        console.print(f"       because {trigger}", markup=False)
    if row.hint is not None:
        console.print(f"       {_hint(row.hint)}", style="dim", markup=False)
    if row.group:
        console.print(f"       speaks for {', '.join(row.group)}", style="dim", markup=False)
    for rule in row.vendor_rules:
        console.print(f"       Nsight's matching rule: {rule}", style="dim", markup=False)
    if verbose:
        parts = ", ".join(f"{name} {value:.2f}" for name, value in row.fit_parts.items())
        console.print(f"       fit: {parts}", style="dim", markup=False)
    for citation in row.citations if verbose else row.citations[:2]:
        console.print(f"       {citation}", style="dim", markup=False)


def _hint(hint: Hint) -> str:
    """What search found, with the share that is assumed from it."""
    cases = f" ({', '.join(hint.read)})" if hint.read else ""
    return (
        f"search: page {hint.pages:.2f}, sayings {hint.sayings:.2f} and in meaning "
        f"{hint.saying_meaning:.2f}, published cases {hint.cases:+.2f}{cases}; "
        f"share assumed {hint.share:.2f}"
    )


def show_filtered(console: Console, rows: Sequence[Filtered], *, verbose: bool) -> None:
    """What was taken out, by filter; each with its reason when asked for more."""
    if not rows:
        return
    console.print("  Filtered out", markup=False)
    groups: dict[str, list[Filtered]] = {}
    for row in rows:
        groups.setdefault(row.filter, []).append(row)
    for name, group in groups.items():
        if verbose:
            for row in group:
                console.print(f"    {row.method}: {name}, {row.reason}", style="dim", markup=False)
        else:
            ids = ", ".join(row.method for row in group[:FILTERED_SHOWN])
            if len(group) > FILTERED_SHOWN:
                ids += f" and {len(group) - FILTERED_SHOWN} more"
            told = _FILTERS.get(name, name)
            console.print(f"    {told} ({len(group)}): {ids}", style="dim", markup=False)
    if not verbose:
        console.print("    (kbs -v tells each reason)", style="dim", markup=False)


FILTERED_SHOWN = 10
"""Methods named for each filter unless -v asks for all."""

_FILTERS = {
    "architecture": "the chip lacks what they need",
    "language": "not for this language",
    "kernel": "not for this kind of kernel",
    "dtype": "not for this data type",
    "precision": "the task does not permit their precision",
    "applied": "already in the kernel",
    "conflict": "conflict with what the kernel has",
    "outcome": "failed before on this very source",
    "near_equivalent": "a near-equivalent speaks for them",
    "score": "too little to gain",
}

"""benchmark.md and the lines of ``kbs bench``."""

from __future__ import annotations

from kbs.measuring.benching import Benched, best_baseline, compared
from kbs_engine.jobs import TimingSettings
from kbs_engine.refusals import REASONS, explain
from kbs_engine.reports.baseline import arms_table, compared_table
from kbs_engine.reports.text import bullets, document, section
from kbs_engine.units import human_ns


def bench_markdown(done: Benched) -> str:
    """benchmark.md: verdict, machine, task, settings, times, speedups."""
    bench, timed = done.bench, done.timed
    name = done.subject.source.name
    parts = [f"Correctness: {_verdict(done)}", section("What was measured", bullets(_facts(done)))]
    if timed is not None and bench.arms:
        parts.append(section("Times", arms_table(bench)))
    if bench.comparisons:
        parts.append(section("Speedups", compared_table(bench), _reading(done)))
    missing = _missing(done)
    if missing:
        parts.append(section("Not compared", bullets(missing)))
    return document(f"Benchmark of {name}", *parts)


def bench_lines(done: Benched) -> list[str]:
    """The same in lines for a terminal."""
    bench = done.bench
    lines = [f"  {_verdict(done)}"]
    width = max((len(arm.name) for arm in bench.arms), default=0)
    for arm in bench.arms:
        row = None if arm.sha256 == bench.source_sha256 else compared(bench, arm.name)
        spread = f"{human_ns(arm.p20_ns)} to {human_ns(arm.p80_ns)}"
        told = ""
        if row is not None:
            told = f"   {row.ratio:.3f}× [{row.low:.3f}, {row.high:.3f}] {row.verdict}"
        lines.append(f"  {arm.name:{width}}  {human_ns(arm.median_ns):>10}  ({spread}){told}")
    best = best_baseline(bench)
    row = compared(bench, best) if best else None
    if row is not None:
        smallest = row.smallest_detectable
        seen = (
            "" if smallest is None else f"; smallest effect that would show {100 * smallest:.1f} %"
        )
        lines.append(f"  best baseline: {best}; noise threshold {100 * row.noise:g} %{seen}")
    return lines + [f"  {text}" for text in _missing(done)]


def _verdict(done: Benched) -> str:
    bench = done.bench
    if bench.correct:
        return "PASS"
    if bench.reason in REASONS:
        return f"FAIL  {explain(bench.reason, bench.detail.strip())}"
    return f"FAIL  {bench.reason}: {bench.detail}"


def _missing(done: Benched) -> list[str]:
    out = []
    for name in done.baselines:
        raw = done.raw(name)
        if raw is not None and raw.reason is not None:
            first = (raw.detail.strip().splitlines() or [""])[0]
            out.append(f"{name}: not compared ({raw.reason}: {first})")
    return out


def _facts(done: Benched) -> list[str]:
    bench, timed, source = done.bench, done.timed, done.subject.source
    where = (bench.blocks or bench.checks)[0].provenance
    timing = bench.settings
    dims = ", ".join(f"{name}={value}" for name, value in done.subject.task.dims.items())
    facts = [
        f"kernel: {source.name} ({source.language}), source {source.sha256[:12]}",
        f"device: {where.gpu or 'unknown'} ({where.device})",
        f"driver: {where.driver or 'none'}; uuid {where.gpu_uuid or 'none'}; {where.date}",
        f"shapes: {dims or 'those of setup()'}",
        _calls(timing),
        "versions: " + ", ".join(f"{name} {text}" for name, text in where.versions.items()),
    ]
    if timed is not None:
        facts.append(f"timer: {timed.timer}; order {timed.order}")
        facts.append(f"every timed output verified: {'yes' if timed.verified else 'no'}")
        for name, before in sorted(timed.clocks_before_mhz.items()):
            after = timed.clocks_after_mhz.get(name, before)
            facts.append(f"clock {name}: {before:g} MHz before, {after:g} after")
    notes = [*done.notes, *done.subject.notes, *(timed.warnings if timed else ())]
    return facts + [f"note: {text}" for text in notes]


def _calls(timing: TimingSettings) -> str:
    return (
        f"warm-up: at least {timing.warmup_calls} calls and {timing.warmup_ms:g} ms; "
        f"{timing.trials} trials, first {timing.discard_first} discarded, "
        f"{timing.prewarm_calls} untimed call before all"
    )


def _reading(done: Benched) -> str:
    noise = done.bench.comparisons[0].noise
    best = best_baseline(done.bench)
    return (
        "A factor above 1 says how many times faster the kernel is; *faster* means that the whole "
        f"95 % interval lies beyond the noise threshold of {100 * noise:g} %. "
        f"The best baseline is {best}."
    )

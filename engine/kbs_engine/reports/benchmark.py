"""benchmark.md: the best version against v0 and the libraries, and how it was timed."""

from __future__ import annotations

from kbs_engine.reports.baseline import arms_table, compared_table
from kbs_engine.reports.text import NOT_COLLECTED, bullets, document, section
from kbs_engine.results import Timed
from kbs_engine.run.measured import Bench
from kbs_engine.run.settings import Settings
from kbs_engine.run.view import RunView


def benchmark(view: RunView) -> str | None:
    """The report of benchmark.json; None before the final benchmark."""
    bench = view.benchmark
    if bench is None:
        return None
    settings = view.state.settings
    verdict = "PASS" if bench.correct else f"FAIL ({bench.reason})"
    return document(
        f"Benchmark of {view.state.name}",
        f"Correctness: {verdict}",
        section("What was measured", bullets(_setup(bench, settings))),
        section("Times", arms_table(bench)),
        section("Speedups", compared_table(bench), _reading(settings)),
        section("External", bullets(_external(bench))) if bench.external else "",
    )


def _setup(bench: Bench, settings: Settings) -> list[str]:
    timed = bench.timed()
    where = bench.blocks[0].provenance if bench.blocks else None
    gpu = (where.gpu if where else "") or settings.gpu or NOT_COLLECTED
    timing = bench.settings
    calls = (
        f"warm-up: at least {timing.warmup_calls} calls and {timing.warmup_ms:g} ms; "
        f"{timing.trials} trials, first {timing.discard_first} discarded, "
        f"{timing.prewarm_calls} untimed call before all"
    )
    lines = [
        f"version: v{bench.version}, source {bench.source_sha256[:12]}",
        f"device: {gpu} ({settings.device_kind})",
        f"architecture: {settings.arch or NOT_COLLECTED}",
        "shapes: " + ", ".join(f"{k}={v}" for k, v in settings.dims.items()),
        f"driver: {(where.driver if where else '') or NOT_COLLECTED}",
        f"toolchain: {(where.toolchain if where else '') or NOT_COLLECTED}",
        f"timer: {timed.timer if timed else NOT_COLLECTED}; order {timed.order if timed else ''}",
        calls,
        f"fresh process pairs: {_pairs(timed)}",
        f"every timed output verified: {'yes' if timed and timed.verified else 'no'}",
    ]
    if settings.device_kind != "cuda":
        lines.append(f"no figure here is a GPU's: the device is a {settings.device_kind}")
    lines += [f"clocks: {_clocks(timed)}"] if timed and timed.clocks_before_mhz else []
    return lines + [f"warning: {text}" for text in (timed.warnings if timed else ())]


def _pairs(timed: Timed | None) -> int:
    return len({n for arm in timed.arms for n in arm.process}) if timed else 0


def _clocks(timed: Timed) -> str:
    return ", ".join(
        f"{name} {before:g} to {timed.clocks_after_mhz.get(name, before):g} MHz"
        for name, before in sorted(timed.clocks_before_mhz.items())
    )


def _reading(settings: Settings) -> str:
    return (
        "A factor above 1 says how many times faster the kernel is; *faster* means that the whole "
        f"95 % interval lies beyond the noise threshold of {100 * settings.noise:g} %."
    )


def _external(bench: Bench) -> list[str]:
    return [
        f"{row.label}: {row.value:.6g} {row.unit} by `{row.command}`; decides nothing alone"
        for row in bench.external
    ]

"""Options of a run, the same for `kbs optimize` and `kbs loop init`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from kbs.context import Context
from kbs.looping.beginning import RunOptions
from kbs.measuring.options import timing_settings
from kbs.paths import PathType
from kbs.subjects import FiniteRange
from kbs_engine.jobs import MOST_TRIALS
from kbs_engine.run.settings import LIMITS

F = TypeVar("F", bound=Callable[..., Any])
_ON_OFF = click.Choice(["on", "off"])


def run_options(function: F) -> F:
    """How long, how wide, how strictly, and by whom a kernel is optimized."""
    wrapped: Any = function
    for option in reversed((*_search(), *_measuring(), *_knowledge())):
        wrapped = option(wrapped)
    return wrapped  # type: ignore[no-any-return]  # click's decorators keep the function


def _count(setting: str) -> click.IntRange:
    return click.IntRange(*LIMITS[setting])


def _search() -> tuple[Any, ...]:
    return (
        click.option("-n", "--iterations", type=click.IntRange(0, 1000), default=3,
                     show_default=True, help="Versions to try after v0."),
        click.option("--branches", type=_count("branches"), default=4, show_default=True,
                     help="Variants raced per version."),
        click.option("--slots", type=_count("slots"), default=3, show_default=True,
                     help="Methods per version; 1 is strict one-change mode."),
        click.option("--retries", type=_count("retries"), default=3, show_default=True,
                     help="Further tries at a version whose branches are all wrong."),
        click.option("--attribution", type=click.Choice(["loo", "factorial"]), default="loo",
                     show_default=True, help="Leave one out (a factorial where that cannot tell), "
                     "or the factorial at once."),
        click.option("--proposer", default="builtin", show_default=True,
                     help="builtin, agent (submit kernels), or a command in quotes."),
        click.option("--proposer-timeout", type=FiniteRange(above_zero=True), default=600.0,
                     show_default=True, help="Seconds that a proposer's command may take."),
        click.option("--gpu-seconds", type=FiniteRange(above_zero=True),
                     help="Budget of GPU time; the run ends before it is overrun, v0 apart."),
        click.option("--target", default="", help="Stop at this time (61us) or share of the "
                     "model (0.9)."),
        click.option("--output", type=PathType(file_okay=False),
                     help="Run folder. Default: run_YYYYMMDD_HHMMSS beside the kernel."),
    )  # fmt: skip


def _measuring() -> tuple[Any, ...]:
    return (
        click.option("--device", default="auto", show_default=True,
                     help="auto, cuda:1, host (a dry run on the CPU), recorded:DIR."),
        click.option("--record", type=PathType(file_okay=False),
                     help="Write jobs and answers here, for --device recorded:DIR."),
        click.option("--counters", type=_ON_OFF, default="on", show_default=True,
                     help="Hardware counters; off is the counter-free mode."),
        click.option("--noise-threshold-pct", "noise_pct", type=FiniteRange(), default=2.0,
                     show_default=True, help="Effects within this are not told apart."),
        click.option("--ncu-num", type=_count("ncu_num"), default=5, show_default=True,
                     help="Metrics kept per axis."),
        click.option("--warmup", type=click.IntRange(0), default=5, show_default=True,
                     help="Untimed calls before timing."),
        click.option("--trials", type=click.IntRange(1, MOST_TRIALS), default=100,
                     show_default=True, help="Timed calls."),
        click.option("--timing-method", type=click.Choice(["cuda_event", "host_time"]),
                     default="cuda_event", show_default=True,
                     help="A host has its own clock, whatever is said here."),
        click.option("--rounds", "check_rounds", type=_count("check_rounds"), default=10,
                     show_default=True, help="Rounds of every correctness check."),
        click.option("--process-pairs", type=_count("process_pairs"), default=3,
                     show_default=True, help="Fresh processes behind every claim."),
        click.option("--proof", type=click.Choice(["together", "apart"]), default="together",
                     show_default=True, help="Together: one timing proves the champion and "
                     "ablates it. Apart: ablations are timed once the champion is proven."),
        click.option("--seed-policy", type=click.Choice(["secret", "fixed"]), default="secret",
                     show_default=True, help="Fixed is for debugging alone."),
        click.option("--baselines", default="pytorch-eager", show_default=True,
                     help="pytorch-eager, torch-compile, flashinfer, all or none."),
        click.option("--benchmark", "external_benchmark", default="",
                     help="A team's own driver: CMD KERNEL REF; labelled external."),
    )  # fmt: skip


def _knowledge() -> tuple[Any, ...]:
    return (
        click.option("--platform", default="",
                     help="Targets for this GPU; measurements stay those of the local one."),
        click.option("--placeholder", "placeholders", multiple=True,
                     help="metric=value for a spec that the wiki lacks; marked everywhere."),
        click.option("--templates", type=_ON_OFF, default="on", show_default=True,
                     help="Whether a branch may start from a template."),
        click.option("--knowledge", type=_ON_OFF, default="on", show_default=True,
                     help="Off: no wiki, no past outcomes, and no counters, which the wiki reads."),
        click.option("--notes", default="", help="Constraints and edge cases, for the README."),
    )  # fmt: skip


ALL_BASELINES = ("pytorch-eager", "torch-compile", "flashinfer")


def take_run(context: Context, options: dict[str, Any]) -> tuple[RunOptions, Path | None]:
    """The run's options out of a command's keyword arguments, and where to record."""
    record = options.pop("record")
    baselines = _baselines(options.pop("baselines"))
    timing = timing_settings(
        "--trials",
        method=options.pop("timing_method"),
        warmup_calls=options.pop("warmup"),
        trials=options.pop("trials"),
    )
    chosen = RunOptions(
        home=context.home,
        timing=timing,
        baselines=baselines,
        counters=options.pop("counters") == "on",
        templates=options.pop("templates") == "on",
        knowledge=options.pop("knowledge") == "on",
        proposer_timeout_s=options.pop("proposer_timeout"),
        **options,
    )
    return chosen, record


def _baselines(text: str) -> tuple[str, ...]:
    words = tuple(word for word in text.replace(",", " ").split() if word != "none")
    return ALL_BASELINES if words == ("all",) else words

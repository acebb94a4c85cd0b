"""kbs recommend: ranked methods with their evidence."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import click
import msgspec

from kbs.commands.diagnose import run_diagnosis
from kbs.context import Context, pass_context
from kbs.paths import PathType
from kbs.subjects import DayType, FiniteRange, Selection, selection_of, selection_options
from kbs_engine.days import read_day, today
from kbs_engine.errors import UsageError
from kbs_engine.explain import Explanation
from kbs_engine.explain import explain as explain_method
from kbs_engine.hints import Hint
from kbs_engine.ports import Knowledge
from kbs_engine.recommend import Options, recommend
from kbs_engine.recommendations import KernelAdvice
from kbs_engine.situation import Situation, imagine
from kbs_engine.vocabulary import LIMITER_ALIASES, LIMITERS

VENDOR_LANGUAGES: dict[str, tuple[str, ...]] = {
    "amd": ("cuda-cpp", "cutlass", "cute-dsl"),
    "nvidia": ("hip", "flydsl"),
}
"""Languages that a vendor's GPUs cannot run."""


@click.command("recommend", epilog="Example: kbs recommend report.ncu-rep --language triton")
@click.argument("reports", nargs=-1, type=PathType())
@selection_options
@click.option("--one-call", is_flag=True, help="All launches are one call of the function.")
@click.option("--call-time-ns", type=FiniteRange(), help="Host time of that call, in ns.")
@click.option("--symptom", "symptoms", multiple=True, help="A symptom id, without a report.")
@click.option(
    "--limiter",
    type=click.Choice([*LIMITERS, *LIMITER_ALIASES]),
    help="What limits the kernel, without a report.",
)
@click.option("--text", help="What is known in words, without a report.")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    help="A number as NAME=VALUE, under any profiler's name, without a report. Repeatable.",
)
@click.option("--have", "applied", multiple=True, help="A method that the kernel already has.")
@click.option("--top", type=click.IntRange(1, 500), default=8, show_default=True)
@click.option("--explain", metavar="METHOD", help="Why this method stands where it stands.")
@click.option(
    "--as-of",
    type=DayType(future=True),
    help="Date at which past outcomes are weighed (YYYY-MM-DD).",
)
@pass_context
def command(
    context: Context,
    *,
    reports: tuple[Path, ...],
    symptoms: tuple[str, ...],
    limiter: str | None,
    applied: tuple[str, ...],
    top: int,
    as_of: str | None,
    explain: str | None,
    **options: Any,
) -> None:
    """Ranked methods for each launch of REPORTS, or for what is told without a report."""
    selection = selection_of(options)
    when = read_day(as_of or "") or today()
    _runs_there(context, selection)
    text: str = options.pop("text") or ""
    metrics: tuple[str, ...] = options.pop("metrics")
    knowledge: Knowledge | None = None
    hints: dict[str, Hint] = {}
    if reports:
        if symptoms or limiter or text or metrics:
            raise UsageError(
                "--symptom, --limiter, --text and --metric describe a kernel without a report",
                remedy="leave them out; the report says what they are",
            )
        items = run_diagnosis(context, reports, selection, **options)
        store = context.store()
    else:
        store = context.store()
        situation = _situation(selection, symptoms, limiter, enough=bool(text or metrics))
        if text or metrics:
            from kbs.partial import Advisor, Asked, pairs

            asked = Asked(text=text, metrics=pairs(metrics), situation=situation)
            ready = Advisor(store).ask(asked)
            if selection.chip is not None and ready.item.chip is None:
                store.chip(selection.chip)  # refuses what is no GPU of the wiki
            knowledge, hints, items = ready.knowledge, ready.hints, (ready.item,)
        else:
            items = (imagine(situation, store),)
    chosen = Options(
        as_of=when, language=selection.language, applied=frozenset(applied), hints=hints
    )
    known = {method.id: method for method in store.methods()}
    _known_methods("--have", applied, known)
    source = knowledge or store
    advices = [recommend(item, source, chosen) for item in items]
    if explain is None:
        _show(context, advices, top)
        return
    _known_methods("--explain", (explain,), known)
    told = [explain_method(item, source, chosen, known[explain]) for item in items]
    _show_explained(context, advices, told)


def _situation(
    selection: Selection, symptoms: tuple[str, ...], limiter: str | None, *, enough: bool
) -> Situation:
    work = selection.override
    family = work.kernel if work and work.kernel != "other" else None
    if not (symptoms or limiter or family or enough):
        raise UsageError(
            "nothing to recommend for",
            remedy="name a report, or --symptom, --limiter, --text, --metric or --kernel",
        )
    told = {
        "symptoms": symptoms,
        "limiter": LIMITER_ALIASES.get(limiter, limiter) if limiter else None,
        "family": family,
        "language": selection.language,
        "chip_name": selection.chip,
        "work": work,
    }
    return msgspec.convert(told, Situation)


def _runs_there(context: Context, selection: Selection) -> None:
    """Refuse a language that the chip's vendor has no compiler for."""
    if selection.chip is None or selection.language is None:
        return
    vendor = context.store().chip(selection.chip).vendor
    if selection.language in VENDOR_LANGUAGES.get(vendor, ()):
        raise UsageError(
            f"{selection.language} does not run on {selection.chip}",
            remedy="triton runs on both vendors; cuda-cpp, cutlass and cute-dsl need NVIDIA, "
            "hip and flydsl AMD",
        )


def _known_methods(option: str, names: tuple[str, ...], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise UsageError(
                f"{option} {name} is no method of the wiki",
                remedy="`kbs query NAME --kind method` finds its id",
            )


def _show(context: Context, advices: list[KernelAdvice], top: int) -> None:
    if context.json:
        from kbs.render.shapes import advice_shape

        context.print_json({"kernels": [advice_shape(advice) for advice in advices]})
        return
    from kbs.render.text import show_advice

    console = context.console()
    for advice in advices:
        show_advice(console, advice, top=top, verbose=context.verbosity > 0)


def _show_explained(context: Context, advices: list[KernelAdvice], told: list[Explanation]) -> None:
    if context.json:
        from kbs.render.shapes import advice_shape

        pairs = zip(advices, told, strict=True)
        kernels = [
            {**advice_shape(advice), "explanation": msgspec.to_builtins(found)}
            for advice, found in pairs
        ]
        context.print_json({"kernels": kernels})
        return
    from kbs.render.explained import show_explanation

    for advice, found in zip(advices, told, strict=True):
        show_explanation(context.console(), advice.diagnosis, found)

"""kbs eval: accuracy on labelled kernels and cases, beside plain baselines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kbs.context import Context, pass_context
from kbs.paths import PathType
from kbs.subjects import DayType, LanguageType, Selection
from kbs_engine.days import read_day, today
from kbs_engine.errors import UsageError
from kbs_engine.evaluation.recommendation import STOP_BAR


@click.group("eval", epilog="Example: kbs eval diagnose report.ncu-rep truth.yaml")
@pass_context
def command(context: Context) -> None:
    """Accuracy on labelled kernels and cases, the same for plain baselines."""
    del context


@command.command(
    "diagnose", epilog="Example: kbs eval diagnose report.ncu-rep truth.yaml --allow-missing"
)
@click.argument("reports", nargs=-1, required=True, type=PathType())
@click.argument("truth", type=PathType())
@click.option(
    "--truth",
    "further",
    multiple=True,
    type=PathType(),
    help="A further truth file. Repeatable.",
)
@click.option(
    "--launches",
    type=PathType(),
    help="Launch to case name, where kernel names repeat.",
)
@click.option(
    "--times",
    type=PathType(),
    help="Measured dominant cause by case, for `cause: measured`.",
)
@click.option(
    "--with-work/--without-work",
    default=True,
    help="Use the work of the sidecar, else of the truth; or none at all.",
)
@click.option("--allow-missing", is_flag=True, help="Leave out kernels and labels without partner.")
@click.option("--work", type=PathType(), help="Work sidecar of the reports.")
@click.option("--chip", help="GPU id or alias, when the report does not tell.")
@click.option(
    "--language", "--implementation", "--backend", type=LanguageType(), help="Language of them all."
)
@pass_context
def eval_diagnose(
    context: Context,
    *,
    reports: tuple[Path, ...],
    truth: Path,
    further: tuple[Path, ...],
    **options: Any,
) -> None:
    """Score the diagnosis of REPORTS against TRUTH, beside Nsight's rules and thresholds."""
    from kbs.evaluating import DiagnosisTask, labelled_kernels

    chosen = {name: options.pop(name) for name in ("work", "chip", "language")}
    task = DiagnosisTask(
        reports=reports, truths=(truth, *further), selection=Selection(**chosen), **options
    )
    cases, notes = labelled_kernels(task, context.store())
    from kbs.render.evaluation import diagnosis_eval_shape, show_diagnosis_eval

    if context.json:
        context.print_json(diagnosis_eval_shape(cases, notes))
        return
    show_diagnosis_eval(context.console(), cases, notes, verbose=context.verbosity > 0)


@command.command("recommend", epilog="Example: kbs eval recommend cases.yaml --split test")
@click.argument("cases", required=False, type=PathType())
@click.option(
    "--leave-one-out",
    is_flag=True,
    help="Ask the published cases of the wiki, each without its own source, instead of CASES.",
)
@click.option("--split", help="Only the cases of this split.")
@click.option(
    "--stop-bar",
    type=click.FloatRange(0, 1),
    default=STOP_BAR,
    show_default=True,
    help="Best score under which the advice is to stop.",
)
@click.option(
    "--as-of",
    type=DayType(future=True),
    help="Date at which past outcomes are weighed (YYYY-MM-DD).",
)
@pass_context
def eval_recommend(
    context: Context,
    *,
    cases: Path | None,
    leave_one_out: bool,
    split: str | None,
    stop_bar: float,
    as_of: str | None,
) -> None:
    """Score the recommendations for CASES, beside BM25, vectors and the most frequent fixes."""
    from kbs.evaluating import evaluate_recommend, of_split
    from kbs_ingest.case_file import read_eval_cases
    from kbs_ingest.case_questions import published_questions

    if (cases is None) is not leave_one_out or (leave_one_out and split):
        raise UsageError(
            "name CASES, or --leave-one-out without them and without --split",
            remedy="kbs eval recommend cases.yaml, or kbs eval recommend --leave-one-out",
        )
    store = context.store()
    titles = {row.id: row.title for row in store.methods()}
    if cases is None:
        found = published_questions(store.cases(), titles)
    else:
        found = of_split(read_eval_cases(cases, titles), split)
    result = evaluate_recommend(
        found, store, as_of=read_day(as_of or "") or today(), bar=stop_bar, published=leave_one_out
    )
    from kbs.render.evaluation import recommend_eval_shape, show_recommend_eval

    if context.json:
        context.print_json(recommend_eval_shape(found, result))
        return
    show_recommend_eval(context.console(), found, result, verbose=context.verbosity > 0)

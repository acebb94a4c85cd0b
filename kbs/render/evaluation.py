"""Evaluations as stable JSON and as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from kbs_engine.evaluation.cases import EvalCase
from kbs_engine.evaluation.claims import ALARM, Claim, Labelled
from kbs_engine.evaluation.diagnosis import PREDICTORS, DiagnosisScore, hits, score
from kbs_engine.evaluation.recommendation import RecommendScore

if TYPE_CHECKING:
    from rich.console import Console

    from kbs.evaluating import RecommendResult

TOLD = 10
"""Recommendations of each case that are listed."""

CAPTION = (
    "r: recall, one of the methods that worked in the first k; ~r: near-equivalents count; "
    "bad@3: share of did_not_work in the first three; stop: no advice where nothing helped"
)
TITLES = {
    "ours": "kbs",
    "vendor": "Nsight first rule",
    "vendor_any": "Nsight any of 3",
    "thresholds": "thresholds",
    "gap": "largest gap",
    "bm25": "BM25 alone",
    "bm25_sayings": "BM25 with sayings",
    "vector": "vectors alone",
    "frequent": "most frequent",
}


def diagnosis_eval_shape(cases: Sequence[Labelled], notes: Sequence[str]) -> dict[str, Any]:
    """`eval diagnose`."""
    shape: dict[str, Any] = {name: msgspec.to_builtins(score(cases, name)) for name in PREDICTORS}
    shape["counts"] = _counts(cases)
    shape["cases"] = [_case_shape(case) for case in cases]
    shape["notes"] = list(notes)
    return shape


def _counts(cases: Sequence[Labelled]) -> dict[str, int]:
    healthy = sum(case.truth.healthy for case in cases)
    return {"kernels": len(cases), "faulty": len(cases) - healthy, "healthy": healthy}


def _case_shape(case: Labelled) -> dict[str, Any]:
    ours = hits(case.truth, case.claims["ours"])
    others = {name: hits(case.truth, case.claims[name]) for name in PREDICTORS}
    shape: dict[str, Any] = {
        "kernel": case.kernel,
        "launch": case.launch,
        "report": case.report,
        "truth": {"cause": list(case.truth.cause), "axis": list(case.truth.axis)},
        "healthy": case.truth.healthy,
        "ours": [
            {"id": claim.says, "axis": claim.axes[0], "severity": round(claim.severity, 4)}
            for claim in case.claims["ours"]
        ],
    }
    for name in PREDICTORS[1:]:
        shape[name] = [
            {
                "says": claim.says,
                "ids": list(claim.ids),
                "axes": list(claim.axes),
                "severity": round(claim.severity, 4),
            }
            for claim in case.claims[name]
        ]
    shape |= msgspec.to_builtins(ours)
    shape["hits"] = msgspec.to_builtins(others)
    return shape


def show_diagnosis_eval(
    console: Console, cases: Sequence[Labelled], notes: Sequence[str], *, verbose: bool
) -> None:
    """A table of predictors, and the kernels that were got wrong."""
    from rich.table import Table

    counts = _counts(cases)
    table = Table(title=f"{counts['faulty']} faulty kernels, {counts['healthy']} healthy")
    for column in ("", "top-1 cause", "top-3 cause", "axis", "false alarms"):
        table.add_column(column, justify="right" if column else "left", no_wrap=True)
    for name in PREDICTORS:
        row = score(cases, name)
        table.add_row(TITLES[name], *_figures(row), f"{row.false_alarms} of {counts['healthy']}")
    console.print(table)
    for case in cases:
        _show_case(console, case, verbose=verbose)
    for note in notes:
        console.print(f"note: {note}", style="dim", markup=False)


def _figures(row: DiagnosisScore) -> tuple[str, str, str]:
    return _share(row.top1), _share(row.top3), _share(row.axis)


def _show_case(console: Console, case: Labelled, *, verbose: bool) -> None:
    ours = hits(case.truth, case.claims["ours"])
    wrong = ours.alarm or ours.hit1 is False or ours.axis_hit is False
    if not (wrong or verbose):
        return
    truth = "healthy" if case.truth.healthy else " or ".join(case.truth.cause)
    console.print(
        f"{'wrong' if wrong else 'right'}: {case.kernel} launch {case.launch}: {truth}",
        markup=False,
    )
    console.print(f"    kbs: {_says(case.claims['ours'], healthy=case.truth.healthy)}",
                  style="dim", markup=False)  # fmt: skip
    if verbose:
        for name in PREDICTORS[1:]:
            said = _says(case.claims[name], healthy=case.truth.healthy)
            console.print(f"    {TITLES[name]}: {said}", style="dim", markup=False)


def _says(claims: Sequence[Claim], *, healthy: bool) -> str:
    shown = [claim for claim in claims if not healthy or claim.severity > ALARM]
    told = "; ".join(f"{claim.says} ({claim.severity:.2f})" for claim in shown[:3])
    return told or ("no alarm" if healthy else "nothing")


def recommend_eval_shape(cases: Sequence[EvalCase], result: RecommendResult) -> dict[str, Any]:
    """`eval recommend`."""
    shape: dict[str, Any] = {
        name: None if row is None else msgspec.to_builtins(row)
        for name, row in result.scores.items()
    }
    shape["ablation"] = msgspec.to_builtins(result.ablation)
    worked = sum(bool(case.labels.worked) for case in cases)
    shape["counts"] = {
        "cases": len(cases),
        "with_a_fix": worked,
        "nothing_helped": len(cases) - worked,
    }
    listed = [name for name in ("ours", "bm25", "vector", "frequent") if name in result.rankings]
    shape["cases"] = [
        {
            "id": case.id,
            "worked": list(case.labels.worked),
            "did_not_work": list(case.labels.did_not_work),
            "best_score": round(result.best[number], 4),
            "recommended": {name: result.rankings[name][number][:TOLD] for name in listed},
        }
        for number, case in enumerate(cases)
    ]
    shape["notes"] = list(result.notes)
    return shape


def show_recommend_eval(
    console: Console, cases: Sequence[EvalCase], result: RecommendResult, *, verbose: bool
) -> None:
    """A table of recommenders, the ablation, and with -v each case."""
    from rich import box
    from rich.table import Table

    worked = sum(bool(case.labels.worked) for case in cases)
    helped = f"{worked} cases with a fix, {len(cases) - worked} where nothing helped"
    table = Table(title=helped, caption=CAPTION, padding=(0, 1, 0, 0), box=box.SIMPLE_HEAD)
    columns = ("", "r@1", "r@3", "r@5", "MRR", "~r@1", "~r@3", "~r@5", "bad@3", "stop")
    for column in columns:
        table.add_column(column, justify="right" if column else "left", no_wrap=True)
    _rows(table, {TITLES[name]: row for name, row in result.scores.items()})
    table.add_section()
    _rows(table, {name.replace("_", " "): row for name, row in result.ablation.items()})
    console.print(table)
    for number, case in enumerate(cases):
        if verbose:
            first = ", ".join(result.rankings["ours"][number][:5]) or "nothing"
            best = ", ".join(case.labels.worked) or "nothing"
            console.print(f"{case.id}: worked {best}", markup=False)
            console.print(f"    kbs ({result.best[number]:.2f}): {first}", style="dim",
                          markup=False)  # fmt: skip
    for note in result.notes:
        console.print(f"note: {note}", style="dim", markup=False)


def _rows(table: Any, named: Mapping[str, RecommendScore | None]) -> None:
    for name, row in named.items():
        if row is None:
            table.add_row(name, *["not run"] * 9)
            continue
        table.add_row(
            name,
            *map(
                _share,
                (
                    row.recall_at_1, row.recall_at_3, row.recall_at_5, row.mrr,
                    row.recall_at_1_relaxed, row.recall_at_3_relaxed, row.recall_at_5_relaxed,
                    row.bad_in_top3, row.stops_right,
                ),
            ),
        )  # fmt: skip


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"

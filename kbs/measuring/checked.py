"""How the answer of a check is shown: lines for people, a document for machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from kbs.measuring.subject import Subject
from kbs_engine.jobs import Result
from kbs_engine.refusals import explain
from kbs_engine.results import Checked, Round


def check_json(
    subject: Subject, result: Result, checked: Checked, notes: Sequence[str]
) -> dict[str, Any]:
    """The JSON of ``kbs check``."""
    return {
        "correct": checked.passed,
        **{name: getattr(checked, name) for name in ("reason", "detail", "atol", "rtol")},
        "tolerance_from": checked.tolerance_from,
        "rounds": msgspec.to_builtins(checked.rounds),
        "warnings": [*checked.warnings, *notes],
        "elapsed_s": checked.elapsed_s,
        "work": msgspec.to_builtins(checked.work),
        "kernel": {
            "name": subject.source.name,
            "language": subject.source.language,
            "sha256": subject.source.sha256,
        },
        "dims": subject.task.dims,
        "provenance": msgspec.to_builtins(result.provenance),
    }


def check_lines(checked: Checked, *, verbose: bool) -> list[str]:
    """Verdict, tolerance, and the rounds (the worst alone unless ``verbose``)."""
    held = sum(one.ok for one in checked.rounds)
    if checked.passed:
        rounds = f"{held} round{'' if held == 1 else 's'}"
        lines = [f"  PASS  {rounds}, every element compared"]
    else:
        lines = [f"  FAIL  {_told(checked)}"]
    if checked.atol is not None and checked.rtol is not None:
        lines.append(
            f"  tolerance {checked.atol:.3g}{_unit(checked)} + {checked.rtol:.3g} × |expected| "
            f"({checked.tolerance_from})"
        )
    measured = [one for one in checked.rounds if one.max_abs_err is not None]
    shown = measured if verbose else sorted(measured, key=_error)[-1:]
    return lines + [_round(one, worst=not verbose) for one in shown]


def _told(checked: Checked) -> str:
    if checked.reason is None:
        return checked.detail
    first, *rest = checked.detail.strip().splitlines() or [""]
    return "\n".join([explain(checked.reason, first), *(f"        {line}" for line in rest)])


def _unit(checked: Checked) -> str:
    """A derived absolute tolerance is in units of each output's root mean square."""
    return " × rms" if checked.tolerance_from.startswith("derived") else ""


def _error(one: Round) -> float:
    return one.max_abs_err or 0.0


def _round(one: Round, *, worst: bool) -> str:
    plural = "" if one.compared_elements == 1 else "s"
    eager = "" if one.eager_max_abs_err is None else f" (eager {one.eager_max_abs_err:.3g})"
    return (
        f"  {'largest error' if worst else one.distribution}: {one.max_abs_err:.3g}{eager}"
        f" in {one.output}, inputs '{one.distribution}', {one.compared_elements} element{plural}"
    )

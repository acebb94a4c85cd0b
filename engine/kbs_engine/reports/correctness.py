"""correctness.md: what every round of the check said."""

from __future__ import annotations

from kbs_engine.jobs import Result
from kbs_engine.reports.text import bullets, document, number, section, table
from kbs_engine.results import Checked, Round, Sanitized, read
from kbs_engine.run.measured import Bench
from kbs_engine.run.state import ToleranceUsed
from kbs_engine.run.view import RunView, VersionView


def correctness(bench: Bench, kernel_file: str) -> str:
    """The report of one version's checks: the verdict first, every round below it."""
    checked = bench.checked()
    verdict = "PASS" if bench.correct else f"FAIL ({bench.reason})"
    facts = [f"kernel: {kernel_file}, source {bench.source_sha256[:12]}"]
    if bench.detail:
        facts.append(f"detail: {bench.detail}")
    if checked is None:
        facts.append("no check was carried out")
        rows = ""
    else:
        facts += _facts(checked)
        rows = section("Rounds", _rounds(checked.rounds))
    return document(
        f"Correctness of v{bench.version}",
        f"Verdict: {verdict}",
        bullets(facts),
        rows,
        section("Sanitizer", bullets(_sanitizer(bench.sanitized))),
    )


def version_correctness(view: RunView, version: VersionView) -> str | None:
    """The same from a run; None where nothing was measured."""
    if version.bench is None:
        return None
    return correctness(version.bench, view.state.settings.kernel_file)


def worst_rel_err(checked: Checked | None) -> float | None:
    """The largest relative error over all rounds; None where none is known."""
    errors = [r.max_rel_err for r in checked.rounds if r.max_rel_err is not None] if checked else []
    return max(errors, default=None)


def _facts(checked: Checked) -> list[str]:
    passed = sum(row.ok for row in checked.rounds)
    used = ToleranceUsed(atol=checked.atol, rtol=checked.rtol, source=checked.tolerance_from)
    wider = "; wider for inputs with spikes" if used.atol_times_rms else ""
    facts = [
        f"rounds that hold: {passed} of {len(checked.rounds)}, each with a secret seed of its own",
        f"tolerance: {used}{wider}",
        f"max rel_err: {number(worst_rel_err(checked))}",
    ]
    if checked.warnings:
        facts.append(f"warnings: {', '.join(checked.warnings)}")
    return facts


def _rounds(rounds: tuple[Round, ...]) -> str:
    headers = ("Round", "Inputs", "Elements", "max abs err", "max rel err", "eager abs err",
               "Output", "Holds")  # fmt: skip
    rows = (
        (
            str(i),
            row.distribution,
            str(row.compared_elements),
            number(row.max_abs_err),
            number(row.max_rel_err),
            number(row.eager_max_abs_err),
            row.output or "N/A",
            "yes" if row.ok else "no",
        )
        for i, row in enumerate(rounds)
    )
    return table(headers, rows)


def _sanitizer(results: tuple[Result, ...]) -> list[str]:
    lines = []
    for result in results:
        if result.value is None:
            lines.append(f"not run: {result.failure}")
            continue
        for tool in read(result, Sanitized).tools:
            told = "clean" if tool.ran and not tool.errors else f"{tool.errors} errors"
            detail = f": {tool.detail}" if tool.detail else ""
            lines.append(f"{tool.tool}: {told if tool.ran else 'not run'}{detail}")
    return lines or ["not run"]

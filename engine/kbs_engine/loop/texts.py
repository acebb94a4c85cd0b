"""correctness.md and analysis.md: what was measured and learned, in words, from records."""

from __future__ import annotations

from collections.abc import Sequence

from kbs_engine.jobs import Result
from kbs_engine.results import Checked, Sanitized, read
from kbs_engine.run.judged import AttributionFile
from kbs_engine.run.records import Bench, Feedback


def correctness_text(number: int, checked: Checked, sanitized: Result | None) -> str:
    """correctness.md: the verdict, the tolerance, every round, and the sanitizer."""
    verdict = "PASS" if checked.passed else "FAIL"
    lines = [f"# Correctness of v{number}", "", f"Verdict: {verdict}"]
    if checked.reason:
        lines.append(f"Reason: {checked.reason}: {checked.detail}")
    lines.append(
        f"Tolerance: atol {checked.atol}, rtol {checked.rtol} ({checked.tolerance_from or '-'})"
    )
    lines += ["", "| round | distribution | elements | max abs | max rel | eager max abs | ok |"]
    lines.append("|---|---|---|---|---|---|---|")
    for index, row in enumerate(checked.rounds):
        cells = (row.max_abs_err, row.max_rel_err, row.eager_max_abs_err)
        shown = " | ".join("-" if value is None else f"{value:.3g}" for value in cells)
        ok = "yes" if row.ok else "no"
        lines.append(f"| {index} | {row.distribution} | {row.compared_elements} | {shown} | {ok} |")
    lines += ["", f"Sanitizer: {_sanitizer(sanitized)}"]
    lines += [f"Static warning: {code}" for code in checked.warnings]
    return "\n".join(lines) + "\n"


def _sanitizer(result: Result | None) -> str:
    if result is None:
        return "not run (no GPU)"
    if result.value is None:
        return f"not run ({result.failure})"
    tools = read(result, Sanitized).tools
    told = [
        f"{tool.tool} {tool.errors} errors" if tool.ran else f"{tool.tool} not run ({tool.detail})"
        for tool in tools
    ]
    return "; ".join(told) or "not run"


def analysis_text(
    number: int, bench: Bench, compared: str, attributed: AttributionFile | None
) -> str:
    """analysis.md: times, comparisons, and what came of each method."""
    own = bench.own()
    lines = [f"# Analysis of v{number}", "", f"- {compared}"]
    if own is not None:
        lines.append(f"- median {own.median_ns:.0f} ns over {own.count} calls")
    lines += [
        f"- against {row.b[:12]}: {row.ratio:.3f} times as fast, 95 % interval "
        f"{row.low:.3f} to {row.high:.3f}: {row.verdict}"
        for row in bench.comparisons
    ]
    if attributed is not None and attributed.methods:
        lines += ["", "## Methods"]
        lines += [
            f"- {row.method}: {row.verdict} ({row.attribution}; opcodes {row.opcodes}). "
            f"{row.because}".rstrip()
            for row in attributed.methods
        ]
        if attributed.note:
            lines.append(f"- {attributed.note}")
    return "\n".join(lines) + "\n"


def failed_text(number: int, feedback: Sequence[Feedback], tries: int) -> str:
    """analysis.md of a version none of whose branches was ever right."""
    lines = [f"# Analysis of v{number}", "", f"- no branch was right in {tries} tries; recorded as"]
    lines[-1] += " failed, the run goes on from the best version"
    lines += ["", "## Tries"]
    lines += [
        f"- try {row.attempt} {row.branch}: {row.reason}"
        + (f": {row.detail}" if row.detail else "")
        for row in feedback
    ]
    return "\n".join(lines) + "\n"

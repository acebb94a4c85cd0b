"""Every spec in an archived text has a citation that the audit accepts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kbs_engine.gate.context import GateContext
from kbs_engine.gate.readme import uncited
from kbs_engine.gate.refusal import Refusal, Rule
from kbs_engine.run.files import decoded


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse an uncited spec, and a citation that fails."""
    yield from _uncited(context)
    audit = context.inspectors.audit
    if audit is None:
        return
    for fault in audit(tuple(_texts(context))):
        yield context.refuse(
            "citations",
            fault.where,
            fault.message,
            "cite the wiki as `<metric>: <value> <unit> <- gpu-wiki/<path>:L<line>` "
            "(`kbs specs` prints the line; `kbs audit --fix` re-anchors moved ones)",
        )


def _uncited(context: GateContext) -> Iterator[Refusal]:
    """README.md's own list of specs: every line is cited, UNKNOWN, or a marked placeholder."""
    path = context.run.paths.readme
    text = decoded(path) if context.number == 0 else None
    for line in uncited(text, context.state) if text is not None else ():
        yield context.refuse(
            "citations",
            path,
            f"states a spec without a citation under Hardware Spec: {line[:70]}",
            "cite the wiki (`kbs specs` prints the line), or give it with --placeholder",
        )


def _texts(context: GateContext) -> Iterator[Path]:
    run, paths = context.run.paths, context.paths
    archived = [paths.evidence, paths.plan, paths.hypothesis, paths.analysis]
    if context.number == 0:
        archived += [run.readme, run.baseline_report]
    if context.final:
        archived += [run.final_report, run.summary]
    return (path for path in archived if path.is_file())


RULE = Rule(
    id="citations",
    title="Cited specs",
    refuses="A hardware spec without a citation, or a citation that `kbs audit` refuses, in the "
    "README, the baseline report, the notes of a version, or the final reports.",
    check=check,
    every=True,
)

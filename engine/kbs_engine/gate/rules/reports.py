"""The reports say what the measured files say, computed once more from them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from kbs_engine.gate.context import GateContext
from kbs_engine.gate.readme import differing
from kbs_engine.gate.refusal import Refusal, Rule
from kbs_engine.gate.rules.numbers import check_bench
from kbs_engine.gate.rules.raw_samples import changed_answers
from kbs_engine.reports.registry import RUN_REPORTS, VERSION_REPORTS
from kbs_engine.reports.text import NOTES
from kbs_engine.run.files import decoded, read_bytes, sha256_of
from kbs_engine.shell import shell


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse a report that differs from the one its records give, with the first line that does."""
    bench = context.view.benchmark
    if bench is not None:
        path = context.run.paths.benchmark_data
        yield from check_bench(context, path, bench)
        yield from changed_answers(context, ((path, r) for r in (*bench.blocks, *bench.checks)))
    for name, make in RUN_REPORTS.items():
        path = context.run.root / name
        if path.is_file() and not _of_before(context, path):
            yield from _same(context, path, make(context.view))
    yield from _readme(context)
    for view in context.view.versions:
        if view.number <= context.number:
            for name, render in VERSION_REPORTS.items():
                path = context.run.version(view.number).root / name
                if path.is_file():
                    own = context.at(view.number)
                    yield from _same(own, path, render(context.view, view))


def _readme(context: GateContext) -> Iterator[Refusal]:
    """README.md repeats the settings; what does not decode is a fault of the artifacts."""
    path = context.run.paths.readme
    text = decoded(path)
    if text is None:
        return
    for said, given in differing(text, context.state):
        yield context.refuse(
            "reports",
            path,
            f"says `{said[:70]}`; state.json gives `{given[:70]}`",
            "put the line back; constraints change with `kbs loop set`, remarks go under Notes",
        )


def _of_before(context: GateContext, path: Path) -> bool:
    """Whether a report stands unedited from an earlier end of the run.

    A run that was extended, restarted or set anew has reports of before; they are written anew
    after this gate. An order may be given before the reports are written and followed after: the
    run then goes on, and has not ended by its state.
    """
    journal = context.run.journal
    again = (*journal.of_kind("version_opened"), *journal.of_kind("order"))
    written = [e for e in journal.of_kind("artifact")
               if e.data["path"] == context.run.relative(path)]  # fmt: skip
    if not written:
        return False
    if context.state.ended and written[-1].seq > max((event.seq for event in again), default=-1):
        return False
    return bool(written[-1].data["sha256"] == sha256_of(read_bytes(path)))


def _same(context: GateContext, path: Path, expected: str | None) -> Iterator[Refusal]:
    if expected is None:
        told = "stands without the measured files that it is written from"
        yield context.refuse("reports", path, told, _bring_back(context))
        return
    text = decoded(path)
    if text is None:
        yield context.refuse("reports", path, "is not UTF-8 text", _write_again(context, path))
        return
    found = measured_part(text).splitlines()
    lines = zip_longest(found, measured_part(expected).splitlines(), fillvalue="")
    for number, (one, two) in enumerate(lines, start=1):
        if one.rstrip() != two.rstrip():
            yield context.refuse(
                "reports",
                f"{path}:{number}",
                f"says `{one.strip()[:70]}`; the measured files give `{two.strip()[:70]}`",
                _write_again(context, path),
            )
            return


def _write_again(context: GateContext, path: Path) -> str:
    """How a report says again what was measured."""
    name = context.run.relative(path)
    if path.name == "correctness.md":  # of the loop alone, and its hash is kept
        return context.restoring(name, context.artifacts.get(name))
    return (
        f"`kbs report {shell(context.run.root)}` writes it again; add remarks below the line "
        f"{NOTES}"
    )


def _bring_back(context: GateContext) -> str:
    """How the final benchmark comes back, on which the reports of a run rest."""
    name = context.run.relative(context.run.paths.benchmark_data)
    recorded = context.artifacts.get(name)
    if recorded is None:
        return "remove it: no benchmark was made in this run"
    return f"bring back {name}: {context.restoring(name, recorded)}"


def measured_part(text: str) -> str:
    """A report without what was added below the mark."""
    return text.split(NOTES, maxsplit=1)[0].rstrip()


RULE = Rule(
    id="reports",
    title="Reports",
    refuses="A number or a line in benchmark.md, final_report.md, summary.md, "
    "baseline_report.md, correctness.md or analysis.md (above its mark) that differs "
    "from what the measured files give when it is written anew; a task or an epoch in "
    "README.md that state.json does not give.",
    check=check,
    final=True,
)

"""Everything that is known of a version stands in its folder, readable and not empty."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule
from kbs_engine.gate.restoring import BY_HAND
from kbs_engine.gate.rules.unedited import ELSEWHERE
from kbs_engine.run.files import decoded
from kbs_engine.run.view import part_folders
from kbs_engine.shell import shell

_NOTES = ("hypothesis.txt", "kbs_evidence.md")
"""Their headings have rules of their own."""


def required(context: GateContext) -> tuple[Path, ...]:
    """The files that this version must have, in its mode and place."""
    paths, run = context.paths, context.run.paths
    wanted: list[Path] = []
    if context.number == 0:
        wanted += [
            run.readme, run.env, run.env_check, run.reference, run.test_kernel,
            run.baseline_report,
        ]  # fmt: skip
    else:
        wanted.append(paths.methods)
    if not context.version.failed:
        wanted += [
            context.kernel, paths.bench, paths.correctness, paths.ncu_summary,
            paths.ncu_details, paths.ncu_top, paths.roofline,
        ]  # fmt: skip
        if context.number > 0:
            wanted += [paths.sass_check, paths.attribution]
    wanted += [paths.evidence, paths.analysis, run.memory_record(context.number)]
    if not _last(context):
        wanted += [paths.plan, paths.hypothesis, paths.request]
    return tuple(wanted)


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse what is missing, empty or unreadable."""
    for path in required(context):
        if not path.is_file():
            yield context.refuse("artifacts", path, "is missing", _bring_back(context, path))
        elif not path.stat().st_size or not path.read_bytes().strip():
            yield context.refuse("artifacts", path, "is empty", _bring_back(context, path))
        elif path.suffix in (".md", ".txt", ".py", ".cu") and decoded(path) is None:
            told = "is no text in UTF-8"
            yield context.refuse("artifacts", path, told, _bring_back(context, path))
    yield from _profile(context)
    yield from _parts(context)
    for fault in context.version.faults:
        if not fault.where.split(":")[0].endswith(_NOTES):
            path = context.run.root / fault.where.split(":")[0]
            remedy = _bring_back(context, path)
            yield context.refuse("artifacts", fault.where, fault.message, remedy)


def _of_the_next(context: GateContext, path: Path) -> bool:
    """Whether a file belongs to the change that leaves the version."""
    paths = context.paths
    return path in (paths.plan, paths.hypothesis, paths.request)


def _bring_back(context: GateContext, path: Path) -> str:
    """What to do about a file: it was written, the run ended before it, or a crash came first."""
    name = context.run.relative(path)
    recorded = context.artifacts.get(name)
    if recorded is None and _of_the_next(context, path) and context.state.ended:
        return (
            "the run has ended with this version: ask with --final; or go on with "
            f"`kbs loop extend {shell(context.run.root)} -n 1`"
        )
    if recorded is None and not path.exists():
        return f"`kbs loop resume {shell(context.run.root)}` goes on to the step that writes it"
    changes = path.name in BY_HAND or name in ELSEWHERE
    return context.restoring(name, None if changes else recorded)


def _last(context: GateContext) -> bool:
    """Whether no change leaves this version: the final one, and only that."""
    return context.final and context.number == max(context.run.paths.versions(), default=0)


def _profile(context: GateContext) -> Iterator[Refusal]:
    """A run with counters has the report itself; its name is the profiler's."""
    top = context.version.top
    if context.version.failed or context.settings.mode != "counters":
        return
    if top is not None and top.mode != "counters":
        told = "was made without counters in a run that reads them"
        yield context.refuse_measured("artifacts", context.paths.ncu_top, told)
    found = (p for p in (context.paths.profile, *context.paths.root.glob("profile.*")))
    if not any(path.is_file() and path.stat().st_size for path in found):
        written = _written(context, f"{context.run.relative(context.paths.root)}/profile.")
        told, path = "is missing in a run that reads counters", context.paths.profile
        if written:
            yield context.refuse("artifacts", path, told, _bring_back(context, written[0]))
        else:
            yield context.refuse_for_good("artifacts", path, told)


def _parts(context: GateContext) -> Iterator[Refusal]:
    """Every branch and ablation that stands has its kernel and what was measured of it."""
    if context.number == 0:
        return
    suffix = context.settings.kernel_suffix
    branches = part_folders(context.paths.branches)
    written = _written(context, f"{context.run.relative(context.paths.branches)}/")
    if not branches and written:
        remedy = _bring_back(context, written[0])
        yield context.refuse("artifacts", context.paths.branches, "holds no branch", remedy)
    elif not branches and not context.version.failed:
        yield context.refuse_for_good("artifacts", context.paths.branches, "holds no branch")
    for folder in (*branches, *part_folders(context.paths.ablations)):
        for name in (f"kernel{suffix}", "bench.json"):
            path = folder / name
            if not path.is_file() or not path.stat().st_size:
                remedy = _bring_back(context, path)
                yield context.refuse("artifacts", path, "is missing or empty", remedy)


def _written(context: GateContext, prefix: str) -> tuple[Path, ...]:
    """Files that the journal knows under a prefix."""
    return tuple(context.run.root / name for name in context.artifacts if name.startswith(prefix))


RULE = Rule(
    id="artifacts",
    title="Artifacts",
    refuses="A required file that is missing, empty, or not what its name says. A counter-free "
    "run has no report of a profiler and says so in ncu_summary.md; a version recorded as failed "
    "has no champion, and no branch where nobody wrote a kernel; only the final version has no "
    "plan, hypothesis and request.",
    check=check,
    every=True,
)

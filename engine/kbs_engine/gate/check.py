"""Asking the gate, and passing it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kbs_engine.errors import InputError, UsageError
from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Inspectors, Refusal, Rule
from kbs_engine.gate.registry import RULES
from kbs_engine.run.folder import RunFolder
from kbs_engine.run.memories import Memory
from kbs_engine.shell import shell


def check_version(
    run: RunFolder,
    version: int,
    final: bool = False,
    inspectors: Inspectors | None = None,
) -> tuple[Refusal, ...]:
    """Why ``version`` may not pass; empty when it may. Nothing is written.

    The final gate asks most rules of every earlier version too, and computes every number of
    the reports again.

    Raises:
        InputError: there is no such version, or state.json cannot be read.
    """
    if not run.version(version).root.is_dir():
        raise InputError(
            f"no v{version} stands in this run",
            where=str(run.root),
            remedy="versions: " + (", ".join(f"v{n}" for n in run.paths.versions()) or "none"),
        )
    context = GateContext(run, version, final=final, inspectors=inspectors)
    refusals = list(_ask(context, tuple(RULES.values())))
    if final:
        again = tuple(rule for rule in RULES.values() if rule.every)
        for number in range(version):
            earlier = context.at(number)
            here = run.version(number).root.is_dir()
            refusals.extend(_ask(earlier, again) if here else [_gone(earlier)])
    return tuple(dict.fromkeys(refusals))


EVIDENCE: Final = (
    "journal_chain", "unedited", "order", "correctness", "raw_samples", "numbers", "claims",
    "same_source", "changed_kernel", "fixed_settings", "plan_budget", "one_change", "opcodes",
    "attribution", "roofline_numbers", "failed_version", "state_numbers", "answers", "retold",
)  # fmt: skip
"""Rules that a measured version keeps at any time, whether or not it is its turn."""


def check_evidence(run: RunFolder, versions: Sequence[int]) -> tuple[Refusal, ...]:
    """Why what stands of ``versions`` does not prove what the run says of them; empty when it does.

    Every number is computed again from raw samples, and those are held to the journal.

    Raises:
        InputError: state.json cannot be read.
    """
    context: GateContext | None = None
    refusals: list[Refusal] = []
    for number in versions:
        context = GateContext(run, number) if context is None else context.at(number)
        refusals.extend(_ask(context, tuple(RULES[name] for name in EVIDENCE)))
    return tuple(dict.fromkeys(refusals))


def pass_version(
    run: RunFolder,
    version: int,
    final: bool = False,
    inspectors: Inspectors | None = None,
) -> tuple[Refusal, ...]:
    """Check ``version``; when it passes, record it and (not with ``final``) open the next one.

    A run that was killed between passing and opening is finished without being asked again.
    The run must be open for writing.
    """
    if _passed_before(run, version) and not final:
        _remember(run, version, ())
        run.advance(version)
        return ()
    refusals = check_version(run, version, final, inspectors)
    _remember(run, version, refusals)
    if refusals:
        return refusals
    run.journal.append("gate_passed", version=version, final=final)
    if not final:
        run.advance(version)
    return ()


OF_REFUSED: Final = (
    "journal_chain", "current_version", "later_version", "unedited", "citations", "state_numbers",
    "answers", "retold", "gpu_budget", "reports",
)  # fmt: skip
"""Rules that are still asked of a version that was refused for good and given up."""


def parse_version(name: str) -> int:
    """The number of ``v3``; UsageError for anything else."""
    if not (name.startswith("v") and name[1:].isdecimal()):
        raise UsageError(
            f"{name!r} is no version", remedy="name a version's folder: RUN/v0, RUN/v1, …"
        )
    return int(name[1:])


def _gone(context: GateContext) -> Refusal:
    """Versions are numbered without a gap: one whose folder is not there was taken away."""
    place, run = context.paths.root, context.run
    name = run.relative(place)
    return context.refuse(
        "artifacts",
        place,
        "is gone, and with it the proof of every version after it",
        f"restore it (`git -C {shell(run.root)} checkout -- {shell(name)}`)"
        if run.git.tracks(name)
        else "restore it from a copy of the run",
    )


def _remember(run: RunFolder, version: int, refusals: tuple[Refusal, ...]) -> None:
    """Write into the version's memory record what the gate said.

    A refusal is kept only while the version's own turn is: who asks about an older one learns
    nothing new about it.
    """
    if refusals and version != (run.current() or 0):
        return
    said = {
        "quality_gate.result": "FAIL" if refusals else "PASS",
        "quality_gate.failure_reason": "; ".join(f"{r.rule}: {r.message}" for r in refusals),
    }
    try:
        Memory(run.paths.memory).update(version, said)
    except InputError:
        if not refusals:
            raise  # else the record is missing or damaged, which is among the reasons given


def _ask(context: GateContext, rules: tuple[Rule, ...]) -> Iterator[Refusal]:
    for rule in rules:
        counts = not context.version.refused or rule.id in OF_REFUSED
        if counts and (context.final or not rule.final):
            yield from rule.check(context)


def _passed_before(run: RunFolder, version: int) -> bool:
    """Whether this gate passed already and only the next folder may be missing."""
    passed = any(e.data["version"] == version for e in run.journal.of_kind("gate_passed"))
    following = run.version(version + 1).root
    return passed and run.current() == version + 1 and not any(following.glob("*"))

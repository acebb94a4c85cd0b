"""In one-change mode a version differs from its base in one method."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kbs_engine.errors import KbsError
from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule
from kbs_engine.run.notes import Hypothesis


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse more than one method in the version, in its switches, or in what it plans next."""
    if not context.settings.one_change:
        return
    methods = context.version.methods
    if methods is not None and len(methods.methods) > 1:
        names = ", ".join(row.method for row in methods.methods)
        told = f"holds {len(methods.methods)} methods ({names})"
        yield context.refuse_measured("one_change", context.paths.methods, told)
    flipped = _flipped(context)
    if len(flipped) > 1:
        told = f"switches {len(flipped)} methods at once ({', '.join(flipped)})"
        yield context.refuse_measured("one_change", context.kernel, told)
    request, note = context.version.request, context.version.hypothesis
    if request is not None and len(request.plan.methods) > 1:
        told = "plans more than one method"
        yield context.refuse_measured("one_change", context.paths.request, told)
    if isinstance(note, Hypothesis) and len(note.change) > 1:
        yield context.refuse(
            "one_change",
            context.paths.hypothesis,
            "announces more than one change",
            "write one change a version under Change",
        )


def _flipped(context: GateContext) -> tuple[str, ...]:
    """Methods whose switch stands otherwise than in the base version."""
    base = context.base
    if context.number == 0 or base is None:
        return ()
    now = _switches(context, context.number)
    before = _switches(context, base.number)
    names = sorted(now.keys() | before.keys())
    return tuple(name for name in names if now.get(name, False) != before.get(name, False))


def _switches(context: GateContext, number: int) -> Mapping[str, bool]:
    """Switches as the source says; as its bench says where no reader of marks is at hand."""
    read = context.inspectors.switches
    path = context.run.version(number).kernel(context.settings.kernel_suffix)
    if read is not None and path.is_file():
        try:
            return read(path)
        except KbsError:
            return {}  # marks that cannot be read are the language's own refusal
    view = context.view.version(number)
    return view.bench.switches if view and view.bench else {}


RULE = Rule(
    id="one_change",
    title="One change",
    refuses="In one-change mode (one slot): a version, a source, a plan or a hypothesis with more "
    "than one method changed.",
    check=check,
    every=True,
)

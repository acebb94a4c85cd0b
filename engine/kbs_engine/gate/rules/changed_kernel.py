"""A new version is a new kernel."""

from __future__ import annotations

from collections.abc import Iterator

from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule
from kbs_engine.run.view import kernel_sha


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse a kernel that equals an earlier version, or the one that it was made from."""
    sha256 = context.kernel_sha256
    if context.number == 0 or not sha256 or _remeasured(context):
        return
    for number in _before(context):
        if kernel_sha(context.run.version(number), context.settings.kernel_suffix) == sha256:
            told = f"is the kernel of v{number}, byte for byte"
            yield context.refuse_measured("changed_kernel", context.kernel, told)


def _before(context: GateContext) -> Iterator[int]:
    """v0, and earlier versions of the epoch: nothing is compared with those of another."""
    mine = context.state.version(context.number)
    for number in range(context.number):
        other = context.state.version(number)
        if number == 0 or mine is None or other is None or other.epoch == mine.epoch:
            yield number


def _remeasured(context: GateContext) -> bool:
    """A new epoch measures the best version again under its own settings."""
    later = (epoch for epoch in context.state.epochs if epoch.number)
    return context.number in {epoch.first_version for epoch in later}


RULE = Rule(
    id="changed_kernel",
    title="A changed kernel",
    refuses="A kernel that equals an earlier version of its epoch, or v0; but for the version that "
    "begins an epoch.",
    check=check,
    every=True,
)

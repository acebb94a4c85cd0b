"""A new version is a new kernel."""

from __future__ import annotations

from collections.abc import Iterator

from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule
from kbs_engine.run.view import kernel_sha


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse a kernel that equals the version before or the one that it was made from."""
    if context.number == 0 or not context.kernel_sha256:
        return
    base = context.base
    numbers = {context.number - 1} | ({base.number} if base else set())
    for number in sorted(numbers):
        before = kernel_sha(context.run.version(number), context.settings.kernel_suffix)
        if before == context.kernel_sha256 and not _remeasured(context, number):
            yield context.refuse(
                "changed_kernel",
                context.kernel,
                f"is the kernel of v{number}, byte for byte",
                "change it as the hypothesis says, or end the run",
            )


def _remeasured(context: GateContext, number: int) -> bool:
    """A new epoch measures the best version again under its own settings."""
    mine, other = context.state.version(context.number), context.state.version(number)
    return mine is not None and other is not None and mine.epoch != other.epoch


RULE = Rule(
    id="changed_kernel",
    title="A changed kernel",
    refuses="A kernel that equals its predecessor, or the version that it was made from.",
    check=check,
    every=True,
)

"""What a run waits for: its journal is told to the machine again, nothing asked or written."""

from __future__ import annotations

from typing import Any

import msgspec

from kbs_engine.errors import StoreError, UsageError
from kbs_engine.loop.asks import Propose
from kbs_engine.loop.parts import Order
from kbs_engine.loop.retelling import Retold, begun, retell
from kbs_engine.run import RunFolder
from kbs_engine.shell import shell


def waiting_text(run: RunFolder, ask: Propose) -> str:
    """Which kernel is waited for, what to do, and a line for every branch of the last try."""
    request = run.version(ask.file.version).request
    what = f"v{ask.file.next_version} waits for a kernel (try {ask.attempt})"
    how = f"write it from {ask.file.base_file} and run `kbs loop submit {shell(run.root)} FILE`"
    lines = [f"{request}: {what}; {how}"]
    lines += [
        f"try {row.attempt}, {row.branch or 'no kernel'}: {row.detail or row.reason}"
        for row in ask.file.feedback
        if row.attempt == ask.attempt - 1
    ]
    return "\n".join(lines)


def waits_for(run: RunFolder, retold: Retold | None = None) -> str:
    """What a run waits for as it stands; empty where `kbs loop next` has something to do.

    ``retold`` is the run told again, where somebody did so already.
    """
    if run.state().settings.proposer != "agent" or not begun(run):
        return ""
    try:
        ask = _pending(retold or retell(run))
    except StoreError:
        # Only a run of another version of kbs: its state can be told all the same.
        return ""
    if not isinstance(ask, Propose) or _answered(run, ask):
        return ""
    return waiting_text(run, ask)


def _answered(run: RunFolder, ask: Propose) -> bool:
    """Whether a kernel was submitted that no `close` has tried yet."""
    return any(event.data["ask_key"] == ask.key for event in run.journal.of_kind("submitted"))


def fresh_orders(run: RunFolder) -> tuple[Order, ...]:
    """Orders that no answer took yet, in the order given."""
    given = run.journal.of_kind("order")
    taken = sum(event.data.get("orders", 0) for event in run.journal.of_kind("answer"))
    return tuple(msgspec.convert(event.data["order"], Order) for event in given[taken:])


def pending(run: RunFolder) -> Any:
    """The ask at which a run stands; None where there is none."""
    return _pending(retell(run))


def _pending(retold: Retold) -> Any:
    return retold.actions[-1] if retold.actions else None


def pending_propose(run: RunFolder) -> Propose:
    """The request that waits for an agent; UsageError when none does."""
    ask = pending(run)
    if not isinstance(ask, Propose):
        raise UsageError(
            "the run waits for no kernel",
            where=str(run.root),
            remedy=f"`kbs loop next {shell(run.root)}` goes on until it does",
        )
    return ask

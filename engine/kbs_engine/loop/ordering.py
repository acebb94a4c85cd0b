"""Orders of people between versions: more versions, other constraints, a fresh start."""

from __future__ import annotations

import msgspec

from kbs_engine.loop.actions import MakeFront, RecordEpoch
from kbs_engine.loop.asks import OrdersGiven
from kbs_engine.loop.giving_up import constraints
from kbs_engine.loop.ledger import Ledger, Steps
from kbs_engine.loop.parts import Order
from kbs_engine.run.records import Epoch, Settings, changed_fixed


def follow(ledger: Ledger, given: OrdersGiven) -> Steps:
    """Carry out orders in the order given."""
    ledger.masked = set(given.masked)
    for order in given.orders:
        ledger.finishing = order.kind == "finalize"
        if order.kind == "extend":
            ledger.allowed += order.iterations
            _settle(ledger, {"iterations": ledger.settings.iterations + order.iterations})
        elif order.kind == "restart":
            ledger.attempts = 0
            told = ", ".join(f"v{n}" for n in sorted(ledger.masked)) or "nothing"
            yield ledger.progress("record", ledger.best, f"fresh start: masked {told}")
        elif order.kind == "set":
            yield from _change(ledger, order)
    if given.orders:
        ledger.taken_back = ""
    if given.orders and not ledger.finishing:
        ledger.update(ended="", loop={})
    yield ledger.save()
    if any(order.kind == "set" for order in given.orders):
        work = ledger.counted.work if ledger.counted else None
        yield MakeFront(described=ledger.described, work=work)


def _settle(ledger: Ledger, changes: dict[str, object]) -> Settings:
    """The settings with some fields changed; the state holds them too."""
    plain = msgspec.to_builtins(ledger.settings)
    ledger.settings = msgspec.convert({**plain, **changes}, Settings)
    ledger.update(settings=ledger.settings)
    return ledger.settings


def _change(ledger: Ledger, order: Order) -> Steps:
    """Other settings; a new epoch when a fixed one differs, which begins with a re-measurement."""
    before, epoch = ledger.settings, constraints(ledger)
    after = _settle(ledger, order.changes)
    ledger.allowed += after.iterations - before.iterations
    fixed = changed_fixed(before, after)
    if not fixed:
        return
    if not ledger.remeasure:  # else the epoch that was set came to nothing yet
        ledger.before = epoch
    number = max(one.number for one in ledger.state.epochs) + 1
    begun = Epoch(
        number=number,
        first_version=max(ledger.versions) + 1,
        settings=after,
        reason=order.reason or f"changed: {', '.join(fixed)}",
        began_at=order.at,
    )
    ledger.update(epoch=number, epochs=(*ledger.state.epochs, begun), tolerance=None)
    ledger.attempts, ledger.baselines, ledger.remeasure = 0, {}, True
    yield RecordEpoch(number=number, settings=after)

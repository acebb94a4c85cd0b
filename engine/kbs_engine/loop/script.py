"""The loop, in order. Read this first."""

from __future__ import annotations

from kbs_engine.loop.asks import AwaitOrders, OrdersGiven
from kbs_engine.loop.deciding import decide
from kbs_engine.loop.decision import Decision
from kbs_engine.loop.ending import finalize
from kbs_engine.loop.ledger import Ledger, Steps
from kbs_engine.loop.ordering import follow
from kbs_engine.loop.preparing import prepare
from kbs_engine.loop.remeasuring import remeasure
from kbs_engine.loop.versions import accept, first_version, next_version


def run_script(ledger: Ledger) -> Steps:
    """A whole run: the baseline, versions while it pays, the reports; then it waits for orders."""
    if not (yield from prepare(ledger)):
        return
    if not (yield from first_version(ledger)):
        return
    number = 0
    while True:
        decision: Decision = yield from decide(ledger, number)
        if not (yield from accept(ledger, number, decision)):
            yield from _orders(ledger, ended=False)
            continue
        if decision.stop is not None:
            yield from finalize(ledger, number, decision.stop)
            yield from _orders(ledger, ended=True)
            continue
        if decision.remeasure:
            number = yield from remeasure(ledger, number, decision)
        else:
            number = yield from next_version(ledger, number, decision)
        yield from _orders(ledger, ended=False)


def _orders(ledger: Ledger, *, ended: bool) -> Steps:
    """Follow what people asked since the last time; at the end of a run, wait until they do."""
    ledger.orders += 1
    given: OrdersGiven = yield AwaitOrders(number=ledger.orders, ended=ended)
    yield from follow(ledger, given)

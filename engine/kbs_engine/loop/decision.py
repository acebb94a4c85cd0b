"""What is done after a version: a plan on a base, or the end."""

from __future__ import annotations

import msgspec

from kbs_engine.loop.budget import Budget
from kbs_engine.loop.ledger import Facts
from kbs_engine.loop.stopping import Stop
from kbs_engine.plans import Plan
from kbs_engine.recommendations import Recommendation


class Decision(msgspec.Struct, kw_only=True):
    """What is done after a version: a plan on a base, or the end."""

    base: Facts
    plan: Plan
    budget: Budget
    stop: Stop | None
    ranked: tuple[Recommendation, ...] = ()
    """The ranking that the plan chose from."""
    remeasure: bool = False
    """The constraints changed: the next version is the best one, measured again."""

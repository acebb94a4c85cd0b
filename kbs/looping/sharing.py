"""After the end of a run: its outcomes are exchanged with the team, and counted."""

from __future__ import annotations

from typing import Any

import msgspec

from kbs.context import Context


def share(context: Context, target: str) -> dict[str, Any]:
    """``kbs experience sync TARGET`` (left out without a target), then ``stats``.

    Prints both unless JSON was asked for; the return is what JSON says under ``experience``.

    Raises:
        KbsError: The target cannot be reached. The run itself is whole; asking again shares it.
    """
    from kbs.experience.options import lore_of
    from kbs.render.experience import show_stats, show_sync
    from kbs_ingest.experience.exchange import sync
    from kbs_ingest.experience.stats import stats

    report = sync(context.home, target) if target else None
    counted = stats(context.home, lore_of(context))
    if not context.json and context.verbosity >= 0:
        console = context.console()
        if report is not None:
            show_sync(console, report)
        show_stats(console, counted, plot=False)
    return {"sync": msgspec.to_builtins(report), "stats": msgspec.to_builtins(counted)}

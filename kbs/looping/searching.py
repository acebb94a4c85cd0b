"""The next assignments of a search, by the optimiser of the backends."""

from __future__ import annotations

from kbs_engine.loop.asks import Search, Searched


def search(ask: Search) -> Searched:
    """What is tried next; the round seeds the sampler, so that a replay asks the same."""
    from kbs_backends.search import propose_variants

    rows = propose_variants(
        ask.spaces, ask.seen, ask.seeds, ask.wanted, skip=ask.skip, seed=ask.round
    )
    return Searched(assignments=rows)

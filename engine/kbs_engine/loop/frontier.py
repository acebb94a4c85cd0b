"""Branches that lost, and why: they are kept for later versions and for people."""

from __future__ import annotations

from kbs_engine.loop.exploring import Explored, Tried
from kbs_engine.run.records import FrontierEntry


def frontier_of(number: int, explored: Explored, champion: Tried | None) -> list[FrontierEntry]:
    """Every branch but the champion, with why it lost."""
    rows = []
    for branch in explored.branches:
        if branch is champion or branch.source is None:
            continue
        reason = branch.fault
        if not reason and champion and champion.median_ns and branch.median_ns:
            behind = branch.median_ns / champion.median_ns - 1
            reason = f"slower by {behind:.1%}" if behind > 0 else "not shown to be faster"
        rows.append(
            FrontierEntry(
                version=number,
                branch=branch.name,
                sha256=branch.source.sha256,
                median_ns=branch.median_ns,
                tunables=branch.tunables,
                reason=reason or "lost the race",
            )
        )
    return rows

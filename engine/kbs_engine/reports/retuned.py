"""A gain that no method of its version explains: that of tunables, or of the kernel as a whole."""

from __future__ import annotations

from kbs_engine.reports.text import factor, gain
from kbs_engine.run.judged import AttributionFile
from kbs_engine.run.measured import StatedComparison
from kbs_engine.run.view import RunView, VersionView


def compared_with_base(view: RunView, version: VersionView) -> StatedComparison | None:
    """The comparison with the version that it was made from, as its own bench has it."""
    base = view.version(version.entry.base_version) if version.entry else None
    if version.bench is None or base is None or base.bench is None:
        return None
    return version.bench.comparison(version.bench.source_sha256, base.bench.source_sha256)


def retuned(view: RunView) -> list[str]:
    """One sentence per version that gained more than its methods are shown to return."""
    found = (_sentence(view, row) or _unattributed(view, row) for row in view.counting)
    return [line for line in found if line]


def _unattributed(view: RunView, version: VersionView) -> str:
    """A version is kept for its race; that none of its methods helped is said beside it."""
    row, stated = compared_with_base(view, version), version.attribution
    if row is None or row.verdict != "faster" or stated is None or not stated.methods:
        return ""
    if any(one.verdict in ("effective", "inseparable") for one in stated.methods):
        return ""
    rows = stated.methods
    told = ", ".join(
        f"{one.method} {one.verdict}, {gain(one.gain, one.low, one.high)}" for one in rows
    )
    return (
        f"v{version.number}: it is {factor(row)}, and none of its methods is shown to help "
        f"({told}): the gain is of the kernel as a whole and attributed to none of them"
    )


def _sentence(view: RunView, version: VersionView) -> str:
    row, stated = compared_with_base(view, version), version.attribution
    changed = _changed(view, version)
    if row is None or row.verdict != "faster" or stated is None or not changed:
        return ""
    head = f"v{version.number}: its tunables changed ({changed}), it is {factor(row)}"
    if not stated.methods:
        return f"{head}, and it holds no new method: the gain is the tunables' alone"
    if stated.total is None or stated.total_high is None:
        return f"{head}, and what its methods return together was not measured, nor the tunables"
    # cautious: the least that the version gained over the most that its methods return
    if row.low * (1.0 - stated.total_high) <= 1.0 + row.noise:
        return ""
    together = gain(stated.total, stated.total_low, stated.total_high)
    whose = _whose(stated)
    return f"{head}, and its methods together return {together} of the time: the rest is {whose}"


def _changed(view: RunView, version: VersionView) -> str:
    """``ROWS from 1 to 4`` for every tunable that both have, with another value."""
    base = view.version(version.entry.base_version) if version.entry else None
    if version.bench is None or base is None or base.bench is None:
        return ""
    was, now = base.bench.tunables, version.bench.tunables
    names = [name for name in now if name in was and was[name] != now[name]]
    return ", ".join(f"{name} from {was[name]} to {now[name]}" for name in names)


def _whose(stated: AttributionFile) -> str:
    """Whose the rest of a gain is; a method without a time of its own may have a part in it."""
    others = [row.method for row in stated.methods if row.attribution == "not measured"]
    if not others:
        return "the tunables' and was not ablated"
    return f"the tunables' or that of {', '.join(others)}, and was not ablated"

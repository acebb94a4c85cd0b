"""analysis.md: what a version taught."""

from __future__ import annotations

from kbs_engine.ablation import left_open
from kbs_engine.reports.baseline import compared_table
from kbs_engine.reports.roofline import gaps_text
from kbs_engine.reports.text import (
    NOT_COLLECTED,
    NOTES,
    bullets,
    document,
    gain,
    interval,
    number,
    section,
    table,
    time,
)
from kbs_engine.run.judged import AttributionFile
from kbs_engine.run.view import PartView, RunView, VersionView


def analysis(version: VersionView, before: VersionView | None = None) -> str:
    """Branches, champion, attributions, what moved and what limits it now.

    ``before`` is the version that this one was made from.
    """
    return document(
        f"Analysis of v{version.number}",
        _headline(version),
        section("Branches", _branches(version)) if version.branches else "",
        section("Champion", compared_table(version.bench)) if version.bench else "",
        section("Methods", attribution_text(version.attribution)) if version.attribution else "",
        section("What limits it", gaps_text(version.roofline, version.roofline.budget))
        if version.roofline
        else "",
        section("What moved", moved_text(version, before))
        if before and _same_epoch(version, before)
        else "",
        NOTES,
    )


def _same_epoch(version: VersionView, before: VersionView) -> bool:
    one, two = version.entry, before.entry
    return one is None or two is None or one.epoch == two.epoch


def version_analysis(run: RunView, version: VersionView) -> str:
    """analysis.md of a version of ``run``, against the version that it was made from."""
    methods, entry = version.methods, version.entry
    base = entry.base_version if entry else methods.base_version if methods else None
    return analysis(version, run.version(base))


def attribution_text(stated: AttributionFile) -> str:
    """The verdict table: opcodes × attribution, and interactions."""
    rows = [
        (
            row.method,
            row.opcodes.replace("_", " "),
            row.attribution,
            gain(row.gain, row.low, row.high),
            number(row.p_holm),
            row.verdict,
            row.because or "-",
        )
        for row in stated.methods
    ]
    headers = ("Method", "Opcodes", "Attribution", "Gain", "p (Holm)", "Verdict", "Because")
    parts = [table(headers, rows)]
    if stated.total is not None:
        total = gain(stated.total, stated.total_low, stated.total_high)
        parts.append(f"All methods together return {total} of the time ({stated.mode}).")
    if stated.interactions:
        shown = [
            (" + ".join(row.methods), number(row.value), interval(row.low, row.high))
            for row in stated.interactions
        ]
        parts.append(table(("Pair", "Interaction (log time)", "Interval"), shown))
    if stated.note:
        parts.append(stated.note)
    return "\n\n".join(parts)


def moved_text(version: VersionView, before: VersionView) -> str:
    """The metrics that both versions measured among their top ones, before and after."""
    was, now = _metrics(before), _metrics(version)
    rows = [
        (name, number(was[name], ".6g"), number(now[name], ".6g"))
        for name in now
        if name in was and was[name] != now[name]
    ]
    return table(("Metric", f"v{before.number}", f"v{version.number}"), rows)


def _metrics(version: VersionView) -> dict[str, float]:
    if version.top is None:
        return {}
    return {row.metric: row.value for rows in version.top.axes.values() for row in rows}


def _headline(version: VersionView) -> str:
    if version.failed:
        tries = version.entry.tries if version.entry else 0
        told = version.failure[:1].upper() + version.failure[1:]
        many = f"{tries} {'try' if tries == 1 else 'tries'}"
        return f"{told} in {many}; the run goes on from the best version."
    own = version.bench.own() if version.bench else None
    return f"Time of the champion: {time(own.median_ns if own else None)}."


def _branches(version: VersionView) -> str:
    champion = version.bench.source_sha256 if version.bench else ""
    rows = [(part.name, *_branch(part, champion)) for part in version.branches]
    return table(("Branch", "Tunables", "Correct", "Median", "Registers", "Came to"), rows)


def _branch(part: PartView, champion: str) -> tuple[str, str, str, str, str]:
    bench, static = part.bench, part.static
    own = bench.own() if bench else None
    used = (
        [row.registers for row in static.resources if row.registers is not None] if static else []
    )
    tunables = ", ".join(f"{k}={v}" for k, v in bench.tunables.items()) if bench else ""
    why = (static.dropped if static else "") or (bench.reason if bench else "") or ""
    if bench is not None and not why:
        why = "champion" if bench.source_sha256 == champion else "slower in the race"
    return (
        tunables or "-",
        "N/A" if bench is None else "yes" if bench.correct else "no",
        time(own.median_ns if own else None),
        str(max(used)) if used else NOT_COLLECTED,
        why or NOT_COLLECTED,
    )


def lessons(version: VersionView) -> list[str]:
    """One line per method: what it did here."""
    if version.attribution is None:
        return []
    noise = version.attribution.noise
    return [
        f"v{version.number} {row.method}: {row.verdict}, {gain(row.gain, row.low, row.high)}"
        + ("; not told: more is not ruled out" if left_open(row.verdict, row.high, noise) else "")
        for row in version.attribution.methods
    ]


def lessons_text(versions: tuple[VersionView, ...]) -> str:
    """The lessons of all versions as a list."""
    return bullets(line for version in versions for line in lessons(version))

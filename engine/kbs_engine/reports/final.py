"""final_report.md: from measured artifacts only."""

from __future__ import annotations

from typing import Final

from kbs_engine.reports.analysis import lessons
from kbs_engine.reports.baseline import arm_names
from kbs_engine.reports.epochs import epoch_cell, epoch_header, epochs_text, holds
from kbs_engine.reports.retuned import compared_with_base, retuned
from kbs_engine.reports.search import searched
from kbs_engine.reports.text import (
    NOT_COLLECTED,
    NOT_FOUND,
    NOTES,
    bullets,
    document,
    factor,
    section,
    share,
    table,
    time,
)
from kbs_engine.run.notes import Hypothesis
from kbs_engine.run.view import RunView, VersionView

ANEW: Final = "Of the final benchmark: timed anew after the last version."
"""What the headline of a report is measured by."""
IN_THE_LOOP: Final = (
    "Median and factor of a version are of the timing in the loop by which it was judged, beside "
    "its base. The final benchmark above is another timing of the same kernel: the two differ as "
    "timings do, and neither is computed from the other."
)
"""What a table of versions is measured by."""


def final_report(view: RunView) -> str | None:
    """Every version, every hypothesis and what came of it, the evidence used, the best version.

    ``N/A`` is what was not collected; ``unknown`` is what should stand in the artifacts and
    could not be found. None before the final benchmark.
    """
    if view.benchmark is None:
        return None
    return document(
        f"Final report: {view.state.name}",
        section("Result", ANEW, headline(view)),
        section("Versions", _versions(view), IN_THE_LOOP, epochs_text(view.state)),
        section("Hypotheses", _hypotheses(view)),
        section("Evidence used", bullets(_evidence(view))),
        section("Verdicts", bullets(_verdicts(view))),
        section("Search", searched(view)) if any(row.search for row in view.versions) else "",
        section("Frontier", _frontier(view)) if view.state.frontier else "",
        section("Limits", bullets(_limits(view))),
        NOTES,
    )


def headline(view: RunView) -> str:
    """The best correct version and its speedups, from the final benchmark."""
    bench, state = view.benchmark, view.state
    if bench is None:
        return f"No benchmark was made; the best version is v{state.best_version}."
    names = arm_names(bench)
    own = bench.own()
    lines = [f"best correct version: v{bench.version}, {time(own.median_ns if own else None)}"]
    for row in bench.comparisons:
        against = "v0" if row.b == state.baseline_sha256 else names.get(row.b, row.b)
        lines.append(f"against {against}: {factor(row)}")
    if bench.version == 0:
        lines.append("no better version was found: v0 stands")
    best = _best_library(view)
    if best:
        lines.append(f"best library: {best}")
    ended = state.ended.replace("_", " ")
    lines.append(f"the run ended: {ended or 'not ended'}")
    return bullets(lines)


def _best_library(view: RunView) -> str:
    """The fastest baseline that is no version of the run, with what it means for the headline."""
    bench = view.benchmark
    libraries = [arm for arm in bench.arms if not arm.sha256] if bench else []
    if bench is None or not libraries:
        return ""
    fastest = min(libraries, key=lambda arm: arm.median_ns)
    row = bench.comparison(bench.source_sha256, fastest.name)
    return f"{fastest.name}, {time(fastest.median_ns)}; the kernel against it: {factor(row)}"


def _versions(view: RunView) -> str:
    rows = [_version(view, version) for version in view.versions if _shown(version)]
    headers = ("From", "Status", "Correct", "Median", "Against its base", "Limiter", "Δ", "Methods")
    return table(("Version", *epoch_header(view.state), *headers), rows)


def _shown(version: VersionView) -> bool:
    return version.bench is not None or version.entry is not None


def _version(view: RunView, version: VersionView) -> tuple[str, ...]:
    bench, entry, line = version.bench, version.entry, version.roofline
    own = bench.own() if bench else None
    base = entry.base_version if entry else None
    missing = NOT_COLLECTED if version.failed else NOT_FOUND
    methods = [row.method for row in version.methods.methods] if version.methods else []
    return (
        f"v{version.number}",
        *epoch_cell(view.state, version.number),
        "-" if base is None else f"v{base}",
        entry.status if entry else NOT_FOUND,
        missing if bench is None else "yes" if bench.correct else "no",
        time(own.median_ns if own else None, missing=missing),
        against_base(view, version),
        line.limiter if line else missing,
        share(line.gap) if line else missing,
        holds(view.state, entry, *methods) if entry else ", ".join(methods) or "-",
    )


def against_base(view: RunView, version: VersionView) -> str:
    """The comparison with the version that it was made from, as its own bench has it."""
    return factor(compared_with_base(view, version))


def _hypotheses(view: RunView) -> str:
    rows = []
    for version in view.versions:
        note = version.hypothesis
        if note is None:
            continue
        following = view.version(version.number + 1)
        change = "; ".join(note.change) if isinstance(note, Hypothesis) else note.hypothesis
        expected = "; ".join(note.expected) if isinstance(note, Hypothesis) else note.expected
        came = _came(view, following, change)
        rows.append((f"v{version.number} to v{version.number + 1}", change, expected, came))
    return table(("Transition", "Change", "Expected", "What came of it"), rows)


def _came(view: RunView, version: VersionView | None, change: str) -> str:
    """What a version brought; what it did is told where the planned ``change`` left that open."""
    if version is None or not _shown(version):
        return "not tried"
    if version.failure:
        return version.failure
    verdicts = (
        [f"{row.method} {row.verdict}" for row in version.attribution.methods]
        if version.attribution
        else []
    )
    held = version.methods.methods if version.methods else ()
    done = [row.description for row in held if row.description and row.description not in change]
    return "; ".join([against_base(view, version), *done, *verdicts])


def _verdicts(view: RunView) -> list[str]:
    """What each method did, and what no method did."""
    return [*(line for row in view.counting for line in lessons(row)), *retuned(view)]


def _evidence(view: RunView) -> list[str]:
    """Passages behind a change that was tried, once each, with the versions that rest on them."""
    used: dict[tuple[str, str], list[str]] = {}
    for version in view.versions:
        if version.evidence is not None and version.hypothesis is not None:
            for row in version.evidence.selected:
                used.setdefault((row.citation, row.says), []).append(f"v{version.number}")
    return [
        f"{', '.join(dict.fromkeys(versions))}: {citation}: {says}"
        for (citation, says), versions in used.items()
    ]


def _frontier(view: RunView) -> str:
    rows = [
        (
            f"v{row.version}/{row.branch}",
            time(row.median_ns),
            ", ".join(f"{k}={v}" for k, v in row.tunables.items()) or "-",
            row.reason or "-",
        )
        for row in view.state.frontier
    ]
    return table(("Branch", "Median", "Tunables", "Why it lost"), rows)


def _limits(view: RunView) -> list[str]:
    settings = view.state.settings
    lines = []
    if settings.mode == "counter-free":
        lines.append("no hardware counters were read; nothing here claims what needs them")
    if settings.device_kind != "cuda":
        lines.append(f"measured on a {settings.device_kind}: no figure here is a GPU's")
    lines += [str(row) for row in settings.placeholders]
    if len(view.state.epochs) > 1:
        lines.append("several epochs: nothing is compared across them")
    lines.append(f"effects below {100 * settings.noise:g} % count as noise")
    return lines

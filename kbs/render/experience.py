"""The experience log for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from rich.console import Console

    from kbs.experience.recommending import Advice
    from kbs_ingest.experience.exchange import SyncReport
    from kbs_ingest.experience.maskings import Masking
    from kbs_ingest.experience.merge import MergeReport
    from kbs_ingest.experience.query import Row
    from kbs_ingest.experience.stats import Stats

SHOWN_FAULTS = 20
SHOWN_METHODS = 15
PLOT_WIDTH = 78
LEAST_BARS = 3
FEW_DIGITS = 100
LONG_NAME = 48
SHOWN_IDS = 5


def row_shape(row: Row) -> dict[str, Any]:
    """A row as JSON: the record's fields beside its identity and state."""
    identity = msgspec.to_builtins(row)
    outcome = identity.pop("outcome")
    return {**identity, **{name: v for name, v in outcome.items() if name not in identity}}


def show_rows(console: Console, rows: Sequence[Row], *, more: bool, every: bool) -> None:
    """One line per outcome; ``every``: of all states, not of those alone that count."""
    for row in rows:
        outcome = row.outcome
        gain = "" if outcome.gain is None else percent(outcome.gain)
        state = "" if row.state == "counts" else f"  [{row.state}: {row.why}]"
        proof = "" if outcome.verified else " unverified"
        console.print(
            f"{row.id[:12]}  {outcome.date[:10] or '-':10}  {_cut(outcome.method):28} "
            f"{outcome.verdict:13} {gain:>7}  {outcome.kernel}, {outcome.language}, "
            f"{_cut(outcome.chip)}, {outcome.limiter}{proof}{state}",
            markup=False,
        )
    if not rows:
        hidden = "" if every else " counts; --all shows masked, quarantined and host ones too"
        console.print(f"no outcome like that{hidden}", markup=False)
    if more:
        console.print("… and more with --limit", style="dim", markup=False)


def _cut(name: str) -> str:
    """A name as far as a line holds it; what strangers write may have any length."""
    return name if len(name) <= LONG_NAME else f"{name[:LONG_NAME]}…"


def percent(share: float) -> str:
    """A share with its sign, in few characters; as a factor where it would round to all."""
    if abs(share) >= FEW_DIGITS:
        return f"{100 * share:+.2g} %"
    shown = f"{share:+.1%}"
    if share < 1 and shown == "+100.0%":  # nothing returns all of its time
        return f"×{1 / (1 - share):.3g}"
    return shown


def show_advice(console: Console, advice: Advice) -> None:
    """Methods with what is behind each."""
    if advice.note:
        console.print(advice.note, style="bold", markup=False)
    for rank, row in enumerate(advice.recommendations, 1):
        counts = row.outcomes
        console.print(
            f"{rank:2}. {row.method}  {row.score:.3f} = {row.chance:.2f} × {row.gain:.2f} × "
            f"{row.fit:.2f}",
            markup=False,
        )
        past = (
            f"{counts.helped} of {counts.tried} helped on {counts.machines} machines"
            if counts.tried
            else "no past outcomes"
        )
        source = {"outcomes": "realised", "wiki": "foreseen by the wiki", "assumed": "assumed"}
        console.print(f"    {row.title}; {past}; gain {source[row.gain_from]}", markup=False)
        if row.tunables:
            chosen = ", ".join(f"{name}={value}" for name, value in row.tunables.items())
            console.print(f"    chosen there: {chosen}", markup=False)
        if row.examples:
            console.print(f"    seen in {', '.join(e[:12] for e in row.examples)}", markup=False)
        for note in row.notes:
            console.print(f"    {note}", markup=False)
        if row.filtered:
            console.print(f"    the wiki would not use it here: {row.filtered}", markup=False)
    if not advice.recommendations:
        console.print("nothing to recommend", markup=False)


def show_merge(console: Console, report: MergeReport) -> None:
    """Counts, then each fault with its place."""
    console.print(
        f"{report.added} added, {report.duplicates} already here, "
        f"{len(report.quarantined)} quarantined, {len(report.rejected)} rejected",
        markup=False,
    )
    _faults(console, "quarantined", report.quarantined)
    _faults(console, "rejected", report.rejected)
    _faults(console, "in part unread", report.unread)
    show_maskings(console, report.masks)


def show_maskings(console: Console, masks: Sequence[Masking]) -> None:
    """What masks of others take out here, and what their unmasks show again."""
    if not masks:
        return
    out = {name for mask in masks for name in mask.takes_out}
    shown = {name for mask in masks for name in mask.shows}
    hiding = sum(mask.kind == "mask" for mask in masks)
    console.print(
        f"{_many(hiding, 'mask')} came in, taking out {_many(len(out), 'record')} of this log; "
        f"{_many(len(masks) - hiding, 'unmask')}, showing {_many(len(shown), 'record')} again",
        markup=False,
    )
    for mask in masks[:SHOWN_FAULTS]:
        ids = mask.takes_out or mask.shows
        does = "takes out" if mask.kind == "mask" else "shows again"
        named = ", ".join(id_[:12] for id_ in ids[:SHOWN_IDS]) + (" …" * (len(ids) > SHOWN_IDS))
        console.print(
            f"  {mask.kind} {mask.id[:12]} of {_cut(mask.origin)} {does} {named or 'nothing here'}"
            f"{f'; {mask.absent} more it names are not here' if mask.absent else ''}: "
            f"{_cut(mask.reason) or 'no reason'}",
            markup=False,
        )
    if len(masks) > SHOWN_FAULTS:
        console.print(f"  … and {len(masks) - SHOWN_FAULTS} more with --json", markup=False)
    if out:
        console.print("  `kbs experience unmask ID` undoes a mask", markup=False)


def _faults(console: Console, word: str, faults: Sequence[Any]) -> None:
    for fault in faults[:SHOWN_FAULTS]:
        place = f"{fault.file}:{fault.line}" if fault.line else fault.file
        console.print(f"  {word} {place}: {fault.reason}", markup=False)
    if len(faults) > SHOWN_FAULTS:
        console.print(f"  … and {len(faults) - SHOWN_FAULTS} more with --json", markup=False)


def show_sync(console: Console, report: SyncReport) -> None:
    """What went which way."""
    console.print(
        f"{report.target}: {len(report.sent)} segments sent, {len(report.received)} received, "
        f"{report.unchanged} unchanged",
        markup=False,
    )
    for name in report.conflicts:
        console.print(f"  {name} was edited on one side; both versions are kept", markup=False)
    _faults(console, "rejected", report.rejected)
    show_maskings(console, report.masks)


def show_stats(console: Console, stats: Stats, *, plot: bool) -> None:
    """Counts, methods, calibration, and plots."""
    states = ", ".join(f"{count} {name}" for name, count in stats.states.items()) or "none"
    console.print(f"{stats.outcomes} outcomes: {states}", style="bold", markup=False)
    console.print(_who_counts(stats), markup=False)
    console.print(
        f"{_many(stats.masks, 'mask')}, {_many(stats.unmasks, 'unmask')}, "
        f"{_many(sum(stats.replications.values()), 'replication')}, "
        f"{_many(stats.bad_lines, 'bad line')}",
        markup=False,
    )
    for name in ("verdicts", "kernels", "chips", "languages", "quarantine_reasons"):
        counts = getattr(stats, name)
        if counts:
            told = ", ".join(f"{key} {count}" for key, count in list(counts.items())[:8])
            console.print(f"{name.replace('_', ' ')}: {told}", markup=False)
    _methods(console, stats)
    _calibration(console, stats)
    if plot and stats.methods:
        for line in plots(stats):
            console.print(line, markup=False)


def _who_counts(stats: Stats) -> str:
    """Machines and origins behind what counts; outcomes in another state have theirs untold."""
    counting = stats.states.get("counts", 0)
    if counting:
        return (
            f"what counts comes from {_many(stats.machines, 'machine')} and "
            f"{_many(len(stats.origins), 'origin')}; {stats.unverified} of it unverified"
        )
    if not stats.outcomes:
        return "nothing is recorded yet"
    host = "; one measured on a host says nothing of a GPU" if stats.states.get("host") else ""
    return f"none of them counts, so nothing is told of machines, methods or gains{host}"


def _many(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def _methods(console: Console, stats: Stats) -> None:
    if not stats.methods:
        return
    console.print(f"{'method':32} {'tried':>7} {'helped':>7} {'machines':>8} {'gain':>7}",
                  style="bold", markup=False)  # fmt: skip
    for row in stats.methods[:SHOWN_METHODS]:
        gain = "-" if row.mean_gain is None else percent(row.mean_gain).lstrip("+")
        console.print(
            f"{row.method[:32]:32} {row.tried:7} {row.helped:7} {row.machines:8} {gain:>7}",
            markup=False,
        )


def _calibration(console: Console, stats: Stats) -> None:
    """Predicted gain beside realised gain."""
    found = stats.calibration
    if found.overall is None:
        console.print("calibration: no outcome carries a prediction", markup=False)
        return
    console.print(
        f"{'calibration':32} {'chip':14} {'n':>5} {'inside':>7} {'foretold':>8} {'realised':>8} "
        f"{'bias':>7}",
        style="bold",
        markup=False,
    )
    for row in (found.overall, *found.rows[:SHOWN_METHODS]):
        console.print(
            f"{row.method[:32] or 'all':32} {row.chip[:14]:14} {row.count:5} "
            f"{row.coverage:7.0%} {row.predicted_mean:8.1%} {row.realised_mean:8.1%} "
            f"{row.bias:+7.1%}",
            markup=False,
        )


def plots(stats: Stats) -> Iterable[str]:
    """Bars of tries by method and of outcomes by gain, as lines of text."""
    rows = stats.methods[:10]
    yield ""
    yield from _bars("outcomes by method", {row.method: row.tried for row in rows})
    if stats.gains:
        yield ""
        steps = {f"{int(step)} to {int(step) + 10} %": n for step, n in stats.gains.items()}
        yield from _bars("outcomes by share of time returned", steps)
    if len(stats.months) > 1:
        yield ""
        yield from _bars("outcomes by month", stats.months)


def _bars(title: str, counts: Mapping[str, int]) -> list[str]:
    """Horizontal bars, the first on top; of fewer than three the numbers alone."""
    labels, values = list(counts), list(counts.values())
    if len(labels) < LEAST_BARS:
        return [title, *(f"  {label}: {value}" for label, value in counts.items())]
    import plotext

    figure = plotext.figure
    figure.clear()
    figure.plot_size(PLOT_WIDTH, 2 * len(labels) + 4)
    figure.title(title)
    heights = [float(value) for value in reversed(values)]
    figure.draw(
        figure.bar(
            labels[::-1], [0.0] * len(heights), heights, orientation="h", marker="█", width=0.4
        )
    )
    text = str(figure.build().string(colorless=True))
    figure.clear()
    return text.rstrip("\n").split("\n")

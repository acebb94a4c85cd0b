"""report.html of a run: one file, no script, nothing loaded from elsewhere."""

from __future__ import annotations

from html import escape
from typing import Final

from kbs.render.run_html_plots import GREY, Bar, Line, bars, lines, strips
from kbs_engine.reports.analysis import attribution_text
from kbs_engine.reports.benchmark import benchmark
from kbs_engine.reports.epochs import epoch_cell
from kbs_engine.reports.final import final_report
from kbs_engine.reports.summary import summary
from kbs_engine.reports.text import NOTES
from kbs_engine.run.measured import Bench
from kbs_engine.run.report_files import interim
from kbs_engine.run.view import RunView, VersionView
from kbs_engine.units import human_ns

_STYLE: Final = """
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color:#222}
h1,h2,h3{line-height:1.2}h2{margin-top:2.2rem;border-bottom:1px solid #ddd}
table{border-collapse:collapse;display:block;overflow-x:auto;font-size:.9em}
td,th{border:1px solid #ddd;padding:.25rem .6rem;text-align:left;vertical-align:top}
th{background:#f5f5f5}code,pre{font-family:ui-monospace,monospace}
pre{background:#f7f7f7;padding:.8rem;overflow-x:auto;font-size:.85em}
figure{margin:1.2rem 0}figcaption{color:#555;font-size:.9em}svg{max-width:100%;height:auto}
.bar{background:#fff3cd;padding:.6rem .9rem;border-left:4px solid #e69f00}
@media (prefers-color-scheme:dark){body{background:#fff}}
"""


def run_page(view: RunView) -> str:
    """The whole page. Texts of the run are escaped; Markdown comes from our own reports."""
    parts = [_warning(view), _markdown(summary(view) or interim(view)), _plots(view)]
    bench = benchmark(view)
    if bench is not None:
        parts.append(_markdown(bench, level=2))
    if view.benchmark is not None:
        parts.append(_samples("Raw samples of the final benchmark", view.benchmark))
    parts += [_version(version) for version in view.versions if version.bench]
    final = final_report(view)
    if final is not None:
        parts.append(_markdown(final, level=2))
    title = escape(f"kbs: {view.state.name}")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head><body>\n"
        + "\n".join(part for part in parts if part)
        + "\n</body></html>\n"
    )


def _warning(view: RunView) -> str:
    kind = view.state.settings.device_kind
    if kind == "cuda":
        return ""
    return f'<p class="bar">Measured on a {escape(kind)}: no figure here is a GPU’s.</p>'


def _markdown(text: str, *, level: int = 1) -> str:
    """One of our reports as HTML; raw HTML in it stays text."""
    from markdown_it import MarkdownIt

    lines_ = text.split(NOTES, maxsplit=1)[0].splitlines()
    deeper = "#" * (level - 1)
    shifted = "\n".join(f"{deeper}{line}" if line.startswith("#") else line for line in lines_)
    return str(MarkdownIt("commonmark", {"html": False}).enable("table").render(shifted))


def _plots(view: RunView) -> str:
    measured = [v for v in view.versions if v.bench is not None and v.bench.own() is not None]
    rows = []
    for version in measured:
        own = version.bench.own() if version.bench else None
        if own is not None:
            best = version.number == view.state.best_version
            rows.append(
                Bar(
                    label=f"{_named(view, version)}{' (best)' if best else ''}",
                    value=own.median_ns,
                    low=own.p20_ns,
                    high=own.p80_ns,
                    shown=human_ns(own.median_ns),
                    colour="#009e73" if best else "#0072b2",
                )
            )
    drifting = [v for v in view.versions if v.roofline is not None]
    gaps = lines(
        "Gaps by version: Δ to the model, Δm to the memory roof, Δc to the compute roof, "
        "Δl idle share of the limiter",
        [_named(view, v) for v in drifting],
        [
            Line(label=label, values=tuple(getattr(v.roofline, name) for v in drifting))
            for label, name in (
                ("Δ", "gap"),
                ("Δm", "gap_memory"),
                ("Δc", "gap_compute"),
                ("Δl", "gap_latency"),
            )
        ],
    )
    times = bars("Median time of every version, with its 20th and 80th percentile", rows)
    return f"<h2>Plots</h2>{times}{gaps}{_branches(view)}" if times or gaps else ""


def _named(view: RunView, version: VersionView) -> str:
    """A version's number, with its epoch where there are several."""
    return ", epoch ".join((f"v{version.number}", *epoch_cell(view.state, version.number)))


def _branches(view: RunView) -> str:
    rows = []
    for version in view.versions:
        for part in version.branches:
            own = part.bench.own() if part.bench else None
            if part.bench is not None and own is not None:
                rows.append(
                    Bar(
                        label=f"v{version.number}/{part.name}",
                        value=own.median_ns,
                        shown=human_ns(own.median_ns),
                        colour="#0072b2" if part.bench.correct else GREY,
                    )
                )
    return bars("Branches: median time of every one that was timed", rows)


def _version(version: VersionView) -> str:
    parts = [f"<h2>v{version.number}</h2>"]
    stated = version.attribution
    if stated is not None:
        rows = [
            Bar(
                label=row.method,
                value=row.gain,
                low=row.low,
                high=row.high,
                shown=f"{100 * row.gain:.1f} %, {row.verdict}",
                colour="#009e73" if row.verdict == "effective" else GREY,
            )
            for row in stated.methods
            if row.gain is not None
        ]
        parts.append(bars("What each method returns of the time, with its interval", rows))
        parts.append(_markdown(attribution_text(stated)))
    if version.bench is not None:
        parts.append(_samples(f"Raw samples of v{version.number}", version.bench))
    if version.evidence is not None:
        items = "".join(
            f"<li><code>{escape(row.citation)}</code> {escape(row.says)}</li>"
            for row in version.evidence.selected
        )
        parts.append(f"<h3>Evidence</h3><ul>{items}</ul>" if items else "")
    return "".join(parts)


def _samples(title: str, bench: Bench) -> str:
    timed = bench.timed()
    if timed is None:
        return ""
    names: dict[str, int] = {}
    rows = []
    for arm in timed.arms:
        names[arm.name] = names.get(arm.name, 0) + 1
        label = arm.name if names[arm.name] == 1 else f"{arm.name} ({arm.sha256[:8]})"
        rows.append((label, arm.samples_ns))
    return strips(title, rows)

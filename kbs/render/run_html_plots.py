"""Plots of a run as inline SVG: times of versions, gaps, attributions, samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from xml.sax.saxutils import escape

import msgspec

from kbs_engine.units import human_ns

WIDTH: Final = 760
ROW: Final = 26
_LABEL: Final = 190
_VALUE: Final = 130
_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
"""Okabe and Ito's palette, which colour-blind readers can tell apart."""
GREY: Final = "#777777"


class Bar(msgspec.Struct, frozen=True, kw_only=True):
    """One horizontal bar with an optional interval."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    shown: str
    colour: str = _COLOURS[0]


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One series over the versions; None leaves a gap."""

    label: str
    values: tuple[float | None, ...]


def bars(title: str, rows: Sequence[Bar]) -> str:
    """Horizontal bars from zero; values may be negative, intervals are drawn as whiskers."""
    if not rows:
        return ""
    ends = [x for row in rows for x in (row.value, row.low, row.high, 0.0) if x is not None]
    low, high = min(ends), max(ends)
    span = (high - low) or 1.0

    def place(value: float) -> float:
        return _LABEL + (value - low) / span * (WIDTH - _LABEL - _VALUE)

    parts = []
    for number, row in enumerate(rows):
        top = ROW * number + 4
        left, right = sorted((place(0.0), place(row.value)))
        parts.append(_text(_LABEL - 8, top + 13, _cut(row.label), anchor="end"))
        parts.append(
            f'<rect x="{left:.1f}" y="{top}" width="{max(right - left, 1):.1f}" height="{ROW - 10}"'
            f' fill="{row.colour}"/>'
        )
        if row.low is not None and row.high is not None:
            parts.append(_whisker(place(row.low), place(row.high), top + (ROW - 10) / 2))
        furthest = max(x for x in (row.value, row.high, 0.0) if x is not None)
        parts.append(_text(place(furthest) + 8, top + 13, row.shown))
    parts.append(
        f'<line x1="{place(0.0):.1f}" x2="{place(0.0):.1f}" y1="0" y2="{ROW * len(rows)}" '
        f'stroke="{GREY}"/>'
    )
    return _figure(title, ROW * len(rows) + 4, parts)


def lines(title: str, labels: Sequence[str], series: Sequence[Line]) -> str:
    """Shares (0–1) over the versions, one line per series, a dot where a value stands."""
    shown = [line for line in series if any(value is not None for value in line.values)]
    if not shown or not labels:
        return ""
    height, bottom = 190, 160
    right = WIDTH - 150
    step = (right - 50) / max(len(labels) - 1, 1)
    parts = [
        _text(40, 14 + (bottom - 10) * i / 4, f"{100 - 25 * i} %", anchor="end") for i in range(5)
    ]
    parts += [
        f'<line x1="46" x2="{right}" y1="{10 + (bottom - 10) * i / 4:.1f}" '
        f'y2="{10 + (bottom - 10) * i / 4:.1f}" stroke="#dddddd"/>'
        for i in range(5)
    ]
    for number, label in enumerate(labels):
        parts.append(_text(50 + step * number, bottom + 18, label, anchor="middle"))
    for number, line in enumerate(shown):
        colour = _COLOURS[number % len(_COLOURS)]
        points = [
            (50 + step * i, bottom - max(0.0, min(1.0, value)) * (bottom - 10))
            for i, value in enumerate(line.values)
            if value is not None
        ]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in points]
        parts.append(_text(right + 14, 20 + 18 * number, line.label, colour=colour))
    return _figure(title, height, parts)


def strips(title: str, rows: Sequence[tuple[str, Sequence[float]]]) -> str:
    """Every raw sample of each arm as a tick on one time axis, so that spread is seen."""
    values = [value for _, samples in rows for value in samples]
    if not values:
        return ""
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    parts = []
    for number, (label, samples) in enumerate(rows):
        top = ROW * number + 4
        parts.append(_text(_LABEL - 8, top + 13, _cut(label), anchor="end"))
        colour = _COLOURS[number % len(_COLOURS)]
        for value in samples:
            x = _LABEL + (value - low) / span * (WIDTH - _LABEL - 30)
            parts.append(
                f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{top + ROW - 10}" '
                f'stroke="{colour}" stroke-opacity="0.35"/>'
            )
    bottom = ROW * len(rows) + 14
    parts.append(_text(_LABEL, bottom, human_ns(low)))
    parts.append(_text(WIDTH - 30, bottom, human_ns(high), anchor="end"))
    return _figure(title, bottom + 6, parts)


def _figure(title: str, height: float, parts: Sequence[str]) -> str:
    return (
        f'<figure><svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" '
        f'aria-label="{escape(title)}" font-family="sans-serif" font-size="12">'
        f"{''.join(parts)}</svg><figcaption>{escape(title)}</figcaption></figure>"
    )


def _text(x: float, y: float, text: str, *, anchor: str = "start", colour: str = "#222222") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">'
        f"{escape(text)}</text>"
    )


def _whisker(low: float, high: float, y: float) -> str:
    return (
        f'<path d="M{low:.1f} {y - 4:.1f}v8M{low:.1f} {y:.1f}H{high:.1f}M{high:.1f} {y - 4:.1f}v8" '
        f'stroke="#000000" fill="none"/>'
    )


def _cut(text: str, most: int = 28) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"

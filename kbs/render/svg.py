"""A roofline chart as SVG text: no drawing library, no script, no outside font."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from kbs_engine.chart import (
    FONT,
    Box,
    Frame,
    Mark,
    Segment,
    decades,
    fit,
    label_boxes,
    marks,
    segments,
    tags,
    text_width,
)
from kbs_engine.chartdata import LEVEL_WORDS, ChartBandwidth, ChartData
from kbs_engine.errors import UsageError
from kbs_engine.units import human_rate

WIDTH: Final = 960
_LEFT: Final = 74.0
_TOP: Final = 48.0
_PLOT: Final = (620.0, 420.0)
_LEGEND: Final = 716.0
_SMALL: Final = 11.0
_ROW: Final = 18.0
_TRACK: Final = 170.0
_NOTES: Final = 16
_NAMED: Final = 9
"""Launches named in the legend and in the strip; the rest are counted."""
_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555")
"""Okabe and Ito's palette, which colour-blind readers can tell apart."""
_ROOF_COLOURS: Final = {"dram": "#1a1a1a", "l2": "#6b6b6b", "l1": "#9a9a9a", None: "#1a1a1a"}


def write_chart(data: ChartData, path: Path) -> None:
    """Draw ``data`` into ``path``; UsageError when it cannot be written."""
    try:
        path.write_text(draw(data), encoding="utf-8")
    except OSError as fault:
        raise UsageError(
            f"the chart cannot be written: {fault.strerror}",
            where=str(path),
            remedy="name a file in a folder that you may write",
        ) from fault


def draw(data: ChartData) -> str:
    """The whole document."""
    frame = fit(data, Box(_LEFT, _TOP, *_PLOT))
    lines = segments(data, frame)
    points = marks(data, frame)
    colours = {launch: _COLOURS[index % len(_COLOURS)] for index, launch in enumerate(data.names)}
    body = [
        _text(_LEFT, 26, data.title, size=16, weight="600"),
        *_axes(frame),
        *_roof_lines(lines),
        *_points(points, colours),
        *_roof_labels(lines),
        *_tags(points, label_boxes(lines), colours),
        *_legend(data, colours),
    ]
    bottom = _TOP + _PLOT[1] + 56
    strip, bottom = _strip(data, colours, bottom)
    foot, height = _footer(data, bottom)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" '
        f'width="{WIDTH}" height="{height:.0f}" role="img" '
        f'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif">'
    )
    return "\n".join(
        [
            head,
            f"<title>{escape(data.title)}</title>",
            "<style>text { paint-order: stroke; stroke: #ffffff; stroke-width: 3px }</style>",
            f'<rect width="{WIDTH}" height="{height:.0f}" fill="#ffffff"/>',
            *body,
            *strip,
            *foot,
            "</svg>",
            "",
        ]
    )


def _text(
    x: float,
    y: float,
    text: str,
    *,
    size: float = FONT,
    anchor: str = "start",
    colour: str = "#1a1a1a",
    weight: str = "400",
    turn: float = 0.0,
) -> str:
    rotate = f' transform="rotate({turn:.2f} {x:.1f} {y:.1f})"' if turn else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="{colour}" '
        f'text-anchor="{anchor}" font-weight="{weight}"{rotate}>{escape(text)}</text>'
    )


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1.0) -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        f'stroke-width="{width:g}"/>'
    )


def _axes(frame: Frame) -> Iterable[str]:
    area = frame.area
    right, bottom = area.x + area.width, area.y + area.height
    for value in decades(frame.x_min, frame.x_max):
        x = frame.x(value)
        yield _line(x, area.y, x, bottom, "#ececec")
        yield _text(x, bottom + 16, f"{value:g}", size=_SMALL, anchor="middle")
    for value in decades(frame.y_min, frame.y_max):
        y = frame.y(value)
        yield _line(area.x, y, right, y, "#ececec")
        yield _text(area.x - 8, y + 4, human_rate(value, ""), size=_SMALL, anchor="end")
    yield _line(area.x, bottom, right, bottom, "#1a1a1a")
    yield _line(area.x, area.y, area.x, bottom, "#1a1a1a")
    yield _text(
        area.x + area.width / 2, bottom + 36, "FLOP per byte moved at the level", anchor="middle"
    )
    middle = area.y + area.height / 2
    yield _text(18, middle, "FLOP/s", anchor="middle", turn=-90)


def _roof_lines(lines: Sequence[Segment]) -> Iterable[str]:
    for line in lines:
        stroke = _line(line.x1, line.y1, line.x2, line.y2, _ROOF_COLOURS[line.roof.level], 1.8)
        yield f"<g><title>{escape(line.roof.origin)}</title>{stroke}</g>"


def _roof_labels(lines: Sequence[Segment]) -> Iterable[str]:
    for line in lines:
        yield _text(
            line.label_x,
            line.label_y,
            line.roof.label,
            colour=_ROOF_COLOURS[line.roof.level],
            anchor="start" if line.roof.level else "end",
            turn=line.angle,
        )


def _points(points: Sequence[Mark], colours: dict[int, str]) -> Iterable[str]:
    for launch in dict.fromkeys(point.launch for point in points):
        own = [point for point in points if point.launch == launch]
        low, high = min(p.x for p in own), max(p.x for p in own)
        if high > low:
            yield _line(low, own[0].y, high, own[0].y, colours[launch], 1.0)
    for point in points:
        words = (
            f"launch {point.launch} at {LEVEL_WORDS[point.level]}: "  # type: ignore[index]
            f"{point.intensity:.4g} FLOP/B, {human_rate(point.rate, 'FLOP/s')}"
        )
        shape = _shape(point.level, point.x, point.y, colours[point.launch])
        yield f"<g><title>{escape(words)}</title>{shape}</g>"


def _shape(level: str, x: float, y: float, colour: str) -> str:
    style = f'fill="{colour}" stroke="#ffffff" stroke-width="1"'
    if level == "dram":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5.5" {style}/>'
    if level == "l2":
        return f'<rect x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10" {style}/>'
    corners = f"{x:.1f},{y - 6:.1f} {x + 6:.1f},{y + 5:.1f} {x - 6:.1f},{y + 5:.1f}"
    return f"<polygon points={quoteattr(corners)} {style}/>"


def _tags(points: Sequence[Mark], taken: Sequence[Box], colours: dict[int, str]) -> Iterable[str]:
    for tag in tags(points, taken):
        y = tag.box.y + tag.box.height - 2
        yield _text(tag.box.x, y, str(tag.launch), colour=colours[tag.launch], weight="700")


def _legend(data: ChartData, colours: dict[int, str]) -> Iterable[str]:
    y = _TOP + 12
    drawn = {point.launch for point in data.points}
    levels = [level for level in LEVEL_WORDS if any(p.level == level for p in data.points)]
    for level in levels:
        yield _shape(level, _LEGEND + 6, y - 4, "#8a8a8a")
        yield _text(_LEGEND + 20, y, f"traffic of {LEVEL_WORDS[level]}", size=_SMALL)
        y += _ROW
    y += 8 if levels else 0
    named = [launch for launch in data.names if launch in drawn]
    for launch in named[:_NAMED]:
        yield _text(_LEGEND, y, str(launch), colour=colours[launch], weight="700")
        yield _text(_LEGEND + 26, y, _short(data.names[launch], 200), size=_SMALL)
        yield f"<!-- {launch}: {escape(data.names[launch]).replace('--', '- -')} -->"
        rate = next(point.rate for point in data.points if point.launch == launch)
        y += 14
        yield _text(_LEGEND + 26, y, human_rate(rate, "FLOP/s"), size=_SMALL, colour="#6b6b6b")
        y += _ROW + 2
    if len(named) > _NAMED:
        yield _text(_LEGEND, y, f"and {len(named) - _NAMED} more launches", size=_SMALL)


def _short(name: str, width: float) -> str:
    most = int(width / (text_width("x", _SMALL)))
    return name if len(name) <= most else name[: most - 1] + "…"


def _strip(data: ChartData, colours: dict[int, str], top: float) -> tuple[list[str], float]:
    """Launches without known FLOPs: a bar per level against its roof."""
    if not data.bandwidths:
        return [], top
    body = [
        _text(
            _LEFT, top, "Bandwidth only, and share of its roof: FLOPs are not known", weight="600"
        )
    ]
    y = top + 24
    shown = list(dict.fromkeys(row.launch for row in data.bandwidths))
    for launch in shown[:_NAMED]:
        own = [row for row in data.bandwidths if row.launch == launch]
        body.append(_text(_LEFT, y, str(launch), colour=colours[launch], weight="700"))
        body.append(_text(_LEFT + 26, y, _short(data.names[launch], 190), size=_SMALL))
        for index, row in enumerate(own):
            body.extend(_bar(row, _LEFT + 240 + index * (_TRACK + 36), y, colours[launch]))
        y += 34
    if len(shown) > _NAMED:
        body.append(_text(_LEFT, y, f"and {len(shown) - _NAMED} more launches", size=_SMALL))
        y += _ROW
    return body, y + 12


def _bar(row: ChartBandwidth, x: float, y: float, colour: str) -> Iterable[str]:
    share = "" if row.share is None else f" ({row.share:.0%})"
    words = f"{LEVEL_WORDS[row.level]} {human_rate(row.value, 'B/s')}{share}"
    yield _text(x, y - 5, words, size=_SMALL)
    yield f'<rect x="{x:.1f}" y="{y:.1f}" width="{_TRACK:g}" height="6" fill="#ececec"/>'
    if row.share is not None:
        width = min(1.0, row.share) * _TRACK
        yield f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="6" fill="{colour}"/>'


def _footer(data: ChartData, top: float) -> tuple[list[str], float]:
    """Where each roof comes from, and what could not be drawn."""
    notes = list(data.notes[:_NOTES])
    if len(data.notes) > _NOTES:
        notes.append(f"and {len(data.notes) - _NOTES} more notes")
    rows = [roof.origin for roof in data.roofs] + notes
    y = top
    body = []
    most = int((WIDTH - 2 * 24) / text_width("x", _SMALL))
    for row in rows:
        for part in _fold(row, most):
            body.append(_text(24, y, part, size=_SMALL, colour="#4a4a4a"))
            y += 15
    return body, y + 8


def _fold(text: str, most: int) -> list[str]:
    lines: list[str] = [""]
    for word in text.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > most:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines

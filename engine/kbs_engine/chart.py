"""Geometry of a log-log roofline: pure numbers, drawn elsewhere.

Pixels grow to the right and down. Text is measured by a mean glyph width, so that labels can be
kept apart without a font.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from kbs_engine.chartdata import ChartData, ChartRoof

GLYPH: Final = 0.58
"""Mean width of a character over the font size, for the sans-serif fonts of a browser."""
FONT: Final = 12.0
_GAP: Final = 4.0
_MARGIN: Final = 2.5
"""Factor left free around the outermost point or ridge."""
_BEFORE: Final = 8.0
"""Factor shown left of the first ridge, so that its roof has room for a label."""
_DECADES: Final = 5.0
"""At most this many decades of FLOP/s are shown."""


class Box(msgspec.Struct, frozen=True):
    """A rectangle in pixels."""

    x: float
    y: float
    width: float
    height: float

    def overlaps(self, other: Box) -> bool:
        """Whether the two share area."""
        return (
            self.x < other.x + other.width
            and other.x < self.x + self.width
            and self.y < other.y + other.height
            and other.y < self.y + self.height
        )


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """The plot area and the values at its borders."""

    area: Box
    x_min: float
    x_max: float
    y_min: float
    y_max: float

    def x(self, value: float) -> float:
        """Pixel of an intensity."""
        share = math.log(value / self.x_min) / math.log(self.x_max / self.x_min)
        return self.area.x + share * self.area.width

    def y(self, value: float) -> float:
        """Pixel of a rate."""
        share = math.log(value / self.y_min) / math.log(self.y_max / self.y_min)
        return self.area.y + (1 - share) * self.area.height

    @property
    def slope_degrees(self) -> float:
        """Angle of every bandwidth roof on screen; negative because y grows down."""
        across = self.area.width / math.log10(self.x_max / self.x_min)
        up = self.area.height / math.log10(self.y_max / self.y_min)
        return -math.degrees(math.atan2(up, across))


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """One roof on screen with its label."""

    x1: float
    y1: float
    x2: float
    y2: float
    roof: ChartRoof
    label_x: float
    label_y: float
    angle: float
    """Degrees by which the label turns about its start (memory) or end (compute)."""


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """One point on screen."""

    x: float
    y: float
    launch: int
    level: str
    intensity: float
    rate: float


class Tag(msgspec.Struct, frozen=True, kw_only=True):
    """The number of a launch beside its points."""

    launch: int
    box: Box


def text_width(text: str, size: float = FONT) -> float:
    """Pixels that a text takes, by the mean glyph."""
    return len(text) * GLYPH * size


def fit(data: ChartData, area: Box) -> Frame:
    """Borders that hold every point, every ridge and the highest roof."""
    memory = [roof.value for roof in data.roofs if roof.level]
    compute = [roof.value for roof in data.roofs if not roof.level]
    ridges = [peak / width for peak in compute for width in memory]
    across = [point.intensity for point in data.points] + ridges or [1.0]
    x_min = min([value / _MARGIN for value in across] + [ridge / _BEFORE for ridge in ridges])
    x_max = max(across) * _MARGIN
    rates = [point.rate for point in data.points]
    tops = compute + rates or [width * x_max for width in memory] or [1.0]
    y_max = max(tops) * 2.0
    low = min([*rates, *compute, *(width * x_min for width in memory[:1])] or [y_max / 100])
    y_min = max(low / _MARGIN, y_max / 10**_DECADES)
    return Frame(area=area, x_min=x_min, x_max=x_max, y_min=min(y_min, y_max / 10), y_max=y_max)


def decades(low: float, high: float) -> list[float]:
    """Powers of ten within the borders; 1, 2 and 5 of each where fewer than two would stand."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    powers = [10.0**n for n in range(first, last + 1) if low <= 10.0**n <= high]
    if len(powers) > 1:
        return powers
    steps = [m * 10.0**n for n in range(first, last + 1) for m in (1, 2, 5)]
    return [value for value in steps if low <= value <= high]


def segments(data: ChartData, frame: Frame) -> list[Segment]:
    """Roofs clipped to the frame and to one another, labels beside them."""
    memory = sorted((r for r in data.roofs if r.level), key=lambda r: -r.value)
    compute = sorted((r for r in data.roofs if not r.level), key=lambda r: -r.value)
    top = compute[0].value if compute else frame.y_max
    found = [line for roof in memory if (line := _diagonal(roof, frame, top))]
    widest = memory[0].value if memory else None
    lines = [_level(roof, frame, widest) for roof in compute]
    return [*_shift_diagonals(found, frame, _trails(data, frame)), *_shift_levels(lines)]


def _trails(data: ChartData, frame: Frame) -> list[Box]:
    """What the points of each launch and the line between them cover."""
    points = marks(data, frame)
    boxes = []
    for launch in {point.launch for point in points}:
        own = [point for point in points if point.launch == launch]
        left, right = min(p.x for p in own), max(p.x for p in own)
        boxes.append(Box(left - 7, own[0].y - 7, right - left + 14, 14))
    return boxes


def _diagonal(roof: ChartRoof, frame: Frame, top: float) -> Segment | None:
    start = max(frame.x_min, frame.y_min / roof.value)
    end = min(frame.x_max, top / roof.value)
    if end <= start:
        return None
    x1, y1 = frame.x(start), frame.y(roof.value * start)
    return Segment(
        x1=x1, y1=y1, x2=frame.x(end), y2=frame.y(roof.value * end), roof=roof,
        label_x=x1, label_y=y1, angle=frame.slope_degrees,
    )  # fmt: skip


def _shift_diagonals(lines: Sequence[Segment], frame: Frame, avoid: Sequence[Box]) -> list[Segment]:
    """Labels run along their line, where no point is and on the side where no line is near."""
    turn = math.radians(frame.slope_degrees)
    placed = []
    for index, line in enumerate(lines):
        above = index == 0 or _distance(lines[index - 1], line, turn) >= FONT + 2 * _GAP
        length = math.hypot(line.x2 - line.x1, line.y2 - line.y1)
        room = max(0.0, length - text_width(line.roof.label))
        off = -_GAP - 1 if above else FONT + 1
        options = []
        for share in (0.25, 0.1, 0.4, 0.55, 0.7, 0.85, 0.95):
            along = max(2 * _GAP, room * share)
            x = line.x1 + along * math.cos(turn) - off * math.sin(turn)
            y = line.y1 + along * math.sin(turn) + off * math.cos(turn)
            options.append(msgspec.structs.replace(line, label_x=x, label_y=y))
        free = (
            o for o in options if not any(b.overlaps(a) for b in label_boxes([o]) for a in avoid)
        )
        placed.append(next(free, options[0]))
    return placed


def _distance(first: Segment, second: Segment, turn: float) -> float:
    """Pixels between two parallel lines."""
    dx, dy = second.x1 - first.x1, second.y1 - first.y1
    return abs(dx * math.sin(turn) - dy * math.cos(turn))


def _level(roof: ChartRoof, frame: Frame, widest: float | None) -> Segment:
    start = max(frame.x_min, roof.value / widest) if widest else frame.x_min
    y = frame.y(roof.value)
    right = frame.area.x + frame.area.width
    return Segment(
        x1=frame.x(min(start, frame.x_max)), y1=y, x2=right, y2=y, roof=roof,
        label_x=right - _GAP, label_y=y - _GAP - 1, angle=0.0,
    )  # fmt: skip


def _shift_levels(lines: Sequence[Segment]) -> list[Segment]:
    """Two roofs that nearly coincide: the lower one is labelled below its line."""
    placed: list[Segment] = []
    for line in lines:
        close = placed and line.y1 - placed[-1].y1 < FONT + 2 * _GAP
        y = line.y1 + FONT + 1 if close else line.label_y
        if placed and abs(y - placed[-1].label_y) < FONT + 1:
            y = placed[-1].label_y + FONT + 2
        placed.append(msgspec.structs.replace(line, label_y=y))
    return placed


def marks(data: ChartData, frame: Frame) -> list[Mark]:
    """Points on screen, in the order of the data."""
    return [
        Mark(
            x=frame.x(point.intensity), y=frame.y(max(point.rate, frame.y_min)),
            launch=point.launch, level=point.level, intensity=point.intensity, rate=point.rate,
        )
        for point in data.points
    ]  # fmt: skip


def label_boxes(lines: Iterable[Segment]) -> list[Box]:
    """What level labels cover, as boxes; slanted labels as a chain of small boxes."""
    found = []
    for line in lines:
        width = text_width(line.roof.label)
        if line.angle == 0.0:
            found.append(Box(line.label_x - width, line.label_y - FONT, width, FONT + 2))
            continue
        turn = math.radians(line.angle)
        steps = max(1, round(width / FONT))
        for step in range(steps):
            x = line.label_x + step * FONT * math.cos(turn)
            y = line.label_y + step * FONT * math.sin(turn)
            found.append(Box(x, y - FONT, FONT, FONT))
    return found


def tags(points: Sequence[Mark], taken: Sequence[Box], *, size: float = FONT) -> list[Tag]:
    """A number for each launch, at the first place beside its points that nothing covers."""
    busy = [*taken, *(Box(p.x - 6, p.y - 6, 12, 12) for p in points)]
    found = []
    for launch in dict.fromkeys(point.launch for point in points):
        own = sorted((p for p in points if p.launch == launch), key=lambda p: -p.x)
        width = text_width(str(launch), size)
        options = [
            Box(p.x + dx - (width if dx < 0 else 0), p.y + dy - size / 2, width, size)
            for p in own
            for dx, dy in (
                (9, 0),
                (7, -14),
                (7, 14),
                (-9, 0),
                (-7, -14),
                (-7, 14),
                (9, 26),
                (9, -26),
            )
        ]
        box = next((b for b in options if not any(b.overlaps(o) for o in busy)), options[0])
        busy.append(box)
        found.append(Tag(launch=launch, box=box))
    return found

"""What Nsight Compute prints on a terminal: the details and raw pages as text tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from kbs_engine.errors import ReportError
from kbs_engine.profiles import Report, VendorRule
from kbs_ingest.readers import identity, vendor_rules
from kbs_ingest.readers.labels import Labels, section_id
from kbs_ingest.readers.launches import Launch, to_profiles
from kbs_ingest.readers.locale_style import decide
from kbs_ingest.readers.numbers import Style, is_absent, parse
from kbs_ingest.readers.opcode_cells import WHOLE
from kbs_ingest.readers.text import split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kbs_engine.metrics import MetricMap

_KERNEL: Final = re.compile(
    r"\s{1,4}(?P<name>\S.*?)"
    r"(?:\s{1,20}(?P<grid>\(\d+, \d+, \d+\))x(?P<block>\(\d+, \d+, \d+\)))?"
    r"(?:, \d{4}-\w{3}-\d{2} \d{2}:\d{2}:\d{2})?"
    r"(?:, Context \d+, Stream \d+)?"
    r"(?:, Device \d+, CC (?P<cc>\d+\.\d+))?"
    r"(?:, Invocations (?P<count>\d+))?"
)
"""Of a line without blanks at its end, as the patterns below: no two parts take the same ones."""
_KERNEL_TAIL: Final = re.compile(r", (?:Context \d+, Stream \d+|Device \d+, CC \d|Invocations \d)")
_RULE_LINE: Final = re.compile(r"\s*-{3,}(?: -{3,})+")
_SECTION: Final = re.compile(r"\s*Section:\s+(?P<name>\S.*)")
_FINDING: Final = re.compile(r"\s{2,5}(?P<kind>INF|WRN|OPT|ERR|OK)\s{2,}(?P<text>\S.*)")
_MORE: Final = re.compile(r"\s{7,}(?P<text>\S.*)")
_SPEEDUP: Final = re.compile(r"Est\. (?P<local>Local )?Speedup: (?P<value>[\d.,]+)%\s*(?P<rest>.*)")
_COLUMNS: Final = 3
_RULERS: Final = 3
"""Lines of dashes of a table: above its header, below it, and at its end."""
CUT: Final = "the text ends in the middle of a table or of a line: it may be cut off here"


class _Cell(NamedTuple):
    line: int
    launch: int
    section: str
    name: str
    unit: str
    value: str


def is_text(text: str) -> bool:
    """Whether this is terminal output with at least one kernel and one table."""
    lines = [line.rstrip() for line in split_lines(text)]
    return any(_KERNEL_TAIL.search(line) and _KERNEL.fullmatch(line) for line in lines) and any(
        _RULE_LINE.fullmatch(line) for line in lines
    )


def read(text: str, path: Path, metric_map: MetricMap) -> Report:
    """Read all kernels; rules have no identifier in this form, so their section stands in."""
    scan = _Scan()
    for number, line in enumerate(split_lines(text), 1):
        scan.line(number, line.rstrip())
    scan.finish()
    if scan.launches and (scan.in_table or not text.endswith(("\n", "\r"))):
        scan.launches[-1].flags.append(CUT)
    style = decide(((cell.value, cell.name in WHOLE) for cell in scan.cells), path)
    _fill(scan, style, Labels(metric_map), path)
    measured = {cell.launch for cell in scan.cells}
    kept = [one for one in scan.launches if one.number in measured or one.rules]
    if not kept:
        raise ReportError(
            "kernels are named but no metric follows",
            where=str(path),
            remedy="the output is cut off; keep all of it, or use --page raw --csv",
        )
    return Report(
        path=str(path), format="ncu-text", profiles=to_profiles(kept, metric_map, str(path))
    )


def _fill(scan: _Scan, style: Style, labels: Labels, path: Path) -> None:
    for cell in scan.cells:
        counter = labels.counter(cell.name, cell.section, cell.unit)
        if counter is None:
            continue
        launch = scan.launches[cell.launch]
        try:
            value = parse(cell.value, style)
        except ValueError as fault:
            if any(character.isdigit() for character in cell.value) and not is_absent(cell.value):
                raise ReportError(
                    f"{cell.name}: {fault}",
                    where=f"{path}:{cell.line}",
                    remedy="print it again with LC_ALL=C ncu --import …",
                ) from fault
            continue
        if value is not None:
            launch.values[counter] = (value, cell.unit)
    if not style.proved:
        for launch in scan.launches:
            launch.flags.append("no number proves the decimal mark; a point is assumed")


class _Scan:
    """Walk the lines, keeping the current kernel, section, table and finding."""

    def __init__(self) -> None:
        self.launches: list[Launch] = []
        self.cells: list[_Cell] = []
        self.section = ""
        self.spans: list[tuple[int, int]] = []
        self.rulers = 0
        self.finding: tuple[str, list[str]] | None = None

    def line(self, number: int, line: str) -> None:
        """Take one line."""
        if self.finding:
            more = _MORE.fullmatch(line)
            if more:
                self.finding[1].append(more["text"])
                return
            self.finish()
        kernel = _KERNEL.fullmatch(line) if _KERNEL_TAIL.search(line) else None
        if kernel:
            self._kernel(kernel)
        elif _RULE_LINE.fullmatch(line):
            self.spans = [match.span() for match in re.finditer("-+", line)]
            self.rulers += 1
        elif self.launches:
            self._content(number, line)

    @property
    def in_table(self) -> bool:
        """Whether the table that was begun last has not come to its end."""
        return self.rulers % _RULERS > 0

    def finish(self) -> None:
        """Close the finding that is being read."""
        if self.finding and self.launches:
            kind, words = self.finding
            self.launches[-1].rules.append(_rule(kind, " ".join(words), self.section))
        self.finding = None

    def _kernel(self, match: re.Match[str]) -> None:
        launch = Launch(
            number=len(self.launches), name=match["name"], compute_capability=match["cc"]
        )
        for metric, shape in (("launch__grid_size", "grid"), ("launch__block_size", "block")):
            size = identity.product(match[shape] or "")
            if size is not None:
                launch.values[metric] = (size, "")
        if match["count"]:
            launch.flags.append(f"a summary: averages over {match['count']} launches")
        self.launches.append(launch)
        self.section, self.spans, self.rulers = "", [], 0

    def _content(self, number: int, line: str) -> None:
        section = _SECTION.fullmatch(line)
        finding = _FINDING.fullmatch(line)
        if section:
            self.section, self.spans, self.rulers = section_id(section["name"]), [], 0
            self.launches[-1].sections.append(self.section)
        elif finding:
            self.finding = (finding["kind"], [finding["text"]])
        elif len(self.spans) >= _COLUMNS and line.strip():
            self._cell(number, line)

    def _cell(self, number: int, line: str) -> None:
        fields = [part.strip() for part in _columns(line, self.spans)]
        name, unit, value = fields[0], fields[1], fields[-1]
        if name and value and name != "Metric Name":
            here = len(self.launches) - 1
            self.cells.append(_Cell(number, here, self.section, name, unit, value))


def _columns(line: str, spans: list[tuple[int, int]]) -> Iterator[str]:
    """Cut a line at the blanks between the columns that the ruler drew."""
    start = 0
    for _, end in spans[:-1]:
        yield line[start:end]
        start = end
    yield line[start:]


def _rule(kind: str, text: str, section: str) -> VendorRule:
    match = _SPEEDUP.fullmatch(text)
    if not match:
        return vendor_rules.from_row(section, kind, text, section, "", None)
    scope = "local" if match["local"] else "global"
    speedup = float(match["value"].replace(",", "."))
    return vendor_rules.from_row(section, kind, match["rest"], section, scope, speedup)

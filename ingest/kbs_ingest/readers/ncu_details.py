"""The details page of Nsight Compute as CSV: one row per metric or rule of a launch.

Also its summaries (--print-summary), whose rows give minimum, maximum and average.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kbs_engine.errors import ReportError
from kbs_engine.profiles import Report
from kbs_ingest.readers import identity, vendor_rules
from kbs_ingest.readers.labels import Labels, section_id
from kbs_ingest.readers.launches import OPCODES, Launch, to_profiles
from kbs_ingest.readers.locale_style import decide
from kbs_ingest.readers.numbers import Style, is_absent, parse
from kbs_ingest.readers.opcode_cells import WHOLE, opcodes, split_instances

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kbs_engine.metrics import MetricMap
    from kbs_ingest.readers.tables import Table

_RULE_KINDS: Final = frozenset({"INF", "WRN", "OPT", "ERR", "OK"})
_USED: Final = frozenset(
    {
        "ID", "Process ID", "Kernel Name", "Block Size", "Grid Size", "Device", "CC",
        "Invocations", "Section Name", "Metric Name", "Metric Unit", "Metric Value", "Average",
    }
)  # fmt: skip
"""Columns of which a row must have each that its header has; those of findings may lack."""


def is_details(header: list[str]) -> bool:
    """Whether the header is that of the details page, one metric per row."""
    return "Metric Name" in header and ("Metric Value" in header or "Average" in header)


def read(tables: list[Table], path: Path, metric_map: MetricMap) -> Report:
    """Read all launches; a summary gives one profile per kernel, made of averages."""
    summary = "Metric Value" not in tables[0].header
    if not summary:
        identity.require_ids(tables, path)
    reader = _Reader(path, decide(_cells(tables), path), Labels(metric_map), summary=summary)
    for table in tables:
        for line, fields in table.rows:
            if len(fields) < _needed(table.header):
                raise ReportError(
                    f"the row has only {len(fields)} fields",
                    where=f"{path}:{line}",
                    remedy="the file is cut off or edited; export it again with --csv",
                )
            reader.row(dict(zip(table.header, fields, strict=False)), f"{path}:{line}")
    launches = list(reader.launches.values())
    if not launches:
        raise ReportError(
            "the export has a header but no launch",
            where=f"{path}:{tables[-1].line}",
            remedy="profile again: no kernel matched, or the export was cut off",
        )
    reported = identity.renumber(launches)
    return Report(
        path=str(path),
        format="ncu-summary-csv" if summary else "ncu-details-csv",
        profiles=to_profiles(launches, metric_map, str(path)),
        reported=reported,
    )


def _value_column(header: list[str]) -> str:
    return "Metric Value" if "Metric Value" in header else "Average"


def _needed(header: list[str]) -> int:
    return max(place for place, name in enumerate(header) if name in _USED) + 1


def _cells(tables: list[Table]) -> Iterator[tuple[str, bool]]:
    for table in tables:
        name = table.header.index("Metric Name")
        value = table.header.index(_value_column(table.header))
        for _, fields in table.rows:
            if len(fields) > max(name, value):
                yield fields[value], fields[name] in WHOLE and "Average" not in table.header


class _Reader:
    """Collect rows into launches."""

    def __init__(self, path: Path, style: Style, labels: Labels, *, summary: bool) -> None:
        self.path = path
        self.style = style
        self.labels = labels
        self.summary = summary
        self.launches: dict[tuple[str, ...], Launch] = {}

    def row(self, cells: dict[str, str], where: str) -> None:
        """Add one row to its launch."""
        launch = self._launch(cells, where)
        section = section_id(cells.get("Section Name", "").strip())
        if section:
            launch.sections.append(section)
        if cells.get("Rule Name", "").strip():
            self._rule(launch, cells, section)
        name = cells.get("Metric Name", "").strip()
        if name:
            value = cells.get(_value_column(list(cells)), "")
            self._metric(launch, name, section, (value, cells.get("Metric Unit", "")), where)

    def _launch(self, cells: dict[str, str], where: str) -> Launch:
        key = tuple(cells.get(name, "") for name in ("Process ID", "ID", "Kernel Name"))
        if self.summary:
            shape = (cells.get("Grid Size", ""), cells.get("Block Size", ""))
            key = (*key, *shape, cells.get("Device", ""))
        launch = self.launches.get(key)
        if launch is None:
            number = {"ID": str(len(self.launches))} if self.summary else {}
            launch = identity.launch({**cells, **number}, where)
            if self.summary:
                count = cells.get("Invocations", "").strip() or "several"
                launch.flags.append(f"a summary: averages over {count} launches")
            if not self.style.proved:
                launch.flags.append("no number proves the decimal mark; a point is assumed")
            self.launches[key] = launch
        return launch

    def _rule(self, launch: Launch, cells: dict[str, str], section: str) -> None:
        kind = cells.get("Rule Type", "").strip()
        message = cells.get("Rule Description", "")
        if kind not in _RULE_KINDS or not message.strip():
            return
        try:
            speedup = parse(cells.get("Estimated Speedup", "") or "", self.style)
        except ValueError:
            speedup = None
        scope = cells.get("Estimated Speedup Type", "") or ""
        launch.rules.append(
            vendor_rules.from_row(cells["Rule Name"], kind, message, section, scope, speedup)
        )

    def _metric(
        self, launch: Launch, name: str, section: str, cell: tuple[str, str], where: str
    ) -> None:
        text, unit = cell
        counter = self.labels.counter(name, section, unit)
        if counter is None:
            return
        total, parts = split_instances(text)
        try:
            value = parse(total, self.style)
            if counter == OPCODES:
                launch.opcodes.update(opcodes(parts, self.style))
        except ValueError as fault:
            if any(character.isdigit() for character in text) and not is_absent(text):
                raise ReportError(
                    f"{name}: {fault}",
                    where=where,
                    remedy="export it again with LC_ALL=C ncu --import … --csv",
                ) from fault
            launch.flags.append(f"{name} reads {text!r}, left out")
            return
        if value is not None:
            launch.values[counter] = (value, unit.strip())

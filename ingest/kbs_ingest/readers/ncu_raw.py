"""The raw page of Nsight Compute as CSV: one row per launch, a row of units under the header."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kbs_engine.errors import ReportError
from kbs_engine.profiles import Report
from kbs_ingest.readers import identity
from kbs_ingest.readers.derived import inputs
from kbs_ingest.readers.launches import OPCODES, Launch, to_profiles
from kbs_ingest.readers.locale_style import decide
from kbs_ingest.readers.numbers import Style, is_absent, parse
from kbs_ingest.readers.opcode_cells import WHOLE, opcodes, split_instances

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kbs_engine.metrics import MetricMap
    from kbs_ingest.readers.tables import Table


def is_raw(header: list[str]) -> bool:
    """Whether the header is that of the raw page: metric names are columns."""
    return "Metric Name" not in header and any("__" in name for name in header)


def read(tables: list[Table], path: Path, metric_map: MetricMap) -> Report:
    """Read all launches of all tables (one table per profiled process)."""
    identity.require_ids(tables, path)
    style = decide(_cells(tables), path)
    wanted = inputs(metric_map.vendor_names()) | {OPCODES}
    launches = []
    for table in tables:
        units, rows = _split_units(table)
        twice = [name for name, count in Counter(table.header).items() if name and count > 1]
        for line, fields in rows:
            _whole_row(table, line, fields, path)
            for name in twice:
                _same_cells(table, name, fields, f"{path}:{line}")
            cells = dict(zip(table.header, fields, strict=False))
            launches.append(_launch(cells, units, wanted, style, f"{path}:{line}"))
    if not launches:
        raise ReportError(
            "the export has a header but no launch",
            where=f"{path}:{tables[-1].line}",
            remedy="profile again: no kernel matched, or the export was cut off",
        )
    reported = identity.renumber(launches)
    return Report(
        path=str(path),
        format="ncu-raw-csv",
        profiles=to_profiles(launches, metric_map, str(path)),
        reported=reported,
    )


def _whole_row(table: Table, line: int, fields: list[str], path: Path) -> None:
    if len(fields) != len(table.header):
        raise ReportError(
            f"the row has {len(fields)} fields, its header {len(table.header)}",
            where=f"{path}:{line}",
            remedy="the file is cut off or edited; export it again with --page raw --csv",
        )


def _same_cells(table: Table, name: str, fields: list[str], where: str) -> None:
    """Columns of one name must agree: nobody knows which of two values was measured."""
    values = {cell for column, cell in zip(table.header, fields, strict=True) if column == name}
    if len(values) > 1:
        raise ReportError(
            f"{name} has {len(values)} columns, which differ: {', '.join(sorted(values))}",
            where=where,
            remedy="the file was edited or joined; export it again with --page raw --csv",
        )


def _split_units(table: Table) -> tuple[dict[str, str] | None, list[tuple[int, list[str]]]]:
    """Separate the row of units, which has no ID and no kernel; None where there is none."""
    key = identity.column(table.header, "ID")
    name = identity.column(table.header, "Kernel Name")
    units: dict[str, str] | None = None
    rows = []
    for line, fields in table.rows:
        blank = all(
            index is None or index >= len(fields) or not fields[index].strip()
            for index in (key, name)
        )
        if not blank:
            rows.append((line, fields))
        elif units is None:
            units = dict(zip(table.header, (text.strip() for text in fields), strict=False))
    return units, rows


def _cells(tables: list[Table]) -> Iterator[tuple[str, bool]]:
    for table in tables:
        columns = [(i, name in WHOLE) for i, name in enumerate(table.header) if "__" in name]
        for _, fields in table.rows:
            yield from ((fields[i], whole) for i, whole in columns if i < len(fields))


def _launch(
    cells: dict[str, str],
    units: dict[str, str] | None,
    wanted: frozenset[str],
    style: Style,
    where: str,
) -> Launch:
    launch = identity.launch(cells, where)
    if units is None:
        launch.flags.append("the export has no row of units: times, sizes and rates are left out")
    if not style.proved:
        launch.flags.append("no number of the file proves its decimal mark; a point is assumed")
    for name in wanted & cells.keys():
        total, parts = split_instances(cells[name])
        try:
            value = parse(total, style)
            if name == OPCODES:
                launch.opcodes.update(opcodes(parts, style))
        except ValueError as fault:
            _text_cell(launch, name, str(fault), cells[name], where)
            continue
        if value is not None:
            launch.values[name] = (value, (units or {}).get(name, ""))
    return launch


def _text_cell(launch: Launch, name: str, fault: str, cell: str, where: str) -> None:
    """A cell that is no number: words are no measurement, damaged digits are an error."""
    if any(character.isdigit() for character in cell) and not is_absent(cell):
        raise ReportError(
            f"{name}: {fault}",
            where=where,
            remedy="export it again with LC_ALL=C ncu --import … --page raw --csv",
        )
    launch.flags.append(f"{name} reads {cell!r}, left out")

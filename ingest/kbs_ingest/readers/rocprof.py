"""Counters of AMD GPUs: CSV of rocprofv3, of rocprof, and pmc_perf.csv of rocprof-compute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kbs_engine.errors import ReportError
from kbs_engine.profiles import Report
from kbs_ingest.readers.identity import renumber
from kbs_ingest.readers.launches import Launch, to_profiles
from kbs_ingest.readers.locale_style import decide
from kbs_ingest.readers.numbers import Style, parse
from kbs_ingest.readers.rocprof_agent import add_agent
from kbs_ingest.readers.tables import Table, tables
from kbs_ingest.readers.text import decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from kbs_engine.metrics import MetricMap

_NAME: Final = ("Kernel_Name", "KernelName")
_DISPATCH: Final = (
    "Dispatch_Id", "Dispatch_ID", "Index", "Correlation_Id", "Correlation_ID",
)  # fmt: skip
_PROCESS: Final = ("Process_Id", "PID", "pid")
_START: Final = ("Start_Timestamp", "BeginNs", "Start_Ns")
_END: Final = ("End_Timestamp", "EndNs", "End_Ns")
_LAUNCH: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "launch:grid_threads": (("Grid_Size", "GRD", "grd"), ""),
    "launch:block_threads": (("Workgroup_Size", "WGR", "wgr"), ""),
    "launch:lds_bytes": (
        ("LDS_Block_Size", "LDS_Per_Workgroup", "Group_Segment_Size", "LDS", "lds"),
        "byte",
    ),
    "launch:scratch_bytes": (
        ("Scratch_Size", "Scratch_Per_Workitem", "Private_Segment_Size", "SCR", "scr"),
        "byte",
    ),
    "launch:vgprs": (("VGPR_Count", "Arch_VGPR", "arch_vgpr"), ""),
    "launch:agprs": (("Accum_VGPR_Count", "Accum_VGPR", "ACCUM_VGPR", "accum_vgpr"), ""),
    "launch:sgprs": (("SGPR_Count", "SGPR", "sgpr"), ""),
}
"""Names for the map, the columns that give them, and their unit."""
_AXES: Final = {"launch:grid_threads": "Grid_Size_", "launch:block_threads": "Workgroup_Size_"}
_NOT_COUNTERS: Final = frozenset(
    {
        "Correlation_Id", "Agent_Id", "Queue_Id", "Thread_Id", "Kernel_Id", "Counter_Name",
        "Counter_Value", "Kind", "Stream_Id", "GPU_ID", "Queue_ID", "TID", "Wave_Size",
        "Kernel_ID", "Queue_Index", "SIG", "OBJ", "wave_size", "gpu-id", "queue-id",
        "queue-index", "tid", "sig", "obj", "DispatchNs",
        "CompleteNs", "DurationNs", "Node_ID", *_NAME, *_DISPATCH, *_PROCESS, *_START, *_END,
        *(column for columns, _ in _LAUNCH.values() for column in columns),
    }
)  # fmt: skip
_ID_DIGITS: Final = 15
_AXIS_COLUMNS: Final = ("Grid_Size_", "Workgroup_Size_")


def is_rocprof(header: list[str]) -> bool:
    """Whether the header is that of one of AMD's tools."""
    return any(name in header for name in _NAME) and any(name in header for name in _DISPATCH)


def read(found: list[Table], path: Path, metric_map: MetricMap) -> Report:
    """Read all dispatches of one file; the GPU comes from agent_info.csv beside it."""
    return _report([(path, table) for table in found], path, metric_map)


def read_folder(folder: Path, metric_map: MetricMap) -> Report:
    """Read a folder of rocprofv3: the passes (pmc_1, pass_2, …) are joined by dispatch."""
    names = ("*counter_collection.csv", "*kernel_trace.csv", "pmc_perf.csv")
    files = sorted({file for name in names for file in folder.rglob(name) if file.is_file()})
    found = [(file, table) for file in files for table in _tables(file)]
    if not found:
        raise ReportError(
            "the folder has no counter_collection.csv, kernel_trace.csv or pmc_perf.csv",
            where=str(folder),
            remedy="give a report file, or run rocprofv3 with --output-format csv",
        )
    return _report(found, folder, metric_map)


def _tables(file: Path) -> list[Table]:
    try:
        text = decode(file.read_bytes())
    except OSError as fault:
        message = f"the file cannot be read: {fault}"
        raise ReportError(message, where=str(file), remedy="check its permissions") from fault
    return [table for table in tables(text, file) if is_rocprof(table.header)]


def _report(found: list[tuple[Path, Table]], path: Path, metric_map: MetricMap) -> Report:
    if metric_map.vendor != "amd":
        raise ReportError(
            "this is output of AMD's rocprof, but the metric map is NVIDIA's",
            where=str(path),
            remedy="read it with gpu-wiki/metrics/amd.yaml",
        )
    style = decide(_cells(found), path)
    launches: dict[tuple[str, str], Launch] = {}
    for file, table in found:
        for line, fields in table.rows:
            if len(fields) != len(table.header):
                raise ReportError(
                    f"the row has {len(fields)} fields, its header {len(table.header)}",
                    where=f"{file}:{line}",
                    remedy="the file is cut off; run the profiler again",
                )
            cells = dict(zip(table.header, fields, strict=True))
            _row(launches, cells, style, f"{file}:{line}")
    if not launches:
        message = "the export has a header but no dispatch"
        remedy = "check the kernel filters and profile again"
        raise ReportError(message, where=str(path), remedy=remedy)
    add_agent(launches.values(), path if path.is_dir() else path.parent)
    reported = renumber(launches.values())
    return Report(
        path=str(path),
        format="rocprof-csv",
        profiles=to_profiles(launches.values(), metric_map, str(path)),
        reported=reported,
        notes=("counters of AMD GPUs are read by documented formulas, not run on AMD hardware",),
    )


def _cells(found: list[tuple[Path, Table]]) -> Iterator[tuple[str, bool]]:
    for _, table in found:
        for _, fields in table.rows:
            for name, cell in zip(table.header, fields, strict=False):
                if name == "Counter_Value" or name not in _NOT_COUNTERS:
                    yield cell, False


def _first(cells: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((cells[name].strip() for name in names if name in cells), "")


def _row(
    launches: dict[tuple[str, str], Launch], cells: dict[str, str], style: Style, where: str
) -> None:
    number = _first(cells, _DISPATCH)
    if not (number.isascii() and number.isdigit() and len(number) <= _ID_DIGITS):
        message = f"the dispatch id is {number!r}"
        raise ReportError(message, where=where, remedy="the row is damaged; profile again")
    key = (number, _first(cells, _NAME))
    launch = launches.get(key)
    if launch is None:
        launch = Launch(number=int(number), name=key[1])
        launches[key] = launch
        if not style.proved:
            launch.flags.append("no number proves the decimal mark; a point is assumed")
    try:
        _launch_values(launch, cells, style)
        _counters(launch, cells, style)
    except ValueError as fault:
        remedy = "the row is damaged; profile again with LC_ALL=C"
        raise ReportError(str(fault), where=where, remedy=remedy) from fault


def _launch_values(launch: Launch, cells: dict[str, str], style: Style) -> None:
    for name, (columns, unit) in _LAUNCH.items():
        value = parse(_first(cells, columns), style)
        if value is None and name in _AXES:
            axes = [parse(cells.get(f"{_AXES[name]}{axis}", ""), style) for axis in "XYZ"]
            value = 1.0
            for axis in axes:
                value = None if value is None or axis is None else value * axis
        if value is not None:
            launch.values.setdefault(name, (value, unit))
    start, end = parse(_first(cells, _START), style), parse(_first(cells, _END), style)
    if start is not None and end is not None and end > start:
        launch.values.setdefault("launch:duration", (end - start, "ns"))


def _counters(launch: Launch, cells: dict[str, str], style: Style) -> None:
    if "Counter_Name" in cells:
        pairs = [(cells["Counter_Name"].strip(), cells.get("Counter_Value", ""))]
    else:
        pairs = [
            (name, cell)
            for name, cell in cells.items()
            if name not in _NOT_COUNTERS and not name.startswith(_AXIS_COLUMNS)
        ]
    for name, cell in pairs:
        value = parse(cell, style)
        known = launch.values.get(name)
        if value is None or not name:
            continue
        if known is not None and known[0] != value:
            launch.flags.append(f"{name} is given more than once; the first value is kept")
        else:
            launch.values[name] = (value, "")

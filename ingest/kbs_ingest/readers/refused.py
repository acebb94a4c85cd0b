"""Files that are no profile of counters, or no report at all: what they are and what to do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from kbs_engine.errors import ReportError
from kbs_ingest.readers.text import printable

if TYPE_CHECKING:
    from pathlib import Path

EXPORT: Final = "export the report with ncu --import REPORT.ncu-rep --page raw --csv"


class _Sign(NamedTuple):
    pattern: re.Pattern[str]
    message: str
    remedy: str


_MAGICS: Final[tuple[tuple[bytes, str, str], ...]] = (
    (b"\x89PNG", "a PNG image", EXPORT),
    (b"\xff\xd8\xff", "a JPEG image", EXPORT),
    (b"%PDF", "a PDF document", EXPORT),
    (b"\x7fELF", "a program or library", "profile it with ncu and give the report"),
    (b"PK\x03\x04", "a zip archive", "unpack it and give the report inside"),
    (b"\x1f\x8b", "a gzip archive", "unpack it and give the report inside"),
    (b"BZh", "a bzip2 archive", "unpack it and give the report inside"),
    (b"\xfd7zXZ", "an xz archive", "unpack it and give the report inside"),
    (
        b"SQLite format 3",
        "an SQLite database (Nsight Systems or rocpd), which has no counters to read here",
        "for NVIDIA profile with ncu; for AMD run rocprofv3 with --output-format csv",
    ),
)

_PERMISSION: Final = _Sign(
    re.compile(r"ERR_NVGPUCTRPERM"),
    "ncu had no permission to read GPU performance counters (ERR_NVGPUCTRPERM)",
    "run ncu as root, or have the administrator load the driver with "
    "NVreg_RestrictProfilingToAdminUsers=0; see https://developer.nvidia.com/ERR_NVGPUCTRPERM",
)
_NO_KERNELS: Final = _Sign(
    re.compile(r"No kernels were profiled|No metrics were collected"),
    "ncu profiled no kernel",
    "check --kernel-name, --launch-skip and --launch-count, add --target-processes all, and "
    "make sure that the program launches a kernel inside the profiled range",
)
_SIGNS: Final[tuple[_Sign, ...]] = (
    _PERMISSION,
    _NO_KERNELS,
    _Sign(
        re.compile(r"==NVPROF==|^\"?Device\"?,\"?Kernel\"?,\"?Invocations\"?", re.MULTILINE),
        "output of nvprof, whose metrics have other names and meanings",
        "profile with Nsight Compute (ncu)",
    ),
    _Sign(
        re.compile(
            r"Time ?\(%\)\"?,.{0,2000}Total Time|Start ?\(ns\)\"?,.{0,2000}Duration ?\(ns\)"
        ),
        "an export of Nsight Systems: a timeline without hardware counters",
        "profile the kernel with Nsight Compute: ncu --set full -o REPORT APP",
    ),
    _Sign(
        re.compile(r"Warp Stall Sampling|\"#\",\"(?:Address|Source)\"|\"Address\",\"Source\""),
        "the source page of Nsight Compute, which gives lines, not kernels",
        EXPORT + ", or give the .ncu-rep itself",
    ),
    _Sign(
        re.compile(r"\"Metric ID\",|Metric_ID,|Metric,Avg,Unit|^Metric,.*\bPeak\b", re.MULTILINE),
        "an analysis table of rocprof-compute, which is not one kernel launch",
        "give pmc_perf.csv of the workload folder",
    ),
    _Sign(
        re.compile(r"Python traceback|Traceback \(most recent call last\)"),
        "the log of a program that failed",
        "run the program without the profiler first",
    ),
)
_ERROR: Final = re.compile(r"==ERROR==\s*(?P<text>\S.*)")
_COUNTER: Final = re.compile(r"[a-z0-9]__[a-z_]{1,200}\.(?:sum|avg|ratio|pct)")
"""Bounded, as every repetition here that is searched for from each place of a file."""
_CONTROL: Final = re.compile("[\0-\x08\x0e-\x1a\x1c-\x1f\ufffd]")
_MANY: Final = 0.05


def irregular(path: Path) -> None:
    """Raise for pipes, sockets and devices, which cannot be read twice; they are not opened."""
    if path.exists() and not path.is_file():
        raise ReportError(
            "this is a pipe or device, not a regular file; a report is read more than once",
            where=str(path),
            remedy="write it to a file first and give that file",
        )


def binary(data: bytes, path: Path) -> None:
    """Raise for bytes that are known to be something else."""
    for magic, what, remedy in _MAGICS:
        if data.startswith(magic):
            raise ReportError(f"this is {what}, not a report", where=str(path), remedy=remedy)
    if path.suffix in (".nsys-rep", ".qdrep", ".qdstrm"):
        raise ReportError(
            "this is a report of Nsight Systems, which has no kernel counters",
            where=str(path),
            remedy="profile the kernel with Nsight Compute: ncu --set full -o REPORT APP",
        )


def failed_run(text: str, path: Path) -> None:
    """Raise when the text says that nothing could be profiled."""
    for sign in (_PERMISSION, _NO_KERNELS):
        _raise_if(sign, text, path)


def unknown(text: str, path: Path) -> ReportError:
    """Say what a text without any table of a profiler is, as well as its content tells."""
    for sign in _SIGNS:
        _raise_if(sign, text, path)
    error = _ERROR.search(text)
    if error:
        where = f"{path}:{_line(text, error.start())}"
        message = f"ncu failed: {printable(error['text'].rstrip())}"
        return ReportError(message, where=where, remedy="correct that and profile again")
    sample = text[:20000]
    if len(_CONTROL.findall(sample)) > _MANY * len(sample):
        message = "this is binary data of an unknown kind, not a report"
        return ReportError(message, where=str(path), remedy=EXPORT)
    if _COUNTER.search(text):
        message = "counters, but no header row with Kernel Name: the top of the export is missing"
    else:
        message = "no profiler output is recognised in it"
    return ReportError(message, where=str(path), remedy=EXPORT)


def notes(text: str) -> tuple[str, ...]:
    """Errors that ncu printed beside usable results."""
    found = (printable(match["text"].rstrip()) for match in _ERROR.finditer(text))
    return tuple(dict.fromkeys(f"ncu printed: {words}" for words in found))


def _raise_if(sign: _Sign, text: str, path: Path) -> None:
    match = sign.pattern.search(text)
    if match:
        where = f"{path}:{_line(text, match.start())}"
        raise ReportError(sign.message, where=where, remedy=sign.remedy)


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1

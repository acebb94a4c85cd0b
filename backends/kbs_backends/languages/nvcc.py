"""nvcc: find it, run it, and read what it says about the user's file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from kbs_backends.run_tool import ToolRun, run_tool
from kbs_engine.errors import MeasurementError, UsageError
from kbs_engine.results import CompileMessage, KernelResources

TIMEOUT_S = 900.0
_ARCH = re.compile(r"^sm_\d{2,3}[af]?$")
_MESSAGE = re.compile(
    r"^(?P<file>[^\s(:]+)(?:\((?P<line>\d+)\)|:(?P<line2>\d+)(?::(?P<column>\d+))?):\s+"
    r"(?:fatal\s+|catastrophic\s+)?(?P<severity>error|warning|note|remark)\b(?:\s*#[\w-]+)?\s*:\s*"
    r"(?P<message>.+)$",
)
_PTXAS = re.compile(
    r"^(?:ptxas|nvlink)\b.*?(?P<severity>error|fatal|warning)\s*:\s*(?P<message>.+)$"
)
_NOTED = re.compile(r"^ptxas info\s*:\s*\((?P<code>C\d+)\)\s*(?P<message>.+)$")
"""What ptxas holds to be worth a number, such as wgmma that had to be serialized."""
_ENTRY = re.compile(r"Compiling entry function '(?P<name>[^']+)'")
_STACK = re.compile(
    r"(?P<stack>\d+) bytes stack frame, (?P<store>\d+) bytes spill stores, "
    r"(?P<load>\d+) bytes spill loads"
)
_USED = re.compile(r"Used (?P<registers>\d+) registers")
_SHARED = re.compile(r"(?P<shared>\d+)(?:\+\d+)? bytes smem")


@cache
def nvcc_version() -> str:
    """Release line of nvcc.

    Raises:
        MeasurementError: nvcc is not here.
    """
    run = run_tool(("nvcc", "--version"))
    found = re.search(r"\bV(\d+(?:\.\d+)+)", run.stdout)
    if not run.ok or found is None:
        raise MeasurementError(
            f"nvcc cannot be run ({run.why()}), so .cu files cannot be compiled",
            remedy="install the CUDA toolkit and put its bin folder on PATH",
        )
    return f"nvcc {found.group(1)}"


def check_arch(arch: str) -> None:
    """UsageError for a target that nvcc does not have."""
    if not _ARCH.match(arch):
        raise UsageError(
            f"nvcc does not compile for {arch}",
            remedy="give an NVIDIA target, such as --arch sm_90a",
        )


def compile_command(
    source: Path, library: Path, arch: str, flags: Sequence[str], work: Path
) -> tuple[str, ...]:
    """A shared library with machine code of one target alone; the cubin is kept in ``work``."""
    number = arch.removeprefix("sm_")
    return (
        "nvcc", "-shared", "-std=c++17", "-O3", "-lineinfo", "-Xcompiler", "-fPIC",
        "-gencode", f"arch=compute_{number},code={arch}", "-Xptxas", "-v",
        "-keep", "-keep-dir", str(work), "-I", str(source.parent),
        *flags, "-o", str(library), str(source),
    )  # fmt: skip


def run_nvcc(command: Sequence[str], folder: Path) -> ToolRun:
    """Run it; a failed compilation is a value, a tool that did not run is an error."""
    run = run_tool(command, timeout_s=TIMEOUT_S, cwd=folder)
    if run.code is None:
        raise MeasurementError(
            f"nvcc did not finish: {run.why()}",
            remedy="compile the file by hand; if it needs that long, make it smaller",
        )
    return run


def first_error(run: ToolRun) -> str:
    """The first line that speaks of an error, for failures without file and line."""
    lines = (line.strip() for line in (run.stderr + run.stdout).splitlines())
    return next((line for line in lines if "error" in line.lower()), run.why())


def messages_of(output: str, source: Path, text: str) -> tuple[CompileMessage, ...]:
    """Messages with the line of the user's file; those about other files name them."""
    lines = text.splitlines()
    found = [_message(line, source, lines) for line in output.splitlines()]
    kept = dict.fromkeys(message for message in found if message is not None)
    return tuple(kept)


def _message(line: str, source: Path, lines: Sequence[str]) -> CompileMessage | None:
    hit = _MESSAGE.match(line)
    if hit is None:
        tool, noted = _PTXAS.match(line), _NOTED.match(line)
        if noted is not None:
            told = f"ptxas {noted['code']}: {noted['message']}"
            return CompileMessage(severity="note", message=told)
        if tool is None:
            return None
        severity = "warning" if tool["severity"] == "warning" else "error"
        return CompileMessage(severity=severity, message=f"ptxas: {tool['message']}")  # type: ignore[arg-type]
    severity = {"remark": "note"}.get(hit["severity"], hit["severity"])
    number = int(hit["line"] or hit["line2"])
    if Path(hit["file"]).name != source.name:
        return CompileMessage(
            severity=severity,  # type: ignore[arg-type]
            message=f"{hit['file']}:{number}: {hit['message']}",
        )
    return CompileMessage(
        severity=severity,  # type: ignore[arg-type]
        message=hit["message"],
        line=number,
        column=int(hit["column"]) if hit["column"] else None,
        text=lines[number - 1] if 0 < number <= len(lines) else "",
    )


def resources_of(output: str, threads: dict[str, int]) -> tuple[KernelResources, ...]:
    """Resources of every kernel from ``-Xptxas -v``; ``threads`` by kernel from the cubin."""
    found: dict[str, dict[str, int | None]] = {}
    current: dict[str, int | None] | None = None
    for line in output.splitlines():
        entry, stack, used = _ENTRY.search(line), _STACK.search(line), _USED.search(line)
        if entry is not None:
            current = found.setdefault(entry["name"], {})
        elif current is not None and stack is not None:
            current["stack_bytes"] = int(stack["stack"])
            current["spill_store_bytes"] = int(stack["store"])
            current["spill_load_bytes"] = int(stack["load"])
        elif current is not None and used is not None:
            shared = _SHARED.search(line)
            current["registers"] = int(used["registers"])
            current["shared_bytes"] = int(shared["shared"]) if shared else 0
            current = None
    return tuple(
        KernelResources(kernel=name, threads_per_block=threads.get(name), **values)
        for name, values in found.items()
    )

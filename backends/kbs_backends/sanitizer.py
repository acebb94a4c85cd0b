"""compute-sanitizer passes over one call of a candidate."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from kbs_backends.profilers.base import Ahead, Target, ToolStart, environment_of
from kbs_backends.run_tool import ToolRun, run_tool
from kbs_engine.results import Sanitized, ToolVerdict

FAULT_CODE: Final = 86
"""Exit code asked of the sanitizer when it found faults, so that they differ from a crash."""

PROGRAM: Final = "compute-sanitizer"
DEFAULT_TOOLS: Final = ("memcheck", "racecheck", "initcheck")
TOOLS: Final = ("memcheck", "racecheck", "initcheck", "synccheck")
PADDING_BYTES: Final = 512
"""Between allocations, which would lie side by side: a step beyond one would be in the next."""
_EXACT: Final = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
"""Every tensor is an allocation of its own: a step beyond it is seen."""
_PATIENCE: Final = ("--launch-timeout", "86400")
"""Seconds until a program must use the GPU: by default so few that waiting would be too long."""
_SUMMARY: Final = re.compile(r"(?:ERROR|RACECHECK) SUMMARY: (\d+) (?:error|hazard)")
_WHERE: Final = re.compile(r"^=+\s+(?:at|in) .*$", re.MULTILINE)
_FAULT: Final = re.compile(
    r"^=+ (?:Invalid|Uninitialized|Error: |Program hit|Race reported|Warning: Race|Barrier).*$",
    re.MULTILINE,
)


def sanitize(
    target: Target,
    tools: Sequence[str] = DEFAULT_TOOLS,
    *,
    program: str = PROGRAM,
    ahead: Ahead | None = None,
) -> Sanitized:
    """Run each tool over ``target``; what cannot run is told as not run, never as clean.

    All at once, as each spends seconds on starting an interpreter; what did not run so, for want
    of memory perhaps, runs once more alone.
    """
    with ThreadPoolExecutor(max_workers=max(1, len(tools))) as pool:
        together = list(pool.map(lambda tool: _one(target, tool, program, ahead), tools))
    return Sanitized(
        tools=tuple(
            found if found.ran or len(tools) == 1 else _one(target, found.tool, program)
            for found in together
        )
    )


def tool_start(tool: str, program: str = PROGRAM) -> ToolStart:
    """How the sanitizer is started for one of its tools."""
    apart = ("--padding", str(PADDING_BYTES)) if tool == "memcheck" else ()
    command = (
        program, "--tool", tool, "--error-exitcode", str(FAULT_CODE), "--target-processes", "all",
        *apart,
    )  # fmt: skip
    return ToolStart(command=command, env=_EXACT, patience=_PATIENCE)


def _one(target: Target, tool: str, program: str, ahead: Ahead | None = None) -> ToolVerdict:
    if tool not in TOOLS:
        detail = f"compute-sanitizer has no tool {tool}; choose from {', '.join(TOOLS)}"
        return ToolVerdict(tool=tool, ran=False, detail=detail)
    start = tool_start(tool, program)
    folder = target.folder or Path.cwd()
    if ahead is not None and (found := ahead.run(start, target, folder / tool)) is not None:
        verdict = read_verdict(tool, found.run)
        if verdict.ran or found.timed_out:
            return verdict
    env = {**(environment_of(target) or os.environ), **start.env}
    command = start.argv(target.argv, folder)
    run = run_tool(command, timeout_s=target.timeout_s, cwd=target.folder, env=env)
    return read_verdict(tool, run)


def read_verdict(tool: str, run: ToolRun) -> ToolVerdict:
    """What a finished pass says: its own summary counts, and an exit code alone never does."""
    text = run.stdout + run.stderr
    found = [int(count) for count in _SUMMARY.findall(text)]
    if not found:
        why = run.why() if not run.ok else "it printed no summary"
        return ToolVerdict(tool=tool, ran=False, detail=f"not run: {why}")
    errors = sum(found)
    if errors == 0 and not run.ok:
        detail = f"not run to its end: the program ended with {run.code}: {run.why()}"
        return ToolVerdict(tool=tool, ran=False, detail=detail)
    detail = ""
    if errors:
        fault, where = _FAULT.search(text), _WHERE.search(text)
        words = [match.group(0).strip("= ").strip() for match in (fault, where) if match]
        detail = "; ".join(words) or "see the log of compute-sanitizer"
    return ToolVerdict(tool=tool, ran=True, errors=errors, detail=detail)

"""Nsight Compute around exactly one call of the candidate."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import msgspec

from kbs_backends.profilers.base import (
    OUTPUT,
    REPORT_NAME,
    Ahead,
    Report,
    Target,
    ToolStart,
    Turn,
    environment_of,
)
from kbs_backends.run_tool import ToolRun, run_tool
from kbs_engine.adaptive import ProfilePlan, first_pass, ncu_command
from kbs_engine.errors import MeasurementError
from kbs_engine.results import Collected, Profiled

REPORT: Final = f"{REPORT_NAME}.ncu-rep"
LOG_LIMIT: Final = 20_000
"""Characters of the log that are kept with the answer."""

PERMISSION_REMEDY: Final = (
    "run as root, or set NVreg_RestrictProfilingToAdminUsers=0 for the nvidia module and reboot, "
    "or give the container --cap-add=SYS_ADMIN; without counters use the counter-free mode"
)

_FAILURES: Final[tuple[tuple[str, str, str], ...]] = (
    (
        "ERR_NVGPUCTRPERM",
        "the driver denies access to performance counters (ERR_NVGPUCTRPERM)",
        PERMISSION_REMEDY,
    ),
    (
        "No kernels were profiled",
        "ncu saw no kernel in the profiler range",
        "the call launched nothing on this GPU; run kbs check on the kernel first",
    ),
    (
        "Failed to find metric",
        "this ncu or this chip does not have a metric that was asked for",
        "collect its section instead, or ask `ncu --query-metrics` for the chip's own names",
    ),
    (
        "already in use by another process",
        "another profiler holds the counters of this GPU",
        "wait for it to end, or profile on another GPU",
    ),
    (
        "Another instance of Nsight Compute",
        "another profiler holds the counters of this GPU",
        "wait for it to end, or profile on another GPU",
    ),
)
"""Text in ncu's log, what it means, and what to do."""


class NcuProfiler(msgspec.Struct, frozen=True, kw_only=True):
    """Profiles with ``ncu``; the clocks are left as found (``--clock-control none``)."""

    name: str = "ncu"
    program: str = "ncu"
    ahead: Ahead | None = None
    """Where an ncu may wait that was started before."""
    turn: Turn | None = None
    """Taken before anything is measured."""

    def start(self, sections: tuple[str, ...] = (), metrics: tuple[str, ...] = ()) -> ToolStart:
        """How ncu is started for a pass; without sections and metrics the first one."""
        command = ncu_command(_plan(sections, metrics), ("program",), OUTPUT)[1:-1]
        return ToolStart(command=(self.program, *command))

    def profile(
        self,
        target: Target,
        *,
        sections: tuple[str, ...] = (),
        metrics: tuple[str, ...] = (),
        output: Path,
    ) -> Report:
        """One pass; without sections and metrics the cheap first pass of adaptive profiling.

        Raises:
            MeasurementError: no report; counters denied, nothing launched, an unknown metric, …
        """
        plan, start = _plan(sections, metrics), self.start(sections, metrics)
        held = Collected(sections=plan.sections, metrics=plan.metrics)
        output.mkdir(parents=True, exist_ok=True)
        if self.ahead is not None:
            found = self.ahead.run(start, target, output, self.turn)
            if found is not None and (found.timed_out or _reported(found.run, output)):
                told = msgspec.structs.replace(held, arguments=found.arguments)
                return _report(found.run, output, told)
            (output / REPORT).unlink(missing_ok=True)
        if self.turn is not None:
            self.turn()
        command = start.argv(target.argv, output / REPORT_NAME)
        run = run_tool(
            command, timeout_s=target.timeout_s, cwd=target.folder, env=environment_of(target)
        )
        return _report(run, output, held)


def _plan(sections: tuple[str, ...], metrics: tuple[str, ...]) -> ProfilePlan:
    if sections or metrics:
        return ProfilePlan(number=2, sections=sections, metrics=metrics)
    return first_pass()


def _log(run: ToolRun) -> str:
    return (run.stdout + run.stderr)[-LOG_LIMIT:]


def _reported(run: ToolRun, output: Path) -> bool:
    log = _log(run)
    return (output / REPORT).is_file() and not any(text in log for text, _, _ in _FAILURES)


def _report(run: ToolRun, output: Path, collected: Collected) -> Report:
    """What a finished pass gave; MeasurementError where it is no report."""
    log = _log(run)
    (output / "ncu.log").write_text(log, encoding="utf-8")
    if not _reported(run, output):
        raise _explain(run, log, output / "ncu.log")
    report = output / REPORT
    answer = Profiled(
        mode="ncu", report_name=report.name, command=run.command, log=log,
        notes=_notes(run, log), collected=collected,
    )  # fmt: skip
    return Report(answer=answer, path=report)


def _explain(run: ToolRun, log: str, where: Path) -> MeasurementError:
    for text, message, remedy in _FAILURES:
        if text in log:
            found = re.search(r"Failed to find metric\W*([\w.:]+)", log)
            named = f": {found.group(1)}" if found and text == "Failed to find metric" else ""
            return MeasurementError(message + named, where=str(where), remedy=remedy)
    if run.code is None and "is not on PATH" in run.stderr:
        return MeasurementError(
            "ncu is not on PATH, so no counter can be read",
            remedy="install Nsight Compute and put it on PATH, or use the counter-free mode",
        )
    return MeasurementError(
        f"ncu made no report: {run.why()}",
        where=str(where),
        remedy="read the log; run kbs check on the kernel to see whether it runs at all",
    )


def _notes(run: ToolRun, log: str) -> tuple[str, ...]:
    """What went less than well though a report came."""
    notes = []
    if not run.ok:
        notes.append(f"the profiled program ended with {run.code}")
    notes += [line.strip() for line in log.splitlines() if line.startswith("==WARNING==")]
    return tuple(notes)

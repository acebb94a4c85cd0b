"""rocprofv3 around one call. Not run on AMD hardware: built from its documentation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from kbs_backends.profilers.base import Report, Target, environment_of
from kbs_backends.run_tool import run_tool
from kbs_engine.errors import MeasurementError
from kbs_engine.results import Profiled

NOT_RUN: Final = "rocprofv3 was not run on AMD hardware by the authors of kbs"

FIRST_COUNTERS: Final[tuple[tuple[str, ...], ...]] = (
    ("GRBM_GUI_ACTIVE", "SQ_WAVES", "SQ_BUSY_CYCLES", "SQ_INSTS_VALU"),
    ("TCC_HIT_sum", "TCC_MISS_sum"),
    ("FETCH_SIZE",),
    ("WRITE_SIZE",),
)
"""Counters of the first pass, grouped so that one run can hold each group."""


def rocprof_command(
    target: Sequence[str], counters: Sequence[str], output: str, *, program: str = "rocprofv3"
) -> tuple[str, ...]:
    """The command of one pass: counters of one group, CSV output in the folder ``output``."""
    options = [program, "--kernel-trace", "--output-format", "csv", "-d", output, "-o", "profile"]
    if counters:
        options += ["--pmc", *counters]
    return (*options, "--", *target)


class RocprofProfiler(msgspec.Struct, frozen=True, kw_only=True):
    """Profiles with ``rocprofv3``, a run for each group of counters."""

    name: str = "rocprof"
    program: str = "rocprofv3"

    def profile(
        self,
        target: Target,
        *,
        sections: tuple[str, ...] = (),
        metrics: tuple[str, ...] = (),
        output: Path,
    ) -> Report:
        """Collect ``metrics`` (counter names; the first pass's without any) and give the CSV.

        Raises:
            MeasurementError: rocprofv3 is absent, failed, or wrote no counter file.
        """
        del sections  # rocprof has none
        groups = (metrics,) if metrics else FIRST_COUNTERS
        logs, texts, commands = [], [], []
        for number, group in enumerate(groups):
            folder = output / f"pass{number}"
            folder.mkdir(parents=True, exist_ok=True)
            command = rocprof_command(target.argv, group, str(folder), program=self.program)
            run = run_tool(
                command, timeout_s=target.timeout_s, cwd=target.folder, env=environment_of(target)
            )
            logs.append(run.stdout + run.stderr)
            commands.append(command)
            found = sorted(folder.rglob("*counter_collection.csv"))
            if not run.ok or not found:
                raise MeasurementError(
                    f"rocprofv3 made no counter file: {run.why()}",
                    where=str(folder),
                    remedy="install ROCm's rocprofv3 and run on an AMD GPU, "
                    "or use the counter-free mode",
                )
            texts.append(found[0].read_text(encoding="utf-8"))
        report = output / "profile_counter_collection.csv"
        report.write_text(join_tables(texts), encoding="utf-8")
        answer = Profiled(
            mode="rocprof", report_name=report.name, passes=len(groups), command=commands[0],
            log="\n".join(logs)[-20_000:], notes=(NOT_RUN,),
        )  # fmt: skip
        return Report(answer=answer, path=report)


def join_tables(texts: Sequence[str]) -> str:
    """Long CSV tables with one header each, under the first header.

    Raises:
        MeasurementError: the headers differ, so the rows cannot stand in one table.
    """
    heads = [text.splitlines()[0] for text in texts if text.strip()]
    if len(set(heads)) != 1:
        raise MeasurementError(
            "the passes of rocprofv3 wrote tables of different layout",
            remedy="profile again with one version of rocprofv3",
        )
    rows = [line for text in texts for line in text.splitlines()[1:] if line.strip()]
    return "\n".join([heads[0], *rows]) + "\n"

"""Answers of a device that need no GPU: jobs that could not be carried out, or not compiled."""

from __future__ import annotations

import msgspec

from kbs_backends.device.live import COMPILED_LANGUAGES
from kbs_engine.errors import KbsError
from kbs_engine.jobs import Check, Failure, Job, Result, SourceRef, Time
from kbs_engine.results import Checked, Compiled


def failed(job: Job, problem: KbsError) -> Result:
    """A job that could not be carried out."""
    told = Failure(message=problem.message, where=problem.where, remedy=problem.remedy)
    kind = str(job.__struct_config__.tag)
    return Result(job_key=job.key, kind=kind, failure=str(problem), failed=told)


def compiled_sources(job: Check | Time) -> list[SourceRef]:
    """The sources that become a library before a worker loads them, each once."""
    arms = [job.source] if isinstance(job, Check) else job.arms
    found = [arm for arm in arms if isinstance(arm, SourceRef)]
    return list({one.sha256: one for one in found if one.language in COMPILED_LANGUAGES}.values())


def not_compiled(job: Check, built: Compiled) -> Result:
    """The verdict on a source that its compiler refuses: its first error, with its line."""
    errors = [m for m in built.messages if m.severity == "error"]
    first = errors[0]
    where = f"{job.source.name}:{first.line}: " if first.line else ""
    answer = Checked(
        passed=False, reason="compile_failed", detail=f"{where}{first.message}\n{first.text}"
    )
    return Result(job_key=job.key, kind="check", value=msgspec.to_builtins(answer))

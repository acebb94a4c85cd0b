"""Outside commands: a failed one is a value, not an exception."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec


class ToolRun(msgspec.Struct, frozen=True, kw_only=True):
    """What an outside command did. ``code`` is None when it did not start or did not end."""

    command: tuple[str, ...]
    code: int | None
    stdout: str = ""
    stderr: str = ""

    @property
    def ok(self) -> bool:
        """Whether it ran and said so."""
        return self.code == 0

    def why(self) -> str:
        """The last telling line of a failure."""
        lines = [line for line in (self.stderr + self.stdout).splitlines() if line.strip()]
        return lines[-1].strip() if lines else f"exit {self.code}"


def run_tool(
    command: Sequence[str],
    *,
    timeout_s: float = 30.0,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> ToolRun:
    """Run ``command``; a missing program or a timeout is a ToolRun with code None.

    What ``command`` started is ended with it: a profiler that is killed alone would leave its
    program behind, on the GPU.
    """
    argv = tuple(command)
    try:
        process = subprocess.Popen(
            argv,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            cwd=cwd,
            env=_environment() if env is None else dict(env),
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        return ToolRun(command=argv, code=None, stderr=f"{argv[0]} is not on PATH")
    except PermissionError as error:
        return ToolRun(command=argv, code=None, stderr=str(error))
    try:
        out, err = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        return ToolRun(command=argv, code=None, stderr=f"no answer within {timeout_s:g} s")
    finally:
        end_tool(process)
    return ToolRun(command=argv, code=process.returncode, stdout=out, stderr=err)


def _environment() -> dict[str, str]:
    """This process's environment, held by Python.

    Where it is left to the system, a program cannot be started ("Bad address") in the moment in
    which another thread sets a variable, as Triton's compilations do.
    """
    held = ((name, os.environ.get(name)) for name in list(os.environ))
    return {name: value for name, value in held if value is not None}


def end_tool(process: subprocess.Popen[str]) -> None:
    """Kill a tool that still runs, with all that it started; close its pipes."""
    if process.poll() is None:
        from kbs_backends.device import proc

        below = proc.descendants(process.pid)
        process.kill()
        for pid in below:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()

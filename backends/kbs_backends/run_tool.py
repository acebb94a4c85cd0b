"""Outside commands: a failed one is a value, not an exception."""

from __future__ import annotations

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
    """Run ``command``; a missing program or a timeout is a ToolRun with code None."""
    argv = tuple(command)
    try:
        done = subprocess.run(
            argv,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
            check=False,
            cwd=cwd,
            env=None if env is None else dict(env),
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        return ToolRun(command=argv, code=None, stderr=f"{argv[0]} is not on PATH")
    except PermissionError as error:
        return ToolRun(command=argv, code=None, stderr=str(error))
    except subprocess.TimeoutExpired:
        return ToolRun(command=argv, code=None, stderr=f"no answer within {timeout_s:g} s")
    return ToolRun(command=argv, code=done.returncode, stdout=done.stdout, stderr=done.stderr)

"""A commit per accepted version, by the git command; a run works without it, with a note."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

from kbs_engine.durable import write_whole

IGNORED: Final = ".kbs/\n__pycache__/\n*.so\n*.o\n"
_IDENTITY: Final = {
    "GIT_AUTHOR_NAME": "kbs",
    "GIT_AUTHOR_EMAIL": "kbs@localhost",
    "GIT_COMMITTER_NAME": "kbs",
    "GIT_COMMITTER_EMAIL": "kbs@localhost",
}
_TIMEOUT_S: Final = 60.0


class RunGit:
    """The git repository of one run folder."""

    def __init__(self, root: Path) -> None:
        """Keep the folder; ``note`` says why there are no commits, when there are none."""
        self.root = root
        self.note = "" if shutil.which("git") else "git is not installed: versions have no commits"

    @property
    def active(self) -> bool:
        """Whether commits can be made."""
        return not self.note and (self.root / ".git").exists()

    def init(self) -> None:
        """Make the repository; a failure of git becomes the note."""
        if not self.note and self._run("init", "--quiet", "--initial-branch=main") is not None:
            write_whole(self.root / ".gitignore", IGNORED)

    def commit(self, message: str) -> str:
        """Commit everything that stands in the run; the commit's hash, empty with a note."""
        if not self.active:
            return ""
        if self._run("add", "--all") is None:
            return ""
        if self._run("commit", "--quiet", "--allow-empty", "--no-verify", "-m", message) is None:
            return ""
        return (self._run("rev-parse", "HEAD") or "").strip()

    def held(self, name: str) -> bytes | None:
        """The content of a file as it was committed or is about to be; None where it is not."""
        if not self.active:
            return None
        done = self._called("show", f":{name}")
        return done.stdout if done is not None and done.returncode == 0 else None

    def tracks(self, name: str) -> bool:
        """Whether a file, or anything in a folder, was committed or is about to be."""
        done = self._called("ls-files", "--", name) if self.active else None
        return done is not None and bool(done.stdout)

    def _run(self, *arguments: str) -> str | None:
        """Output of one git command, or None with the note set."""
        done = self._called(*arguments)
        if done is None:
            return None
        if done.returncode != 0:
            told = (done.stderr or done.stdout).decode(errors="replace")
            last = told.strip().splitlines()
            self.note = f"git {arguments[0]} failed: {last[-1] if last else done.returncode}"
            return None
        return done.stdout.decode(errors="replace")

    def _called(self, *arguments: str) -> subprocess.CompletedProcess[bytes] | None:
        """One git command that ended, well or not; None with the note set where none could run."""
        settings = ("-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null",
                    "-c", "core.autocrlf=false")  # fmt: skip
        try:
            return subprocess.run(
                ["git", *settings, *arguments],
                cwd=self.root,
                env={**_without_git(), **_IDENTITY},
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as problem:
            self.note = f"git {arguments[0]} could not be run: {problem}"
            return None


def _without_git() -> dict[str, str]:
    """The environment without another repository's GIT_DIR and the like."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}

"""What a test run compiles when it does not compile everything: what changed, and a sample.

The sample rotates with the ISO week, so that everything is compiled every few weeks anyway.
"""

import datetime as dt
import hashlib
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tests.probes.toolchain import ROOT


def week_number(day: dt.date | None = None) -> int:
    """Count ISO weeks without a gap at the turn of the year."""
    day = day or dt.datetime.now(tz=dt.timezone.utc).date()
    return (day.toordinal() - 1) // 7


def of_the_week(ids: Sequence[str], count: int, week: int | None = None) -> frozenset[str]:
    """Choose `count` ids: ordered by hash, a window that moves on by its length every week."""
    ordered = sorted(set(ids), key=lambda id_: hashlib.sha256(id_.encode()).digest())
    if count >= len(ordered):
        return frozenset(ordered)
    start = (week_number() if week is None else week) * count
    return frozenset(ordered[(start + n) % len(ordered)] for n in range(count))


@cache
def changed_files(base: str = "HEAD~1") -> frozenset[Path]:
    """Return the files that differ from the commit before; empty where git cannot tell."""
    differing = _git("diff", "--name-only", "--no-renames", base)
    if differing is None:
        return frozenset()
    new = _git("ls-files", "--others", "--exclude-standard") or ""
    return frozenset(ROOT / name for name in (differing + new).splitlines())


def text_before(path: Path, base: str = "HEAD~1") -> str:
    """Return the text of a file at the commit before; empty where it did not exist."""
    return _git("show", f"{base}:{path.relative_to(ROOT).as_posix()}") or ""


def _git(*arguments: str) -> str | None:
    command = ["git", "-C", str(ROOT), "-c", "core.quotePath=false", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None

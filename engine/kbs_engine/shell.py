"""Words of commands that a message offers: to be pasted, whatever a path is called."""

from __future__ import annotations

import shlex
from pathlib import Path


def shell(word: Path | str) -> str:
    """A path or name as a shell takes it: quoted only where it must be."""
    return shlex.quote(str(word))

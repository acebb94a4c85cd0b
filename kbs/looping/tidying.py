"""What a killed process leaves in a run folder: temporary files that never got their name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from kbs_engine.durable import told_unwritable

_TEMPORARY: Final = re.compile(r"^\..+\.[a-z0-9_]{8}$")
"""Names that ``durable.write_whole`` gives to what is not whole yet."""


def tidy(root: Path) -> int:
    """Remove them; how many there were. The caller holds the run's lock."""
    found = [
        path
        for path in root.rglob(".*")
        if _TEMPORARY.match(path.name) and ".git" not in path.parts and path.is_file()
    ]
    for path in found:
        with told_unwritable(path):
            path.unlink(missing_ok=True)
    return len(found)

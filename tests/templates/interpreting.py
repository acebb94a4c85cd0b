"""A program that runs kernels in Triton's interpreter, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence


def interpreted(program: str, paths: Sequence[str]) -> None:
    """Run ``program`` with ``paths`` as a JSON list; what it prints is told where it fails."""
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps(list(paths))],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr

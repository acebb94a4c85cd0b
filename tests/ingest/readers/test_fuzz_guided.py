"""A short run of the coverage-guided fuzzer, where it is installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("atheris")

SCRIPT = Path(__file__).with_name("fuzz_atheris.py")


@pytest.mark.sweep
def test_no_input_of_a_short_run_escapes(tmp_path):
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "-runs=2000", "-seed=1", "-max_len=4096"],
        capture_output=True, text=True, cwd=tmp_path, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Done 2000 runs" in done.stderr

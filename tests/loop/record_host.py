"""Records the host runs of ``cases.py`` again: ``python -m tests.loop.record_host [NAME…]``.

Needs a home folder with an index (``--home``, KBS_HOME). What it writes are times of this CPU,
labelled host; the tests replay them and compare no time with a number of their own.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from click.testing import CliRunner

from tests.loop.cases import CASES, KERNELS, Case


def kbs(*arguments: str) -> None:
    """One command; its output when it fails."""
    from kbs.cli import cli

    done = CliRunner().invoke(cli, list(arguments))
    print("kbs", " ".join(arguments[:3]), "->", done.exit_code)
    print(done.output)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception


def record(case: Case) -> None:
    """One run from nothing."""
    shutil.rmtree(case.recording, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        into = ("--record", str(case.recording))
        if case.name != "agent":
            kbs("optimize", *case.arguments("host", run), *into)
            return
        kbs("loop", "init", *case.arguments("host", run), *into)
        kbs("loop", "next", str(run), *into)
        for name in ("wrong.py", "submitted.py"):
            kernel = str(KERNELS / "agent_host" / name)
            kbs("loop", "submit", str(run), kernel, "--method", "single_pass_algorithm")
            kbs("loop", "close", str(run), *into)
        kbs("loop", "resume", str(run), *into)


if __name__ == "__main__":
    for wanted in sys.argv[1:] or list(CASES):
        record(CASES[wanted])

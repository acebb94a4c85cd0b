"""``python -m tests.loop.killed RUN [COUNT] [before|after]``: goes on with a replayed run.

With COUNT the process kills itself with SIGKILL at that sync to disk, before or after it. It
prints the number of syncs, and writes every job that it submits to RUN/../submitted.txt.
"""

from __future__ import annotations

import os
import signal
import sys
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from kbs.looping.running import Wiring, run_loop
from kbs_backends.device import recorded
from kbs_engine.jobs import Job, Result
from kbs_engine.run import RunFolder


def main(root: Path, count: int, when: str) -> None:
    """Resume, and die where that is asked for."""
    os.environ["PATH"] = ""  # no git: its commits carry the hour
    seen = 0
    real = os.fsync

    def fsync(handle: Any) -> None:
        nonlocal seen
        seen += 1
        if seen == count and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        real(handle)
        if seen == count:
            os.kill(os.getpid(), signal.SIGKILL)

    os.fsync = fsync
    submit = recorded.RecordedDevice.submit

    def told(self: Any, job: Job) -> Future[Result]:
        with (root.parent / "submitted.txt").open("a", encoding="utf-8") as file:
            file.write(f"{job.key}\n")
        return submit(self, job)

    recorded.RecordedDevice.submit = told  # type: ignore[method-assign]
    with RunFolder.open(root, writing=True) as run:
        run_loop(run, Wiring(home=None, roots=(), remember=False))
    print(seen)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0, sys.argv[-1])

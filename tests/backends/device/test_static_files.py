"""Sources and references as files that several threads ask for."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

from kbs_backends.device.static_jobs import StaticJobs
from kbs_engine.jobs import SourceRef, Task


class SlowBlobs:
    """A blob store in whose time several threads come to want one file."""

    text = b"x" * 5_000_000

    def get(self, _):
        time.sleep(0.05)
        return self.text


def test_threads_that_want_one_file_never_see_half_of_it(tmp_path):
    jobs = StaticJobs(SlowBlobs(), tmp_path)
    source = SourceRef(sha256="a" * 64, language="cuda-cpp", name="kernel.cu")
    task = Task(reference_sha256="b" * 64, dims={})
    with ThreadPoolExecutor(8) as pool:
        for ask in (lambda: jobs.file(source), lambda: jobs.reference(task)):
            sizes = pool.map(lambda _, ask=ask: ask().stat().st_size, range(40))
            assert set(sizes) == {len(SlowBlobs.text)}

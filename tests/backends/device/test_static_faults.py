"""A file that is no kernel is an answer about that file, not a job that could not run."""

from __future__ import annotations

import pytest

from kbs_backends.device.static_jobs import StaticJobs
from kbs_engine.blobs import BlobStore
from kbs_engine.jobs import Compile, SourceRef, Task
from kbs_engine.results import Compiled, read

pytestmark = pytest.mark.compilers

SETUP = """
import torch


def setup(**_):
    return {"inputs": {"out": torch.empty(8, device="cuda")}, "outputs": ["out"]}


def run_kernel(out, **_):
    BODY
"""


@pytest.mark.parametrize(
    ("body", "words"),
    [("out.zero_()", "launches no Triton kernel"), ("raise ValueError('no')", "ValueError: no")],
)
def test_a_source_that_cannot_be_compiled_is_told_in_its_result(tmp_path, body, words):
    blobs = BlobStore(tmp_path / "blobs")
    sha256 = blobs.put(SETUP.replace("BODY", body))
    source = SourceRef(sha256=sha256, language="triton", name="kernel.py")
    task = Task(reference_sha256=sha256, dims={})
    result = StaticJobs(blobs, tmp_path / "work").run(
        Compile(source=source, arch="sm_90a", task=task)
    )
    compiled = read(result, Compiled)
    assert not compiled.ok
    assert words in compiled.messages[0].message

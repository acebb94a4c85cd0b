"""The naive kernels of the case studies are right, and each has a template that fits."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from kbs.proposers.templates import template_languages
from kbs_backends.device import LocalDevice
from kbs_backends.tasks import load_reference
from kbs_backends.templates import choose_templates, find_matches
from kbs_engine.blobs import BlobStore
from kbs_engine.jobs import Check, SourceRef, Task
from kbs_engine.results import Checked, read
from kbs_ingest.wiki.examples import load_templates
from tests.cases.case_list import case_studies
from tests.conftest import WIKI

CASES = case_studies()
TRITON = [case for case in CASES if case.language == "triton"]
CUDA = [case for case in CASES if case.language != "triton"]


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    blobs = BlobStore(tmp_path_factory.mktemp("blobs"))
    with LocalDevice(blobs, kind="host") as device:
        yield device, blobs


@pytest.mark.parametrize("case", TRITON, ids=lambda case: case.id)
def test_the_naive_kernel_is_right(host, case):
    device, blobs = host
    source = SourceRef(
        sha256=blobs.put(case.source.read_bytes()), language="triton", name="kernel.py"
    )
    task = Task(reference_sha256=blobs.put(case.reference.read_bytes()), dims=case.small)
    checked = read(device.submit(Check(source=source, task=task, rounds=4)).result(), Checked)
    assert checked.passed, f"{checked.reason}: {checked.detail}"


@pytest.mark.compilers
def test_the_naive_cuda_kernels_compile(tmp_path):
    if shutil.which("nvcc") is None:
        pytest.skip("nvcc is needed")
    for case in {case.kernel: case for case in CUDA}.values():
        done = subprocess.run(
            ["nvcc", "-arch=sm_90a", "-cubin", "-o", str(tmp_path / "x"), str(case.source)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_template_of_its_language_fits_the_case(case):
    reference = load_reference(case.reference, case.small)
    inputs = reference.make_inputs(1)
    dtypes = {
        name: str(value.dtype).removeprefix("torch.")
        for name, value in inputs.items()
        if hasattr(value, "dtype")
    }
    matches = find_matches(reference)
    languages = template_languages(case.language)
    choices = choose_templates(load_templates([WIKI]), matches, dtypes, languages=languages)
    assert [one for one in choices if not one.refused], choices

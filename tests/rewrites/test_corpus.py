"""Kernels in public styles, none written for a rewrite: applied and right, or refused."""

import shutil
import subprocess
import sys

import pytest

from kbs_backends.rewrites import all_rewrites
from kbs_backends.variants import read_marks, write_variant
from tests.probes.selection import of_the_week
from tests.rewrites.common import ROOT, corpus, run_all, source_of
from tests.rewrites.nvcc_batch import compile_all


def test_it_is_large_enough():
    assert len(corpus("triton")) >= 30
    assert len(corpus("cuda-cpp")) >= 20


def applied(language, kernels=None):
    """Every application as (kernel, method, text); a refusal must say why."""
    for path in corpus(language):
        if kernels is not None and path.stem not in kernels:
            continue
        text = path.read_text()
        for method, rewrite in all_rewrites(language).items():
            source = source_of(text, language, method)
            answer = rewrite.applies(source)
            assert answer.why, (path.stem, method)
            if answer.ok:
                yield path.stem, method, rewrite.apply(source)


@pytest.mark.parametrize("language", ["triton", "cuda-cpp"])
def test_every_application_to_some_kernels_parses_and_has_its_switch(language):
    names = [path.stem for path in corpus(language)]
    assert _parse(language, of_the_week(names, len(names) // 3))


@pytest.mark.sweep
@pytest.mark.parametrize("language", ["triton", "cuda-cpp"])
def test_every_application_parses_and_has_its_switch(language):
    assert _parse(language, None) == set(all_rewrites(language))


def _parse(language, kernels):
    """The methods that applied."""
    found = set()
    for kernel, method, text in applied(language, kernels):
        found.add(method)
        assert read_marks(text, language).methods() == {method: True}, (kernel, method)
        if language == "triton":
            compile(text, kernel, "exec")
    return found


@pytest.mark.sweep
def test_the_table_in_the_document_is_current():
    command = [sys.executable, str(ROOT / "tools" / "rewrite_table.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.sweep
def test_triton_agrees_with_the_reference_on_and_off(tmp_path):
    jobs = [(path.stem, path.read_text()) for path in corpus("triton")]
    for kernel, method, text in applied("triton"):
        jobs.append((f"{kernel}/{method}/on", text))
        jobs.append((f"{kernel}/{method}/off", write_variant(text, "triton", {}, {method: False})))
    assert run_all(jobs, "interpret", tmp_path) == {}


@pytest.mark.sweep
@pytest.mark.compilers
def test_triton_compiles_for_a_gpu(tmp_path):
    jobs = [(f"{kernel}/{method}", text) for kernel, method, text in applied("triton")]
    assert run_all(jobs, "sm_90a", tmp_path) == {}


@pytest.mark.sweep
@pytest.mark.compilers
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not here")
def test_cuda_compiles_on_and_off(tmp_path):
    jobs = [(f"{path.stem}.cu", path.read_text()) for path in corpus("cuda-cpp")]
    for kernel, method, text in applied("cuda-cpp"):
        off = write_variant(text, "cuda-cpp", {}, {method: False})
        jobs += [(f"{kernel}_{method}_on.cu", text), (f"{kernel}_{method}_off.cu", off)]
    assert compile_all(jobs, tmp_path) == ""

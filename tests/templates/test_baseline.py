"""A first kernel from PyTorch code alone."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from kbs_backends.baseline import Baseline, make_baseline
from kbs_backends.tasks import load_reference
from kbs_engine.errors import RefusedError
from kbs_ingest.wiki.examples import load_templates
from tests.conftest import WIKI

SOFTMAX = """
import torch
def setup(M=8, N=40, **dims):
    return {"inputs": {"scores": torch.randn(M, N), "probs": torch.empty(M, N)},
            "outputs": ["probs"]}
def reference(scores, probs, **kwargs):
    probs.copy_(torch.softmax(scores, -1))
"""
GATED = """
import torch
def setup(M=8, N=40, **dims):
    return {"inputs": {"a": torch.randn(M, N), "b": torch.randn(M, N),
                       "y": torch.empty(M, N)}, "outputs": ["y"]}
def reference(a, b, y, **kwargs):
    y.copy_(torch.sigmoid(a) * b + 1)
"""
ODD = """
import torch
def setup(M=8, N=40, **dims):
    return {"inputs": {"a": torch.randn(M, N), "y": torch.empty(M, N)}, "outputs": ["y"]}
def reference(a, **kwargs):
    return a.sort(-1).values * a.mean()
"""
MODEL = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x.cumsum(-1)
def get_inputs():
    return [torch.randn(6, 50)]
def get_init_inputs():
    return []
"""
RUN = """
import importlib.util, sys, torch
def load(path):
    spec = importlib.util.spec_from_file_location("m", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
sys.path[:0] = sys.argv[3:]
from pathlib import Path
from kbs_backends.tasks import load_reference, compare
reference = load_reference(Path(sys.argv[1]), {})
inputs = reference.make_inputs(5)
expected = reference.expected(inputs)
load(sys.argv[2]).run_kernel(**inputs)
for name, value in expected.items():
    torch.testing.assert_close(inputs[name].to(value.dtype), value, atol=1e-4, rtol=1e-4)
"""


@pytest.fixture(scope="module")
def templates():
    return load_templates([WIKI])


def made(tmp_path, text, templates, **options):
    path = tmp_path / "ref.py"
    path.write_text(text)
    return make_baseline(load_reference(path, {}), templates, **options)


def run(tmp_path, baseline):
    """Run the kernel under the interpreter against its reference."""
    kernel = tmp_path / f"kernel{baseline.suffix}"
    kernel.write_text(baseline.text)
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(tmp_path / "ref.py"), str(kernel), *sys.path],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("text", "origin", "template"),
    [
        (SOFTMAX, "template", "softmax_rows_triton"),
        (GATED, "elementwise", ""),
        (MODEL, "template", "scan_rows_triton"),
    ],
)
def test_the_first_kernel_is_correct(tmp_path, templates, text, origin, template):
    baseline = made(tmp_path, text, templates)
    assert (baseline.origin, baseline.template) == (origin, template)
    run(tmp_path, baseline)


def test_the_language_asked_for_is_kept(tmp_path, templates):
    baseline = made(tmp_path, SOFTMAX, templates, languages=("cuda-cpp",))
    assert baseline.suffix == ".cu"
    assert 'extern "C" void solve(const float *scores, float *probs)' in baseline.text


def test_what_nothing_fits_is_refused_with_every_reason(tmp_path, templates):
    with pytest.raises(RefusedError) as caught:
        made(tmp_path, ODD, templates)
    assert "none of the operations" in caught.value.message
    assert "sort is not elementwise" in caught.value.message
    assert "torch.compile: needs an NVIDIA GPU" in caught.value.message


def test_a_declared_operation_is_the_only_one_tried(tmp_path, templates):
    with pytest.raises(RefusedError, match="none of the operations"):
        made(tmp_path, SOFTMAX + '\nop = "scan"\n', templates, languages=("cuda-cpp",))


INDUCTOR = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from kbs_backends.baseline.inductor import compiled_kernel
from kbs_backends.tasks import load_reference
from kbs_backends.templates import arguments_of
reference = load_reference(Path(sys.argv[1]), {})
inputs = reference.make_inputs(3)
sys.stdout.write(compiled_kernel(reference, inputs, arguments_of(inputs), "cpu"))
"""


@pytest.mark.sweep
def test_what_torch_compile_generates_meets_the_contract(tmp_path):
    """On a CPU it generates C++; the entry points that are added are the same."""
    (tmp_path / "ref.py").write_text(SOFTMAX)
    done = subprocess.run(
        [sys.executable, "-c", INDUCTOR, str(tmp_path / "ref.py"), *sys.path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    baseline = Baseline(text=done.stdout, language="triton", origin="torch.compile")
    assert "__main__" not in baseline.text
    run(tmp_path, baseline)

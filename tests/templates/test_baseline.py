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
import importlib.util, sys, torch, traceback
sys.path[:0] = sys.argv[1:]
from pathlib import Path
from kbs_backends.tasks import load_reference
def load(path):
    spec = importlib.util.spec_from_file_location("m", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
def judge(ref, kernel):
    reference = load_reference(Path(ref), {})
    inputs = reference.make_inputs(5)
    expected = reference.expected(inputs)
    load(kernel).run_kernel(**inputs)
    for name, value in expected.items():
        torch.testing.assert_close(inputs[name].to(value.dtype), value, atol=1e-4, rtol=1e-4)
for line in sys.stdin:
    try:
        judge(*line.split())
        print("right", flush=True)
    except BaseException:
        print(repr(traceback.format_exc()), flush=True)
"""
"""Reads a reference and a kernel a line; says ``right``, or what went wrong."""


@pytest.fixture(scope="module")
def templates():
    return load_templates([WIKI])


def made(tmp_path, text, templates, **options):
    path = tmp_path / "ref.py"
    path.write_text(text)
    return make_baseline(load_reference(path, {}), templates, **options)


@pytest.fixture(scope="module")
def interpreter():
    """One process for all kernels of this file, as its start takes longest."""
    with subprocess.Popen(
        [sys.executable, "-c", RUN, *sys.path],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process


@pytest.fixture
def run(tmp_path, interpreter):
    """Run a kernel under the interpreter against its reference."""

    def judged(baseline):
        kernel = tmp_path / f"kernel{baseline.suffix}"
        kernel.write_text(baseline.text)
        interpreter.stdin.write(f"{tmp_path / 'ref.py'} {kernel}\n")
        interpreter.stdin.flush()
        assert interpreter.stdout.readline() == "right\n"

    return judged


@pytest.mark.parametrize(
    ("text", "origin", "template"),
    [
        (SOFTMAX, "template", "softmax_rows_triton"),
        (GATED, "elementwise", ""),
        (MODEL, "template", "scan_rows_triton"),
    ],
)
def test_the_first_kernel_is_correct(tmp_path, templates, run, text, origin, template):
    baseline = made(tmp_path, text, templates)
    assert (baseline.origin, baseline.template) == (origin, template)
    run(baseline)


ELSEWHERE = """
import torch
def setup(M=8, N=40):
    return {"inputs": {"x": torch.randn(M, N)}}
def reference(x):
    return x / (x.square().mean(-1, keepdim=True).sqrt() + 1e-5)
"""


def test_a_normalization_with_its_epsilon_elsewhere_is_told(tmp_path, templates):
    with pytest.raises(RefusedError) as caught:
        made(tmp_path, ELSEWHERE, templates)
    assert "the reference is rmsnorm but for its epsilon" in caught.value.message


IN_PLACE = """
import torch
def setup(M=8, N=40, **dims):
    return {{"inputs": {{"x": torch.randn(M, N), "y": torch.randn(M, N)}}, "outputs": ["y"]}}
def reference(x, y, **kwargs):
    {line}
"""


@pytest.mark.parametrize(
    "line",
    [
        "y.mul_(2).add_(1).relu_()",
        "y.mul_(0.5).add_(x)",
        "y += x; y *= y",
        "z = y.clone(); y.copy_(x); y.add_(z)",
    ],
)
def test_a_reference_that_works_in_place_has_a_kernel_too(tmp_path, templates, run, line):
    baseline = made(tmp_path, IN_PLACE.format(line=line), templates)
    assert baseline.origin == "elementwise"
    run(baseline)


LAYOUT = """
import torch
def setup(M=8, N=40, K=24, **dims):
    return {{"inputs": {{{inputs}}}, "outputs": ["y"]}}
def reference({names}, y, **kwargs):
    y.copy_({result})
"""
LEFT, RIGHT = '"a": torch.randn(M, K)', '"b": torch.randn(K, N)'
LEFT_T, RIGHT_T = '"a": torch.randn(K, M).t()', '"b": torch.randn(N, K).t()'
ROWS, COLUMNS = '"y": torch.empty(M, N)', '"y": torch.empty(N, M).t()'


@pytest.mark.parametrize(
    ("inputs", "result", "template"),
    [
        ((LEFT, RIGHT_T, ROWS), "a @ b", "matmul_nt_tiled_triton"),
        ((LEFT_T, RIGHT_T, COLUMNS), "a @ b", "matmul_tiled_triton"),
    ],
)
def test_operands_that_lie_the_other_way_round_have_the_template_for_it(
    tmp_path, templates, run, inputs, result, template
):
    text = LAYOUT.format(inputs=", ".join(inputs), names="a, b", result=result)
    baseline = made(tmp_path, text, templates)
    assert baseline.template.replace("batched_matmul", "matmul_tiled") == template
    run(baseline)
    ran = {}
    exec(compile(text, "ref", "exec"), ran)
    setup = {}
    exec(compile("import torch\nDEVICE = 'cpu'\n" + _setup_of(baseline.text), "k", "exec"), setup)
    told, own = ran["setup"]()["inputs"], setup["setup"]()["inputs"]
    assert {n: v.stride() for n, v in told.items()} == {n: v.stride() for n, v in own.items()}


def _setup_of(text):
    return text[text.index("def setup(") : text.index("def run_kernel(")]


@pytest.mark.parametrize(
    ("inputs", "names", "result", "odd"),
    [
        ((LEFT_T, RIGHT, ROWS), "a, b", "a @ b", "a"),
        ((LEFT, RIGHT, COLUMNS), "a, b", "a @ b", "y"),
        (('"x": torch.randn(N, M).t()', ROWS), "x", "x.softmax(-1)", "x"),
        (('"x": torch.randn(M, 2 * N)[:, :N]', ROWS), "x", "x.softmax(-1)", "x"),
        (('"x": torch.randn(N).expand(M, N)', ROWS), "x", "x.softmax(-1)", "x"),
        (('"x": torch.randn(M, N)', COLUMNS), "x", "x.cumsum(-1)", "y"),
        (('"x": torch.randn(M, N)', '"y": torch.empty(M, 2)[:, 0]'), "x", "x.sum(-1)", "y"),
    ],
)
def test_tensors_that_no_template_reads_so_are_refused_with_the_reason(
    tmp_path, templates, inputs, names, result, odd
):
    text = LAYOUT.format(inputs=", ".join(inputs), names=names, result=result)
    with pytest.raises(RefusedError, match=rf"{odd} is not contiguous \(strides"):
        made(tmp_path, text, templates)


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
def test_what_torch_compile_generates_meets_the_contract(tmp_path, run):
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
    run(baseline)

"""A template fits a task because their values agree, under any names."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from kbs_backends.tasks import load_reference
from kbs_backends.templates import find_matches
from kbs_backends.templates import match as matching
from tests.conftest import ROOT


class Task:
    """A reference as the matcher sees it, from plain functions."""

    def __init__(self, function, **shapes):
        self.function, self.shapes, self.dims = function, shapes, {}

    def make_inputs(self, seed, distribution, device):
        del distribution
        generator = torch.Generator(device).manual_seed(seed)
        inputs = {}
        for name, shape in self.shapes.items():
            if isinstance(shape, torch.Tensor):
                inputs[name] = shape
            else:
                inputs[name] = torch.randn(shape, generator=generator)
        return inputs

    def expected(self, inputs, dtype):
        wide = {
            name: value.double() if value.is_floating_point() and dtype else value
            for name, value in inputs.items()
        }
        return {"result": self.function(**wide)}


def match(function, **shapes):
    found = find_matches(Task(function, **shapes))
    return found[0] if found else None


def test_softmax_under_other_names():
    found = match(
        lambda logits: torch.exp(logits) / torch.exp(logits).sum(-1, True), logits=(6, 33)
    )
    assert found.op == "softmax"
    assert found.names == {"x": "logits", "out": "result"}
    assert found.dims == {"M": 6, "N": 33}
    assert found.options == {"log": False}


def test_the_axis_decides():
    assert match(lambda x: x.softmax(0), x=(6, 33)) is None


def test_log_softmax_is_told_apart():
    assert match(lambda x: x.log_softmax(-1), x=(2, 3, 9)).options == {"log": True}


def test_layernorm_with_its_eps():
    found = match(
        lambda x, g, b: functional.layer_norm(x, (20,), g, b, 1e-3), x=(5, 20), g=(20,), b=(20,)
    )
    assert found.op == "layernorm"
    assert found.names == {"x": "x", "weight": "g", "bias": "b", "out": "result"}
    assert found.options["eps"] == 1e-3


@pytest.mark.parametrize("eps", [1e-7, 0.37, 2.0**-23, 3.21e-4, 1 / 3, 1e-12, 0.0, 1e-10])
def test_any_epsilon_is_found_by_value(tmp_path, eps):
    path = tmp_path / "ref.py"
    path.write_text(NORM.format(eps=eps))
    (found,) = find_matches(load_reference(path, {}))
    assert found.op == "layernorm"
    assert found.options["eps"] == pytest.approx(eps, rel=1e-6)


@pytest.mark.parametrize("eps", [1e-7, 0.37])
def test_any_epsilon_is_found_for_the_other_normalizations(eps):
    rms = match(
        lambda x, w: x * (x.pow(2).mean(-1, keepdim=True) + eps).rsqrt() * w, x=(5, 20), w=(20,)
    )
    assert (rms.op, rms.options["eps"]) == ("rmsnorm", pytest.approx(eps, rel=1e-6))
    batch = match(
        lambda x, g, b: functional.batch_norm(x, None, None, g, b, True, 0.1, eps),
        x=(4, 3, 5, 5), g=(3,), b=(3,),
    )  # fmt: skip
    assert (batch.op, batch.options["eps"]) == ("batchnorm", pytest.approx(eps, rel=1e-6))


NORM = """
import torch

def setup(M=9, N=77, **_):
    inputs = {{"x": torch.randn(M, N), "w": torch.randn(N), "b": torch.randn(N)}}
    return {{"inputs": inputs}}

def reference(x, w, b):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], w, b, eps={eps!r})
"""


def test_rmsnorm_is_no_layernorm():
    found = match(
        lambda x, w: x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt() * w, x=(5, 20), w=(20,)
    )
    assert found.op == "rmsnorm"


@pytest.mark.parametrize(
    ("function", "activation"),
    [
        (lambda p, q: p @ q, "none"),
        (lambda p, q: functional.relu(p @ q), "relu"),
        (lambda p, q: functional.gelu(p @ q), "gelu"),
        (lambda p, q: functional.gelu(p @ q, approximate="tanh"), "gelu_tanh"),
        (lambda p, q: functional.silu(p @ q), "silu"),
    ],
)
def test_gemm_with_its_epilogue(function, activation):
    found = match(function, p=(7, 12), q=(12, 9))
    assert (found.op, found.options["activation"]) == ("matmul", activation)


def test_a_square_gemm_finds_the_order_of_its_operands():
    found = match(lambda p, q: q @ p, p=(8, 8), q=(8, 8))
    assert (found.names["a"], found.names["b"]) == ("q", "p")


def test_a_linear_layer():
    found = match(lambda x, w, b: x @ w.t() + b, x=(7, 12), w=(9, 12), b=(9,))
    assert found.op == "matmul_nt"
    assert found.names["bias"] == "b"


@pytest.mark.parametrize("causal", [False, True])
def test_attention_forward(causal):
    found = match(
        lambda k, v, q: functional.scaled_dot_product_attention(q, k, v, is_causal=causal),
        k=(2, 3, 10, 8), v=(2, 3, 10, 8), q=(2, 3, 10, 8),
    )  # fmt: skip
    assert found.op == "attention"
    assert [found.names[role] for role in "qkv"] == ["q", "k", "v"]
    assert found.options == {"causal": causal, "scaled": True}


def test_reductions_scans_and_transposes():
    assert match(lambda x: x.sum(-1), x=(4, 30)).options == {"kind": "sum"}
    assert match(lambda x: x.mean(), x=(4, 30)).op == "reduction"
    assert match(lambda x: x.cumsum(-1), x=(4, 30)).op == "scan"
    assert match(lambda x: x.t().contiguous(), x=(4, 30)).op == "transpose"


def test_cross_entropy_with_its_targets():
    target = torch.arange(6) % 5
    found = match(functional.cross_entropy, input=(6, 11), target=target)
    assert found.op == "cross_entropy"
    assert found.names == {"logits": "input", "target": "target", "out": "result"}


def test_histogram_of_counts():
    values = torch.arange(100) % 7
    found = find_matches(Task(lambda x: x.bincount(minlength=8), x=values))[0]
    assert (found.op, found.options["bins"]) == ("histogram", 8)


def test_batchnorm_in_training():
    found = match(
        lambda x, g, b: functional.batch_norm(x, None, None, g, b, True, 0.1, 1e-5),
        x=(4, 3, 5, 5), g=(3,), b=(3,),
    )  # fmt: skip
    assert found.op == "batchnorm"


def test_what_is_almost_an_operation_is_none():
    assert match(lambda x: x.softmax(-1) * 1.01, x=(6, 33)) is None
    assert match(lambda a, b: a @ b + 0.1, a=(6, 6), b=(6, 6)) is None


def test_a_large_task_is_matched_in_its_own_types(monkeypatch):
    """A definition that rounds to bf16 at every step does not agree over so many elements."""
    monkeypatch.setattr(matching, "FP64_ELEMENTS", 1)
    path = ROOT / "tests/cases/kernels/rmsnorm/ref.py"
    reference = load_reference(path, {"M": 2048, "N": 8192})
    (found,) = find_matches(reference, op="rmsnorm")
    assert found.names["x"] == "x"
    assert found.options["eps"] == 1e-6, "beside values around 1 all small eps look alike in bf16"


REFERENCE = """
import torch

def setup(M=64, N=64, **_):
    return {{"inputs": {{"x": torch.randn(M, N), "out": torch.empty(M, N)}}, "outputs": ["out"]}}

def reference(x, out, **_):
    {condition}
    out.copy_(x.softmax(-1){change})
"""


def matched(tmp_path, dims, condition="", change=""):
    """Operations found in a reference, and the dims at which it was searched."""
    path = tmp_path / "ref.py"
    path.write_text(REFERENCE.format(condition=condition or "pass", change=change))
    reference = load_reference(path, dims)
    small = matching.smaller(reference)
    return find_matches(reference), dict(small.dims) if small else None


def test_a_large_task_is_searched_at_small_dims_and_seen_at_its_own(tmp_path):
    (found,), small = matched(tmp_path, {"M": 700, "N": 2000})
    assert small == {"M": 128, "N": 160}, "distinct dims stay distinct"
    assert (found.op, found.dims) == ("softmax", {"M": 700, "N": 2000})


def test_dims_that_cannot_be_cut_stay(tmp_path):
    found, small = matched(tmp_path, {"M": 5, "N": 130})
    assert len(found) == 1
    assert small == {"M": 5, "N": 128}
    assert matched(tmp_path, {"M": 129, "N": 130})[1] is None, "the second would grow"


def test_a_reference_that_fails_at_small_dims_is_searched_at_its_own(tmp_path):
    (found,), _ = matched(tmp_path, {"M": 3, "N": 300}, "assert x.shape[1] == 300")
    assert found.op == "softmax"


def test_a_reference_that_is_another_at_small_dims_is_no_match(tmp_path):
    found, _ = matched(tmp_path, {"M": 3, "N": 300}, change=" * (1 + (x.shape[1] > 200))")
    assert found == ()

"""What a reference means by its own types, and what it leaves as it was."""

from __future__ import annotations

import pytest
import torch

from kbs_backends.tasks import load_reference
from kbs_engine.errors import InputError


def load(tmp_path, text):
    path = tmp_path / "ref.py"
    path.write_text("import torch\n" + text)
    return load_reference(path)


RMS = """
def setup(M=5, N=40):
    x = (torch.randn(M, N) * {scale}).to(torch.{dtype})
    return {{"inputs": {{"x": x}}}}

def reference(x):
    return {body}
"""
OWN_EPSILON = {
    "functional": "torch.nn.functional.rms_norm(x, (x.shape[-1],))",
    "none": "torch.nn.functional.rms_norm(x, (x.shape[-1],), None, None)",
    "torch": "torch.rms_norm(x, (x.shape[-1],))",
    "module": "torch.nn.RMSNorm(x.shape[-1], elementwise_affine=False)(x)",
    "finfo": "x * (x.square().mean(-1, keepdim=True) + torch.finfo(x.dtype).eps).rsqrt()",
    "wide": "torch.nn.functional.rms_norm(x.float(), (x.shape[-1],)).to(x.dtype)",
}


@pytest.mark.parametrize("scale", [1.0, 1e-4])
@pytest.mark.parametrize("body", OWN_EPSILON.values(), ids=OWN_EPSILON)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
def test_constants_of_the_own_type_are_kept_in_fp64(tmp_path, body, dtype, scale):
    """Each distribution judges, and one that tells the epsilon expects the right one."""
    reference = load(tmp_path, RMS.format(scale=scale, dtype=dtype, body=body))
    tolerance = reference.tolerance()
    for seed, distribution in enumerate(("setup", "tiny_scale")):
        made = reference.prepare_round(seed, distribution, "cpu", tolerance)
        assert made.usable, made.why_not
        assert made.expected_from == "fp64"
        again = reference.with_dims({}).expected(made.inputs)  # not watched before
        assert torch.equal(again["out"], made.expected["out"])
    assert torch.finfo(torch.float64).eps == 2.0**-52
    assert isinstance(torch.finfo(torch.float32), torch.finfo)


def test_an_epsilon_that_is_named_stays(tmp_path):
    body = "torch.nn.functional.rms_norm(x, (x.shape[-1],), eps=1e-12)"
    reference = load(tmp_path, RMS.format(scale=1e-6, dtype="float64", body=body))
    inputs = reference.make_inputs(1)
    wanted = torch.nn.functional.rms_norm(inputs["x"], (40,), eps=1e-12)
    assert torch.equal(reference.expected(inputs)["out"], wanted)


BUFFER = """
def setup(N=50):
    x = torch.randn(N)
    return {{"inputs": {{"x": x, "y": {buffer}}}, "outputs": ["y"]}}

def reference(x, y):
    {body}
"""


@pytest.mark.parametrize(
    "buffer", ["torch.empty(N)", "torch.empty_like(x)", "x.new_empty(N)", "torch.empty(N).half()",
               "torch.empty(N, dtype=torch.int32)", "torch.empty(N, dtype=torch.complex64)"]
)  # fmt: skip
@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("pass", "y[0], y[1], y[2], … (50 of 50 elements)"),
        ("y[1:-1].copy_(x[1:-1])", "y[0], y[49] (2 of 50 elements)"),
    ],
)
def test_elements_that_a_reference_leaves_unwritten_are_told(tmp_path, buffer, body, told):
    reference = load(tmp_path, BUFFER.format(buffer=buffer, body=body))
    with pytest.raises(InputError) as caught:
        reference.prepare_round(1, "setup", "cpu", reference.tolerance())
    assert f"does not write {told}" in caught.value.message
    assert "make setup() fill it" in caught.value.remedy
    assert not torch.are_deterministic_algorithms_enabled()


@pytest.mark.parametrize(
    ("buffer", "body"),
    [
        ("torch.randn(N)", "y[1:-1].copy_(x[1:-1])"),
        ("torch.zeros(N)", "y[1:-1].copy_(x[1:-1])"),
        ("torch.ones(N)", "y += x"),
        ("torch.randn(N)", "torch.maximum(y, x, out=y)"),
        ("torch.full((N,), 2**31 - 1, dtype=torch.int32)", "y[:4] = 3"),
        ("torch.ones(N, dtype=torch.bool)", "y[:4] = False"),
    ],
)
def test_what_setup_filled_may_stay(tmp_path, buffer, body):
    reference = load(tmp_path, BUFFER.format(buffer=buffer, body=body))
    assert reference.prepare_round(1, "setup", "cpu", reference.tolerance()).usable
    assert reference.reads_outputs == ("y",)

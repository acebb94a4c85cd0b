"""What a check says where the fault is the reference's, the distribution's or the interpreter's."""

from __future__ import annotations

import pytest

from kbs_engine.jobs import Check, Task
from kbs_engine.results import Checked, read

REFERENCE = """
import torch
def setup(N=64):
    x = torch.randn(N){cast}
    return {{"inputs": {{"x": x, "y": torch.empty_like(x)}}, "outputs": ["y"]}}
def reference(x, y): {body}
"""
TRITON = """
import triton
import triton.language as tl

@triton.jit
def kernel(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n){cast}
    tl.store(y + i, v + v, mask=i < n)

def run_kernel(x, y, **_):
    kernel[(1,)](x, y, x.numel(), B=triton.next_power_of_2(x.numel()))
"""
TORCH = "import torch\ndef run_kernel(x, y): y.copy_({result})\n"


def result(rig, body, kernel, cast="", rounds=10):
    task = Task(reference_sha256=rig.blobs.put(REFERENCE.format(body=body, cast=cast)), dims={})
    return rig.result(Check(source=rig.source(kernel, head=""), task=task, rounds=rounds))


def check(rig, *given, **options):
    return read(result(rig, *given, **options), Checked)


def test_a_kernel_with_another_epsilon_fails_on_the_distribution_that_shows_it(rig):
    body = "return torch.nn.functional.rms_norm(x, (x.shape[-1],))"
    scaled = "x * (x.square().mean() + {eps}).rsqrt()"
    assert check(rig, body, TORCH.format(result=scaled.format(eps=2.0**-23))).passed
    found = check(rig, body, TORCH.format(result=scaled.format(eps=1e-12)))
    assert found.reason == "wrong_result"
    assert "tiny_scale" in found.detail


def test_a_distribution_that_never_judged_is_told(rig):
    """The reference is another in fp64: nobody can say which of the two is meant."""
    body = "return x * (x.square().mean() + (1e-12 if x.dtype == torch.float64 else 1e-7)).rsqrt()"
    kernel = TORCH.format(result="x * (x.square().mean() + 1e-7).rsqrt()")
    found = check(rig, body, kernel)
    assert found.passed
    (told,) = [one for one in found.warnings if "never judged" in one]
    assert told.startswith("'tiny_scale' inputs never judged the kernel: eager itself misses")
    assert "tiny_scale" not in {one.distribution for one in found.rounds}


def test_where_every_distribution_judged_nothing_is_told(rig):
    found = check(rig, "return x + x", TORCH.format(result="2 * x"))
    assert found.passed
    assert not [one for one in found.warnings if "never judged" in one]


def test_a_reference_that_does_not_write_its_output_is_a_failure(rig):
    failure = result(rig, "pass", TORCH.format(result="x"), rounds=2).failure
    assert "does not write y[0]" in str(failure)


def test_a_reference_that_is_infinite_says_so(rig):
    found = check(rig, "y.copy_((x + x) * 1e300)", TORCH.format(result="x"))
    assert found.reason == "task_degenerate"
    assert "the reference gives infinities in 64 of 64 elements of y" in found.detail


@pytest.mark.compilers
def test_bf16_in_the_interpreter_is_doubted(rig):
    cast = ".bfloat16()"
    found = check(rig, "return x + x", TRITON.format(cast=""), cast=cast)
    assert not found.passed
    assert "Triton's interpreter computes bf16 arithmetic wrongly" in found.detail
    assert ".to(tl.float32)" in found.detail
    assert check(rig, "return x + x", TRITON.format(cast=".to(tl.float32)"), cast=cast).passed


@pytest.mark.parametrize(
    ("kernel", "cast"),
    [(TRITON.format(cast=" * 0.5"), ""), (TORCH.format(result="x"), ".bfloat16()")],
    ids=["fp32", "no Triton"],
)
def test_other_wrong_kernels_are_not_excused(rig, kernel, cast):
    found = check(rig, "return x + x", kernel, cast=cast)
    assert found.reason == "wrong_result"
    assert "interpreter" not in found.detail


TRUTHS = """
import triton
import triton.language as tl

@triton.jit
def kernel(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(y + i, (v > 0) {sign} (v > -1), mask=i < n)

def run_kernel(x, y, **_):
    kernel[(1,)](x, y, x.numel(), B=triton.next_power_of_2(x.numel()))
"""
OF_TRUTHS = REFERENCE.replace("torch.empty_like(x)", "torch.empty(N, dtype=torch.bool)")


@pytest.mark.parametrize(("sign", "reason"), [("+", "wrong_result"), ("|", None)])
def test_a_sum_of_truths_is_that_of_a_compiled_kernel(rig, sign, reason):
    reference = OF_TRUTHS.format(body="y.copy_((x > 0) + (x > -1))", cast="")
    task = Task(reference_sha256=rig.blobs.put(reference), dims={})
    source = rig.source(TRUTHS.format(sign=sign), head="")
    checked = read(rig.result(Check(source=source, task=task, rounds=4)), Checked)
    assert checked.reason == reason

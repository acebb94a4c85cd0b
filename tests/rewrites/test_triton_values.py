"""What Triton rewrites write into a kernel, where one form is right and another is not."""

import pytest

from kbs_backends.rewrites import RewriteSource, all_rewrites
from tests.rewrites.common import HERE

REWRITES = all_rewrites("triton")
L = "1.4426950408889634"
EXP = """
import triton
import triton.language as tl
@triton.jit
def k(x, y, scale, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    {line}
    tl.store(y + i, tl.exp(a - tl.max(a, axis=0)))
def run_kernel(x, y):
    k[(1,)](x, y, 2.0, B=16)
"""


def done(method, text):
    return REWRITES[method].apply(RewriteSource(text=text, language="triton"))


@pytest.mark.parametrize(
    "value",
    [
        "tl.sigmoid(v)",
        "3.0 * tl.sin(v) + 100",
        "tl.where(i < 3, tl.cos(v), -float('inf'))",
        "tl.minimum(tl.maximum(tl.sigmoid(v), 0.25), 0.75)",
        "-tl.abs(tl.erf(v))",
    ],
)
def test_a_difference_of_bounded_values_is_one_multiply_add(value):
    text = done("exp2_rescaling", EXP.format(line=f"a = {value}"))
    assert f"tl.exp2(a * {L} - tl.max(a, axis=0) * {L})" in text


@pytest.mark.parametrize(
    "value",
    [
        "v",
        "tl.where(i < 3, tl.sigmoid(v), -3.4028234663852886e38)",
        "tl.where(i < 3, tl.sigmoid(v), -1e4)",
        "tl.sigmoid(v) * scale",
        "2000.0 * tl.sigmoid(v)",
        "tl.sum(tl.sigmoid(v), axis=0)",
        "tl.sigmoid(v) / 0.001",
        "tl.maximum(v, 0.0)",
        "tl.sigmoid(v); a += v",
        "tl.sigmoid(v); a = v if B > 3 else a",
    ],
)
def test_a_difference_of_what_may_be_large_is_taken_before_it_is_scaled(value):
    text = done("exp2_rescaling", EXP.format(line=f"a = {value}"))
    assert f"tl.exp2((a - tl.max(a, axis=0)) * {L})" in text


@pytest.mark.parametrize(
    ("store", "masked"),
    [
        ("mask=cols < n)", "mask=(cols < n) & kbs_inside)"),
        ("cols < n)", "(cols < n) & kbs_inside)"),
        ("mask=None)", "mask=kbs_inside)"),
        ("mask=n > tl.arange(0, BLOCK))", "(n > tl.arange(0, BLOCK)[None, :]) & kbs_inside)"),
        ("cache_modifier='.cs')", "cache_modifier='.cs', mask=kbs_inside)"),
    ],
)
def test_rows_beyond_the_last_store_nothing(store, masked):
    text = (HERE / "triton" / "multiple_rows_per_block" / "fires_aliased.py").read_text()
    text = text.replace("scale * 2.0, mask=cols < n)", f"scale * 2.0, {store}")
    assert masked in done("multiple_rows_per_block", text)


def test_rows_beyond_the_last_store_nothing_where_masks_are_left_out():
    text = (HERE / "triton" / "multiple_rows_per_block" / "fires_aliased.py").read_text()
    text = done("multiple_rows_per_block", done("mask_elision", text))
    assert "mask=kbs_inside if KBS_EVEN else (cols < n) & kbs_inside)" in text


PASSES = """
import torch
import triton
import triton.language as tl
@triton.jit
def k(x, y, s, N, B: tl.constexpr):
    row = tl.program_id(0)
    total = 0.0
    for k in range(0, N, B):
        o = k + tl.arange(0, B)
        total += tl.sum(tl.load(x + row * N + o, mask=o < N, other=0.0), 0)
    tl.store(s + row, total)
    for k in range(0, N, B):
        o = k + tl.arange(0, B)
        v = tl.load(x + row * N + o, mask=o < N, other=0.0)
        tl.store(y + row * N + o, v - total, mask=o < N)
def run_kernel(x, y, s):
    M, N = x.shape
    flat, fresh = x.view(-1), torch.empty_like(x)
    sums = torch.empty_like(s)
    k[(M,)](x, y, s, N, B=64)
"""


@pytest.mark.parametrize(
    ("arguments", "fires"),
    [
        ("x, y, s", True),
        ("x.view(-1), y, s", True),
        ("x, x, s", True),
        ("x, y, sums", True),
        ("x, y, torch.empty_like(x)", True),
        ("x, y, x[0]", False),
        ("x[1:], y, x.T", False),
        ("x, y, other(x)", False),
        ("x, y, flat", False),
        ("*x, y, s", False),
    ],
)
def test_what_is_read_again_was_not_stored_since(arguments, fires):
    text = PASSES.replace("k[(M,)](x, y, s", f"k[(M,)]({arguments}")
    assert (
        REWRITES["row_in_registers"].applies(RewriteSource(text=text, language="triton")).ok
        is fires
    )

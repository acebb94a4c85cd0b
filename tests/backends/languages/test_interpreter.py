"""Triton's interpreter computes as compiled kernels do where it is known to differ."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton.language as tl
from hypothesis import given
from hypothesis import strategies as st
from triton.runtime.interpreter import InterpreterBuilder, TensorHandle

from kbs_backends.languages.triton_interpreter import compute_as_compiled, nearest_bf16

TRUTHS = np.array([[False, False, True, True], [False, True, False, True]])
WORDS = st.lists(st.integers(min_value=0, max_value=2**32 - 1), min_size=1)
"""The bits of any fp32 numbers."""


@pytest.fixture(scope="module")
def builder():
    compute_as_compiled()
    return InterpreterBuilder()


def handle(values, dtype):
    return TensorHandle(np.array(values), dtype)


@pytest.mark.parametrize("name", ["create_add", "create_sub"])
def test_a_sum_of_truths_wraps_to_one_bit(builder, name):
    left, right = (handle(row, tl.int1) for row in TRUTHS)
    found = getattr(builder, name)(left, right).data
    assert found.dtype == np.bool_
    assert found.tolist() == [False, True, True, False]


def test_a_sum_of_numbers_stays_one(builder):
    one = handle(np.array([1, -128], dtype=np.int8), tl.int8)
    assert builder.create_add(one, one).data.tolist() == [2, 0]


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (np.array([1.00390625, 3.3], dtype=np.float32), tl.float32),
        (np.array([1.00390625, 3.3]), tl.float64),
        (np.array([257, -259], dtype=np.int32), tl.int32),
    ],
)
def test_what_becomes_bf16_is_rounded(builder, values, dtype):
    found = builder.cast_impl(TensorHandle(values, dtype), tl.block_type(tl.bfloat16, [2])).data
    expected = torch.tensor(values).to(torch.float32).bfloat16()
    assert torch.equal(torch.tensor(found.view(np.int16)).view(torch.bfloat16), expected)


@given(WORDS)
def test_bf16_is_rounded_as_torch_does_it(words):
    values = np.array(words, dtype=np.uint32).view(np.float32)
    found = torch.tensor(nearest_bf16(values).view(np.int16)).view(torch.bfloat16)
    expected = torch.tensor(values).bfloat16()
    assert torch.equal(found.isnan(), expected.isnan())
    assert torch.equal(found.nan_to_num(), expected.nan_to_num())

"""Scratch memory that a kernel's own allocator gives is zero under the sanitizer."""

from __future__ import annotations

import subprocess
import sys

import torch

from kbs_backends.device.zero_scratch import zeroing

PROGRAM = """
import torch
from kbs_backends.device.zero_scratch import zero_scratch
zero_scratch()
import triton
from triton.runtime import _allocation
triton.set_allocator(lambda size, alignment, stream: torch.full((size,), 7, dtype=torch.int8))
print(int(_allocation._allocator.get()(64, 16, None).abs().sum()))
"""


def test_memory_of_an_allocator_is_zeroed():
    given = zeroing(lambda size, alignment, stream: torch.full((size,), 7, dtype=torch.int8))
    assert not given(64, 16, None).any()


def test_what_is_no_tensor_is_passed_on():
    memory = object()
    assert zeroing(lambda size, alignment, stream: memory)(64, 16, None) is memory


def test_an_allocator_set_by_the_kernel_is_wrapped():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "0"

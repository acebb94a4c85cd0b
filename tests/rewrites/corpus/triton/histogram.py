"""Counts of small integers through atomics on many addresses."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

DIMS = [{"N": 300, "BINS": 16}]


@triton.jit
def histogram_kernel(x_ptr, counts_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    value = tl.load(x_ptr + offs, mask=mask, other=0)
    tl.atomic_add(counts_ptr + value, 1, mask=mask)


def setup(N, BINS):
    x = torch.randint(0, BINS, (N,), device=DEVICE, dtype=torch.int32)
    counts = torch.zeros(BINS, device=DEVICE, dtype=torch.int32)
    return {"inputs": {"x": x, "counts": counts}, "outputs": ["counts"]}


def run_kernel(x, counts):
    counts.zero_()
    histogram_kernel[(triton.cdiv(x.numel(), 128),)](x, counts, x.numel(), BLOCK=128)


def reference(x, counts):
    return {"counts": torch.bincount(x, minlength=counts.numel()).int()}

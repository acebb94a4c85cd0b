"""Inclusive sum of every row; long rows are walked block by block with a carry."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

BLOCK = 4096  # kbs:tunable 1024, 2048, 4096
NUM_WARPS = 8  # kbs:tunable 4, 8


@triton.jit
def scan_rows(x, out, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    carry = 0.0
    for begin in range(0, N, BLOCK):
        columns = begin + lanes
        inside = columns < N
        values = tl.load(x + row * N + columns, mask=inside, other=0.0).to(tl.float32)
        sums = tl.cumsum(values, 0)
        tl.store(out + row * N + columns, sums + carry, mask=inside)
        carry += tl.sum(values, 0)


def launch(x, out):
    columns = x.shape[-1]
    scan_rows[(x.numel() // columns,)](
        x, out, columns, BLOCK=min(BLOCK, triton.next_power_of_2(columns)), num_warps=NUM_WARPS
    )


# kbs:adapter
def setup(M=1024, N=4096, **dims):
    x = torch.randn(M, N, device=DEVICE)
    return {"inputs": {"x": x, "out": torch.empty_like(x)}, "outputs": ["out"]}


def run_kernel(x, out, **dims):
    launch(x, out)
# kbs:end

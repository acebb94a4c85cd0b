"""Rows gathered from a table."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

DIMS = [{"V": 20, "N": 6, "D": 48}]


@triton.jit
def gather_rows(table, ids, out, d, BLOCK_D: tl.constexpr):
    i = tl.program_id(0)
    token = tl.load(ids + i)
    cols = tl.arange(0, BLOCK_D)
    mask = cols < d
    row = tl.load(table + token * d + cols, mask=mask)
    tl.store(out + i * d + cols, row, mask=mask)


def setup(V, N, D):
    table = torch.randn(V, D, device=DEVICE)
    ids = torch.randint(0, V, (N,), device=DEVICE)
    return {
        "inputs": {"table": table, "ids": ids, "out": torch.empty(N, D, device=DEVICE)},
        "outputs": ["out"],
    }


def run_kernel(table, ids, out):
    gather_rows[(ids.numel(),)](table, ids, out, table.shape[1], BLOCK_D=64)


def reference(table, ids, out):
    return {"out": table[ids]}

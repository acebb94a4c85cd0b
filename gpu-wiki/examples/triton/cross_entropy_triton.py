"""Cross-entropy over a large vocabulary in one pass: running maximum and sum, no probabilities."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

BLOCK = 8192  # kbs:tunable 4096, 8192, 16384
NUM_WARPS = 16  # kbs:tunable 8, 16
EXP2 = True  # kbs:method exp2_rescaling


@triton.jit
def cross_entropy_rows(logits, target, losses, V, FAST: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    top = tl.full((BLOCK,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for begin in range(0, V, BLOCK):
        at = begin + lanes
        values = tl.load(logits + row * V + at, mask=at < V, other=-float("inf")).to(tl.float32)
        above = tl.maximum(top, values)
        safe = tl.where(above == -float("inf"), 0.0, above)
        if FAST:
            total = total * tl.exp2((top - safe) * 1.4426950408889634)
            total += tl.exp2((values - safe) * 1.4426950408889634)
        else:
            total = total * tl.exp(top - safe) + tl.exp(values - safe)
        top = above
    peak = tl.max(top, 0)
    if FAST:
        total = total * tl.exp2((top - peak) * 1.4426950408889634)
    else:
        total = total * tl.exp(top - peak)
    right = tl.load(logits + row * V + tl.load(target + row)).to(tl.float32)
    tl.store(losses + row, peak + tl.log(tl.sum(total, 0)) - right)


@triton.jit
def mean_of(losses, out, M, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for begin in range(0, M, BLOCK):
        at = begin + lanes
        total += tl.load(losses + at, mask=at < M, other=0.0)
    tl.store(out, tl.sum(total, 0) / M)


def launch(logits, target, out, mean=True):
    rows, words = logits.shape
    losses = torch.empty(rows, dtype=torch.float32, device=logits.device)
    cross_entropy_rows[(rows,)](
        logits, target, losses, words, FAST=EXP2, BLOCK=min(BLOCK, triton.next_power_of_2(words)),
        num_warps=NUM_WARPS,
    )
    mean_of[(1,)](losses, out, rows, BLOCK=1024)


# kbs:adapter
def setup(M=1024, V=32768, **dims):
    logits = torch.randn(M, V, device=DEVICE)
    target = torch.randint(0, V, (M,), device=DEVICE)
    inputs = {"logits": logits, "target": target, "out": torch.empty((), device=DEVICE)}
    return {"inputs": inputs, "outputs": ["out"]}


def run_kernel(logits, target, out, **dims):
    launch(logits, target, out)
# kbs:end

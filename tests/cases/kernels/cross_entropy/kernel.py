"""Cross-entropy in two passes over the logits, with one atomic for each row."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@triton.jit
def cross_entropy_naive(logits, target, out, M, V, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    top = tl.full((BLOCK,), -float("inf"), tl.float32)
    for begin in range(0, V, BLOCK):
        at = begin + lanes
        top = tl.maximum(top, tl.load(logits + row * V + at, mask=at < V, other=-float("inf")))
    peak = tl.max(top, 0)
    total = tl.zeros((BLOCK,), tl.float32)
    for begin in range(0, V, BLOCK):
        at = begin + lanes
        total += tl.exp(tl.load(logits + row * V + at, mask=at < V, other=-float("inf")) - peak)
    right = tl.load(logits + row * V + tl.load(target + row))
    loss = peak + tl.log(tl.sum(total, 0)) - right
    tl.atomic_add(out, loss / M)


def setup(M=1024, V=131072, **_):
    logits = torch.randn(M, V, device=DEVICE)
    target = torch.randint(0, V, (M,), device=DEVICE)
    inputs = {"logits": logits, "target": target, "out": torch.empty((), device=DEVICE)}
    return {"inputs": inputs, "outputs": ["out"]}


def run_kernel(logits, target, out, **_):
    out.zero_()
    rows, words = logits.shape
    cross_entropy_naive[(rows,)](logits, target, out, rows, words, BLOCK=1024, num_warps=4)

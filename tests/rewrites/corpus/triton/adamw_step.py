"""One optimiser step, four arrays in place."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

DIMS = [{"N": 150}]


@triton.jit
def adamw(p, g, m, v, lr, beta1, beta2, eps, decay, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    grad = tl.load(g + offsets, mask=mask)
    first = beta1 * tl.load(m + offsets, mask=mask) + (1 - beta1) * grad
    second = beta2 * tl.load(v + offsets, mask=mask) + (1 - beta2) * grad * grad
    weight = tl.load(p + offsets, mask=mask) * (1 - lr * decay)
    tl.store(p + offsets, weight - lr * first / (tl.sqrt(second) + eps), mask=mask)
    tl.store(m + offsets, first, mask=mask)
    tl.store(v + offsets, second, mask=mask)


def setup(N):
    p, g, m = (torch.randn(N, device=DEVICE) for _ in range(3))
    v = torch.rand(N, device=DEVICE)
    return {"inputs": {"p": p, "g": g, "m": m, "v": v}, "outputs": ["p", "m", "v"]}


def run_kernel(p, g, m, v):
    n = p.numel()
    adamw[(triton.cdiv(n, 64),)](p, g, m, v, 1e-2, 0.9, 0.99, 1e-8, 0.1, n, BLOCK_SIZE=64)


def reference(p, g, m, v):
    first, second = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
    weight = p * (1 - 1e-2 * 0.1) - 1e-2 * first / (second.sqrt() + 1e-8)
    return {"p": weight, "m": first, "v": second}

"""Rotary position embedding, two halves."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

DIMS = [{"T": 4, "H": 2, "D": 32}]


@triton.jit
def rope_kernel(q, cos, sin, out, n_heads, HALF: tl.constexpr):
    token = tl.program_id(0)
    head = tl.program_id(1)
    i = tl.arange(0, HALF)
    c = tl.load(cos + token * HALF + i)
    s = tl.load(sin + token * HALF + i)
    base = (token * n_heads + head) * 2 * HALF
    a = tl.load(q + base + i)
    b = tl.load(q + base + HALF + i)
    tl.store(out + base + i, a * c - b * s)
    tl.store(out + base + HALF + i, b * c + a * s)


def setup(T, H, D):
    q = torch.randn(T, H, D, device=DEVICE)
    angle = torch.randn(T, D // 2, device=DEVICE)
    inputs = {"q": q, "cos": angle.cos(), "sin": angle.sin(), "out": torch.empty_like(q)}
    return {"inputs": inputs, "outputs": ["out"]}


def run_kernel(q, cos, sin, out):
    T, H, D = q.shape
    rope_kernel[(T, H)](q, cos, sin, out, H, HALF=D // 2, num_warps=1)


def reference(q, cos, sin, out):
    a, b = q.chunk(2, dim=2)
    c, s = cos[:, None], sin[:, None]
    return {"out": torch.cat([a * c - b * s, b * c + a * s], dim=2)}

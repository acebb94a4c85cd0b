"""Attention forward of H heads of width d / H: softmax(q k^T / sqrt(D)) v."""

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
op = "attention"
family = "attention"


def setup(N=512, d=1024, H=16, half=False, **_):
    dtype = torch.float16 if half else torch.float32
    q, k, v = (torch.randn(H, N, d // H, device=DEVICE).to(dtype) for _ in range(3))
    inputs = {"q": q, "k": k, "v": v, "out": torch.empty_like(q), "N": N, "D": d // H}
    return {"inputs": inputs, "outputs": ["out"]}


def reference(q, k, v, out, **_):
    # of four dims, as PyTorch takes its fused kernels for no others
    out.copy_(torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None])[0])


def flops(N=512, d=1024, **_):
    return 4 * N * N * d


def bytes(N=512, d=1024, half=False, **_):
    size = 2 if half else 4
    return {"in": 3 * size * N * d, "out": size * N * d}

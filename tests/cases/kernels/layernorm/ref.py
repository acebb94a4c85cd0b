"""Layer normalization over the rows of a bf16 matrix."""

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
op = "layernorm"
family = "normalization"


def setup(M=4096, N=8192, **_):
    x = torch.randn(M, N, device=DEVICE).to(torch.bfloat16)
    weight, bias = (torch.randn(N, device=DEVICE).to(torch.bfloat16) for _ in range(2))
    inputs = {"x": x, "weight": weight, "bias": bias, "out": torch.empty_like(x), "M": M, "N": N}
    return {"inputs": inputs, "outputs": ["out"]}


def reference(x, weight, bias, out, N, **_):
    out.copy_(torch.nn.functional.layer_norm(x, (N,), weight, bias, 1e-5))


def bytes(M=4096, N=8192, **_):
    return {"in": 2 * (M * N + 2 * N), "out": 2 * M * N}

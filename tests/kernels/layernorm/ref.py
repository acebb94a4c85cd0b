"""Layer normalization of the rows of an M x N fp32 matrix, with weight and bias."""

import torch

family = "normalization"
EPS = 1e-5


def setup(M=8192, N=4096, seed=0):
    torch.manual_seed(seed)
    x = torch.randn(M, N, device="cuda", dtype=torch.float32)
    weight = torch.randn(N, device="cuda", dtype=torch.float32)
    bias = torch.randn(N, device="cuda", dtype=torch.float32)
    inputs = {
        "x": x,
        "weight": weight,
        "bias": bias,
        "out": torch.empty_like(x),
        "M": M,
        "N": N,
        "eps": EPS,
    }
    return {"inputs": inputs, "outputs": ["out"]}


def reference(x, weight, bias, N, eps, **_):
    return torch.nn.functional.layer_norm(x, (N,), weight, bias, eps)

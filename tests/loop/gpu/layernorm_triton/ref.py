"""Layer norm over rows, bf16."""

import torch

atol = 3e-2
rtol = 3e-2


def setup(M=4096, N=8192, **_):
    x = torch.randn(M, N, dtype=torch.bfloat16)
    weight, bias = torch.randn(N, dtype=torch.bfloat16), torch.randn(N, dtype=torch.bfloat16)
    out = torch.empty_like(x)
    return {
        "inputs": {"x": x, "weight": weight, "bias": bias, "out": out, "M": M, "N": N},
        "outputs": ["out"],
    }


def reference(x, weight, bias, **_):
    return torch.nn.functional.layer_norm(x, (x.shape[-1],), weight, bias, eps=1e-5)


def flops(M, N, **_):
    return 8.0 * M * N


def bytes(M, N, **_):
    return {"in": 2.0 * M * N + 4.0 * N, "out": 2.0 * M * N}

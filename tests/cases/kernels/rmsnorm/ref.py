"""RMS normalization over the rows of a bf16 matrix."""

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
op = "rmsnorm"
family = "normalization"


def setup(M=4096, N=8192, **_):
    x = torch.randn(M, N, device=DEVICE).to(torch.bfloat16)
    weight = torch.randn(N, device=DEVICE).to(torch.bfloat16)
    inputs = {"x": x, "weight": weight, "out": torch.empty_like(x), "M": M, "N": N}
    return {"inputs": inputs, "outputs": ["out"]}


def reference(x, weight, out, N, **_):
    out.copy_(torch.nn.functional.rms_norm(x, (N,), weight, 1e-6))


def bytes(M=4096, N=8192, **_):
    return {"in": 2 * (M * N + N), "out": 2 * M * N}

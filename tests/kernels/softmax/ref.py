"""Softmax over the last dimension of an M x N fp32 matrix."""

import torch

family = "softmax"


def setup(M=4096, N=4096, seed=0):
    torch.manual_seed(seed)
    x = torch.randn(M, N, device="cuda", dtype=torch.float32)
    return {"inputs": {"x": x, "out": torch.empty_like(x), "M": M, "N": N}, "outputs": ["out"]}


def reference(x, baseline=None, **_):
    if baseline == "flashinfer":
        import flashinfer

        return flashinfer.sampling.softmax(x)
    return torch.softmax(x, dim=-1)


def bytes(M=4096, N=4096):  # noqa: A001 - the contract's name
    return {"in": 4 * M * N, "out": 4 * M * N}

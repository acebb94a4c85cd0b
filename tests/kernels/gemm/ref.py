"""C = A B for fp16 matrices in row-major order, accumulated in fp32."""

import torch

family = "gemm"


def setup(M=4096, N=4096, K=4096, seed=0):
    torch.manual_seed(seed)
    a = torch.randn(M, K, device="cuda", dtype=torch.float16)
    b = torch.randn(K, N, device="cuda", dtype=torch.float16)
    c = torch.empty(M, N, device="cuda", dtype=torch.float16)
    return {"inputs": {"a": a, "b": b, "c": c, "M": M, "N": N, "K": K}, "outputs": ["c"]}


def reference(a, b, **_):
    return a @ b


def flops(M=4096, N=4096, K=4096):
    return {"fp16": 2 * M * N * K}

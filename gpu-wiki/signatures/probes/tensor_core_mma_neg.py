"""Outer products written with broadcasting stay on the vector unit."""

import triton
import triton.language as tl


# kbs:signature mfma_gemm_tl_dot(a="*fp16", b="*fp16", c="*fp32", k="i32:16", M=64, N=64)
@triton.jit
def mfma_gemm_tl_dot(a, b, c, k, M: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, M)
    cols = tl.arange(0, N)
    acc = tl.zeros((M, N), tl.float32)
    for i in range(0, k):
        x = tl.load(a + rows * k + i).to(tl.float32)
        y = tl.load(b + i * N + cols).to(tl.float32)
        acc += x[:, None] * y[None, :]
    tl.store(c + rows[:, None] * N + cols[None, :], acc)

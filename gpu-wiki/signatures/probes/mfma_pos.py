"""tl.dot on bf16 tiles."""

import triton
import triton.language as tl


# kbs:signature gemm(a="*bf16", b="*bf16", c="*fp32", k="i32:16", M=128, N=128, K=64)
@triton.jit
def gemm(a, b, c, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.arange(0, M)
    cols = tl.arange(0, N)
    steps = tl.arange(0, K)
    acc = tl.zeros((M, N), tl.float32)
    for i in range(0, k, K):
        x = tl.load(a + rows[:, None] * k + (i + steps)[None, :])
        y = tl.load(b + (i + steps)[:, None] * N + cols[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + rows[:, None] * N + cols[None, :], acc)

"""Pipelined tiles on CDNA3 with asynchronous copies switched on: 4 bytes per lane go straight to LDS."""

import triton
import triton.language as tl


# kbs:arch gfx942
# kbs:env TRITON_HIP_USE_ASYNC_COPY=1
# kbs:signature gemm(a="*fp16", b="*fp16", c="*fp32", k="i32:16", M=128, N=128, K=64)
# kbs:options num_stages=3
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

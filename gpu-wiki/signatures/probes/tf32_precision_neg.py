"""The same tiles in full precision: the fp32 matrix instruction."""

import triton
import triton.language as tl


# kbs:arch gfx942
# kbs:signature gemm_tf32_xf32(a="*fp32", b="*fp32", c="*fp32", k="i32:16", M=64, N=64, K=32)
@triton.jit
def gemm_tf32_xf32(a, b, c, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.arange(0, M)
    cols = tl.arange(0, N)
    steps = tl.arange(0, K)
    acc = tl.zeros((M, N), tl.float32)
    for i in range(0, k, K):
        x = tl.load(a + rows[:, None] * k + (i + steps)[None, :])
        y = tl.load(b + (i + steps)[:, None] * N + cols[None, :])
        acc = tl.dot(x, y, acc, input_precision="ieee")
    tl.store(c + rows[:, None] * N + cols[None, :], acc)

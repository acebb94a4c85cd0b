"""fp8 storage, fp16 products: the tiles are widened before tl.dot."""

import triton
import triton.language as tl


# kbs:arch gfx942 gfx950
# kbs:signature gemm_fp8_fp8(a="*fp8e5", b="*fp8e5", c="*fp32", k="i32:16", M=64, N=64, K=64)
@triton.jit
def gemm_fp8_fp8(a, b, c, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.arange(0, M)
    cols = tl.arange(0, N)
    steps = tl.arange(0, K)
    acc = tl.zeros((M, N), tl.float32)
    for i in range(0, k, K):
        x = tl.load(a + rows[:, None] * k + (i + steps)[None, :]).to(tl.float16)
        y = tl.load(b + (i + steps)[:, None] * N + cols[None, :]).to(tl.float16)
        acc = tl.dot(x, y, acc)
    tl.store(c + rows[:, None] * N + cols[None, :], acc)

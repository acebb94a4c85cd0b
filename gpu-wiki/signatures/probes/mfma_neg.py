"""A matrix-vector product by multiply and sum: packed FMAs at best, no matrix instruction."""

import triton
import triton.language as tl


# kbs:signature mfma_32x32x8(a="*bf16", x="*bf16", y="*fp32", k="i32:16", M=64, K=64)
@triton.jit
def mfma_32x32x8(a, x, y, k, M: tl.constexpr, K: tl.constexpr):
    rows = tl.arange(0, M)
    steps = tl.arange(0, K)
    acc = tl.zeros((M,), tl.float32)
    for i in range(0, k, K):
        part = tl.load(a + rows[:, None] * k + (i + steps)[None, :]).to(tl.float32)
        acc += tl.sum(part * tl.load(x + i + steps).to(tl.float32)[None, :], axis=1)
    tl.store(y + rows, acc)

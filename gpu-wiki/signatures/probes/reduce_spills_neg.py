"""256 x 256 FP32 accumulators on one wave are 1024 registers per lane: more than the file holds."""

import triton
import triton.language as tl


# kbs:signature reduce_spills(a="*fp32", b="*fp32", c="*fp32", k="i32:16", M=256, N=256)
# kbs:options num_warps=1
@triton.jit
def reduce_spills(a, b, c, k, M: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, M)
    cols = tl.arange(0, N)
    acc = tl.zeros((M, N), tl.float32)
    for i in range(0, k):
        acc += tl.load(a + rows * k + i)[:, None] * tl.load(b + i * N + cols)[None, :]
    tl.store(c + rows[:, None] * N + cols[None, :], acc)

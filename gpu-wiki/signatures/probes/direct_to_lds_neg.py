"""One stage: load to registers, ds_write, ds_read."""

import triton
import triton.language as tl


# kbs:signature direct_to_lds_buffer_load_lds(a="*fp16", b="*fp16", c="*fp32", k="i32:16", M=128, N=128, K=64)
# kbs:options num_stages=1
@triton.jit
def direct_to_lds_buffer_load_lds(a, b, c, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.arange(0, M)
    cols = tl.arange(0, N)
    steps = tl.arange(0, K)
    acc = tl.zeros((M, N), tl.float32)
    for i in range(0, k, K):
        x = tl.load(a + rows[:, None] * k + (i + steps)[None, :])
        y = tl.load(b + (i + steps)[:, None] * N + cols[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + rows[:, None] * N + cols[None, :], acc)

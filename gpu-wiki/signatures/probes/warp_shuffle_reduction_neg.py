"""Each lane adds up its own column in a loop: no exchange between lanes."""

import triton
import triton.language as tl


# kbs:signature warp_shuffle_reduce_dpp(out="*fp32", x="*fp32", n="i32", BLOCK=64)
# kbs:options num_warps=1
@triton.jit
def warp_shuffle_reduce_dpp(out, x, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for i in range(0, n):
        acc += tl.load(x + i * BLOCK + lanes)
    tl.store(out + lanes, acc)

"""Rows that fit one wave reduce without a block barrier in the loop."""

import triton
import triton.language as tl


# kbs:signature row_sums(out="*fp32", x="*fp32", rows="i32", BLOCK=256)
# kbs:options num_warps=1
@triton.jit
def row_sums(out, x, rows, BLOCK: tl.constexpr):
    for r in range(0, rows):
        tl.store(out + r, tl.sum(tl.load(x + r * BLOCK + tl.arange(0, BLOCK))))

"""The same rows over eight waves: partial sums meet in LDS between barriers."""

import triton
import triton.language as tl


# kbs:signature fewer_barriers(out="*fp32", x="*fp32", rows="i32", BLOCK=2048)
# kbs:options num_warps=8
@triton.jit
def fewer_barriers(out, x, rows, BLOCK: tl.constexpr):
    for r in range(0, rows):
        tl.store(out + r, tl.sum(tl.load(x + r * BLOCK + tl.arange(0, BLOCK))))

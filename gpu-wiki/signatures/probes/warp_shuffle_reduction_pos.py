"""A reduction within one wave goes through DPP moves."""

import triton
import triton.language as tl


# kbs:signature row_sum(out="*fp32", x="*fp32", BLOCK=64)
# kbs:options num_warps=1
@triton.jit
def row_sum(out, x, BLOCK: tl.constexpr):
    tl.store(out + tl.program_id(0), tl.sum(tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))))

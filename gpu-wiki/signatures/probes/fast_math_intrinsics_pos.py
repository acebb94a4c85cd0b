"""The hardware exponential and reciprocal."""

import triton
import triton.language as tl


# kbs:signature sigmoid(out="*fp32", x="*fp32", BLOCK=1024)
@triton.jit
def sigmoid(out, x, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.exp2(tl.load(x + offsets)))

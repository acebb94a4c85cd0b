"""Division by a run-time value goes through a floating-point reciprocal."""

import triton
import triton.language as tl


# kbs:signature strength_reduced_mul_hi(out="*i32", width="i32", BLOCK=1024)
@triton.jit
def strength_reduced_mul_hi(out, width, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, (offsets // width) * 64 + offsets % width)

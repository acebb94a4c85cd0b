"""Single precision throughout."""

import triton
import triton.language as tl


# kbs:signature scale(out="*fp32", x="*fp32", BLOCK=1024)
@triton.jit
def scale(out, x, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets) * 0.7071 + 0.1)

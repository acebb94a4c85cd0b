"""fp16 arithmetic on neighbouring elements is packed two by two."""

import triton
import triton.language as tl


# kbs:signature axpy(out="*fp16", x="*fp16", y="*fp16", BLOCK=1024)
@triton.jit
def axpy(out, x, y, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets) * tl.load(y + offsets) + tl.load(x + offsets))

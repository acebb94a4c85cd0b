"""A stride of three elements leaves one element per access, whatever the kernel is called."""

import triton
import triton.language as tl


# kbs:signature vectorized_dwordx4(out="*fp32", src="*fp32", n="i32:16", BLOCK=1024)
@triton.jit
def vectorized_dwordx4(out, src, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets * 3, tl.load(src + offsets * 3) * 2.0)

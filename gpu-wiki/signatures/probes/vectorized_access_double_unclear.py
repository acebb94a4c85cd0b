"""One int64 per access at a stride of three: 8 bytes wide, and nothing vectorized."""

import triton
import triton.language as tl


# kbs:signature vectorized_copy(out="*i64", src="*i64", n="i32:16", BLOCK=1024)
@triton.jit
def vectorized_copy(out, src, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets * 3, tl.load(src + offsets * 3))

"""Streaming load: the cache modifier reaches the instruction."""

import triton
import triton.language as tl


# kbs:signature stream(out="*fp32", src="*fp32", BLOCK=1024)
@triton.jit
def stream(out, src, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(src + offsets, cache_modifier=".cg") * 2.0)

"""Contiguous, aligned elements: Triton gives each lane 16 bytes."""

import triton
import triton.language as tl


# kbs:signature scale(out="*fp32", src="*fp32", n="i32:16", BLOCK=1024)
@triton.jit
def scale(out, src, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(src + offsets) * 2.0)

"""eviction_policy is an NVIDIA hint: on AMD it compiles and leaves nothing behind."""

import triton
import triton.language as tl


# kbs:signature evict_first_nt(out="*fp32", src="*fp32", BLOCK=1024)
@triton.jit
def evict_first_nt(out, src, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(src + offsets, eviction_policy="evict_first") * 2.0)

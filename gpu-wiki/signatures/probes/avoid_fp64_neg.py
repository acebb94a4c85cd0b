"""An accumulator in fp64 for fp32 data."""

import triton
import triton.language as tl


# kbs:signature avoid_fp64(out="*fp32", x="*fp32", BLOCK=1024)
@triton.jit
def avoid_fp64(out, x, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, (tl.load(x + offsets).to(tl.float64) * 0.7071 + 0.1).to(tl.float32))

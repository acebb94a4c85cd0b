"""IEEE division: reciprocal estimate, two scalings, and a fix-up."""

import triton
import triton.language as tl


# kbs:signature fast_math_v_rcp_f32(out="*fp32", x="*fp32", y="*fp32", BLOCK=1024)
@triton.jit
def fast_math_v_rcp_f32(out, x, y, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.div_rn(tl.load(x + offsets), tl.load(y + offsets)))

"""The same expression with fusion switched off at compile time."""

import triton
import triton.language as tl


# kbs:signature v_fma_f32_fused(out="*fp32", x="*fp32", a="fp32", b="fp32", BLOCK=1024)
# kbs:options enable_fp_fusion=False
@triton.jit
def v_fma_f32_fused(out, x, a, b, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets) * a + b)

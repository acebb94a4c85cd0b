"""A multiply and an add that may be fused."""

import triton
import triton.language as tl


# kbs:signature horner(out="*fp32", x="*fp32", a="fp32", b="fp32", BLOCK=1024)
# kbs:options enable_fp_fusion=True
@triton.jit
def horner(out, x, a, b, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets) * a + b)

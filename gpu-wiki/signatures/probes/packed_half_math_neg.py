"""fp16 storage, fp64-free scalar arithmetic: the transcendental has no packed form."""

import triton
import triton.language as tl


# kbs:signature packed_half_v_pk_fma(out="*fp16", x="*fp16", BLOCK=1024)
@triton.jit
def packed_half_v_pk_fma(out, x, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.exp2(tl.load(x + offsets * 2).to(tl.float32)).to(tl.float16))

"""tl.exp multiplies by log2(e) for every element."""

import triton
import triton.language as tl


# kbs:signature exp2_rescaled(out="*fp32", x="*fp32", scale="fp32", n="i32:16", BLOCK=256)
@triton.jit
def exp2_rescaled(out, x, scale, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for i in range(0, n, BLOCK):
        acc += tl.exp(tl.load(x + i + offsets) * scale)
    tl.store(out + offsets, acc)

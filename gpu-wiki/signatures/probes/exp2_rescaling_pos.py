"""log2(e) is folded into the scale before the loop; the loop calls exp2."""

import triton
import triton.language as tl


# kbs:signature softmax_sum(out="*fp32", x="*fp32", scale="fp32", n="i32:16", BLOCK=1024)
@triton.jit
def softmax_sum(out, x, scale, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    folded = scale * 1.4426950408889634
    for i in range(0, n, BLOCK):
        acc += tl.exp2(tl.load(x + i + offsets) * folded)
    tl.store(out + offsets, acc)

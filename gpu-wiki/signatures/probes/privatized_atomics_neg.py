"""Every element goes to the global bins inside the loop."""

import triton
import triton.language as tl


# kbs:signature privatized_histogram(bins="*i32", keys="*i32", n="i32:16", BLOCK=1024)
@triton.jit
def privatized_histogram(bins, keys, n, BLOCK: tl.constexpr):
    for i in range(0, n, BLOCK):
        tl.atomic_add(bins + tl.load(keys + i + tl.arange(0, BLOCK)), 1)

"""A histogram per block, added to the global one once at the end."""

import triton
import triton.language as tl


# kbs:signature histogram(bins="*i32", keys="*i32", n="i32:16", BLOCK=1024, BINS=256)
@triton.jit
def histogram(bins, keys, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    mine = tl.zeros((BINS,), tl.int32)
    for i in range(0, n, BLOCK):
        mine += tl.histogram(tl.load(keys + i + tl.arange(0, BLOCK)), BINS)
    tl.atomic_add(bins + tl.arange(0, BINS), mine)

"""fp8 tiles without block scale; one scale is multiplied afterwards."""

import triton
import triton.language as tl


# kbs:arch gfx950
# kbs:signature gemm_mfma_scale_mxfp8(a="*fp8e4nv", b="*fp8e4nv", c="*fp32", scale="fp32", M=64, N=64, K=32)
@triton.jit
def gemm_mfma_scale_mxfp8(a, b, c, scale, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.arange(0, M)
    cols = tl.arange(0, N)
    steps = tl.arange(0, K)
    x = tl.load(a + rows[:, None] * K + steps[None, :])
    y = tl.load(b + steps[:, None] * N + cols[None, :])
    tl.store(c + rows[:, None] * N + cols[None, :], tl.dot(x, y) * scale)

"""mxfp4 tiles with e8m0 scales through tl.dot_scaled."""

import triton
import triton.language as tl


# kbs:arch gfx950
# kbs:signature gemm(a="*u8", sa="*u8", b="*u8", sb="*u8", c="*fp32", M=64, N=64, K=128)
@triton.jit
def gemm(a, sa, b, sb, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.arange(0, M)
    cols = tl.arange(0, N)
    half = tl.arange(0, K // 2)
    groups = tl.arange(0, K // 32)
    x = tl.load(a + rows[:, None] * (K // 2) + half[None, :])
    y = tl.load(b + cols[None, :] * (K // 2) + half[:, None])
    scale_x = tl.load(sa + rows[:, None] * (K // 32) + groups[None, :])
    scale_y = tl.load(sb + cols[:, None] * (K // 32) + groups[None, :])
    acc = tl.dot_scaled(x, scale_x, "e2m1", y, scale_y, "e2m1")
    tl.store(c + rows[:, None] * N + cols[None, :], acc)

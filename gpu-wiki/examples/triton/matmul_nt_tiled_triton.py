"""Tiled GEMM with a transposed right operand (linear layer) and epilogue, accumulated in fp32."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

BLOCK_M = 128  # kbs:tunable 64, 128
BLOCK_N = 128  # kbs:tunable 64, 128, 256
BLOCK_K = 64  # kbs:tunable 32, 64
GROUP_M = 8  # kbs:tunable 4, 8, 16
NUM_WARPS = 8  # kbs:tunable 4, 8
NUM_STAGES = 3  # kbs:tunable 2, 3, 4, 5
GROUPED = True  # kbs:method l2_grouped_ordering
TF32 = False  # kbs:method tf32_precision


@triton.jit
def activate(value, ACTIVATION: tl.constexpr):
    if ACTIVATION == "relu":
        return tl.maximum(value, 0.0)
    elif ACTIVATION == "silu":
        return value * tl.sigmoid(value)
    elif ACTIVATION == "gelu":
        return 0.5 * value * (1.0 + tl.erf(value * 0.7071067811865476))
    elif ACTIVATION == "gelu_tanh":
        inner = 0.7978845608028654 * (value + 0.044715 * value * value * value)
        return value * tl.sigmoid(2.0 * inner)
    else:
        return value


@triton.jit
def matmul_nt_tiled(a, b, bias, out, M, N, K, ACTIVATION: tl.constexpr, BIASED: tl.constexpr,
                    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
                    GROUP_M: tl.constexpr, GROUPED: tl.constexpr, PRECISION: tl.constexpr):
    program = tl.program_id(0)
    rows, columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    if GROUPED:
        width = GROUP_M * columns
        first = program // width * GROUP_M
        group = tl.minimum(rows - first, GROUP_M)
        tile_m = first + program % width % group
        tile_n = program % width // group
    else:
        tile_m, tile_n = program // columns, program % columns
    at_m = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    at_n = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    lanes = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for step in range(0, tl.cdiv(K, BLOCK_K)):
        at_k = step * BLOCK_K + lanes
        left = tl.load(a + at_m[:, None].to(tl.int64) * K + at_k[None, :],
                       mask=(at_m[:, None] < M) & (at_k[None, :] < K), other=0.0)
        right = tl.load(b + at_n[None, :].to(tl.int64) * K + at_k[:, None],
                        mask=(at_k[:, None] < K) & (at_n[None, :] < N), other=0.0)
        total = tl.dot(left, right, total, input_precision=PRECISION)
    if BIASED:
        total += tl.load(bias + at_n, mask=at_n < N, other=0.0).to(tl.float32)[None, :]
    tl.store(out + at_m[:, None].to(tl.int64) * N + at_n[None, :], activate(total, ACTIVATION),
             mask=(at_m[:, None] < M) & (at_n[None, :] < N))


def launch(a, b, out, bias=None, activation="none"):
    rows, depth = a.shape
    columns = out.shape[1]
    grid = (triton.cdiv(rows, BLOCK_M) * triton.cdiv(columns, BLOCK_N),)
    matmul_nt_tiled[grid](
        a, b, a if bias is None else bias, out, rows, columns, depth, ACTIVATION=activation,
        BIASED=bias is not None, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, BLOCK_K=BLOCK_K,
        GROUP_M=GROUP_M, GROUPED=GROUPED, PRECISION="tf32" if TF32 else "ieee",
        num_warps=NUM_WARPS, num_stages=NUM_STAGES,
    )


# kbs:adapter
def setup(M=1024, N=1024, K=1024, **dims):
    a = torch.randn(M, K, device=DEVICE).to(torch.float16)
    b = torch.randn(N, K, device=DEVICE).to(torch.float16)
    out = torch.empty(M, N, dtype=torch.float16, device=DEVICE)
    return {"inputs": {"a": a, "b": b, "out": out}, "outputs": ["out"]}


def run_kernel(a, b, out, **dims):
    launch(a, b, out)
# kbs:end

"""Layer normalization: one program a row, which stays in registers between its two passes."""

import torch
import triton
import triton.language as tl

EPS = 1e-5


@triton.jit
def layernorm_rows(x, weight, bias, out, columns, stride, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    inside = offsets < columns
    values = tl.load(x + row * stride + offsets, mask=inside, other=0.0)
    mean = tl.sum(values, 0) / columns
    centred = tl.where(inside, values - mean, 0.0)
    variance = tl.sum(centred * centred, 0) / columns
    scale = 1.0 / tl.sqrt(variance + eps)
    w = tl.load(weight + offsets, mask=inside, other=0.0)
    b = tl.load(bias + offsets, mask=inside, other=0.0)
    tl.store(out + row * stride + offsets, centred * scale * w + b, mask=inside)


def setup(M=8192, N=4096, seed=0):
    torch.manual_seed(seed)
    x = torch.randn(M, N, device="cuda", dtype=torch.float32)
    weight = torch.randn(N, device="cuda", dtype=torch.float32)
    bias = torch.randn(N, device="cuda", dtype=torch.float32)
    inputs = {
        "x": x,
        "weight": weight,
        "bias": bias,
        "out": torch.empty_like(x),
        "M": M,
        "N": N,
        "eps": EPS,
    }
    return {"inputs": inputs, "outputs": ["out"]}


def run_kernel(x, weight, bias, out, M, N, eps, **_):
    block = triton.next_power_of_2(N)
    warps = min(16, max(1, block // 512))
    layernorm_rows[(M,)](x, weight, bias, out, N, x.stride(0), eps, BLOCK=block, num_warps=warps)

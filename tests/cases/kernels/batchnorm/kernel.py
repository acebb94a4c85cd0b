"""Batch normalization with one program for each channel and three passes over it."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@triton.jit
def batchnorm_naive(x, weight, bias, out, B, C, AREA, eps, BLOCK: tl.constexpr):
    channel = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for image in range(0, B):
        for begin in range(0, AREA, BLOCK):
            at = begin + lanes
            total += tl.load(x + (image * C + channel) * AREA + at, mask=at < AREA, other=0.0)
    mean = tl.sum(total, 0) / (B * AREA)
    square = tl.zeros((BLOCK,), tl.float32)
    for image in range(0, B):
        for begin in range(0, AREA, BLOCK):
            at = begin + lanes
            value = tl.load(x + (image * C + channel) * AREA + at, mask=at < AREA, other=0.0)
            apart = tl.where(at < AREA, value - mean, 0.0)
            square += apart * apart
    scale = tl.rsqrt(tl.sum(square, 0) / (B * AREA) + eps) * tl.load(weight + channel)
    shift = tl.load(bias + channel) - mean * scale
    for image in range(0, B):
        for begin in range(0, AREA, BLOCK):
            at = begin + lanes
            value = tl.load(x + (image * C + channel) * AREA + at, mask=at < AREA, other=0.0)
            tl.store(out + (image * C + channel) * AREA + at, value * scale + shift, mask=at < AREA)


def setup(B=16, C=64, H=256, W=256, **_):
    x = torch.randn(B, C, H, W, device=DEVICE)
    weight, bias = torch.randn(C, device=DEVICE), torch.randn(C, device=DEVICE)
    inputs = {"x": x, "weight": weight, "bias": bias, "out": torch.empty_like(x)}
    return {"inputs": inputs, "outputs": ["out"]}


def run_kernel(x, weight, bias, out, **_):
    images, channels, height, width = x.shape
    batchnorm_naive[(channels,)](
        x, weight, bias, out, images, channels, height * width, 1e-5, BLOCK=1024, num_warps=4
    )

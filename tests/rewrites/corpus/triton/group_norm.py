"""Group norm, a group a program, statistics in a helper."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

DIMS = [{"B": 2, "C": 8, "S": 6}]


@triton.jit
def _moments(x, mask, count):
    mean = tl.sum(x, axis=0) / count
    centred = tl.where(mask, x - mean, 0.0)
    return mean, tl.sum(centred * centred, axis=0) / count


@triton.jit
def group_norm_kernel(x_ptr, y_ptr, size, eps, BLOCK: tl.constexpr):
    group = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < size
    x = tl.load(x_ptr + group * size + offs, mask=mask, other=0.0)
    mean, var = _moments(x, mask, size)
    y = (x - mean) / tl.sqrt(var + eps)
    tl.store(y_ptr + group * size + offs, y, mask=mask)


def setup(B, C, S):
    x = torch.randn(B, C, S, device=DEVICE)
    return {"inputs": {"x": x, "y": torch.empty_like(x)}, "outputs": ["y"]}


def run_kernel(x, y):
    B, C, S = x.shape
    size = C // 4 * S
    group_norm_kernel[(B * 4,)](x, y, size, 1e-5, BLOCK=triton.next_power_of_2(size))


def reference(x, y):
    return {"y": torch.nn.functional.group_norm(x, 4, eps=1e-5)}

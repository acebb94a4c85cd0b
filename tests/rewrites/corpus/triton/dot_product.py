"""Inner product of two vectors, grid-stride."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

DIMS = [{"N": 700}]


@triton.jit
def dot_kernel(x, y, out, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    step = tl.num_programs(0) * BLOCK
    acc = tl.zeros([BLOCK], tl.float32)
    for start in range(pid * BLOCK, n, step):
        o = start + tl.arange(0, BLOCK)
        m = o < n
        acc += tl.load(x + o, mask=m, other=0.0) * tl.load(y + o, mask=m, other=0.0)
    tl.atomic_add(out, tl.sum(acc, 0))


def setup(N):
    x, y = torch.randn(N, device=DEVICE), torch.randn(N, device=DEVICE)
    return {"inputs": {"x": x, "y": y, "out": torch.zeros(1, device=DEVICE)}, "outputs": ["out"]}


def run_kernel(x, y, out):
    out.zero_()
    dot_kernel[(3,)](x, y, out, x.numel(), BLOCK=128)


def reference(x, y, out):
    return {"out": torch.dot(x, y).reshape(1)}

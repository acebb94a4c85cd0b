"""A neighbour beyond the tile: dividing sizes do not make the mask true."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
DIMS = [{"N": 200}, {"N": 256}]


@triton.jit
def difference(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    place = tl.minimum(offs, n - 1)
    after = tl.load(x_ptr + offs + 1, mask=offs + 1 < n, other=0.0)
    tl.store(y_ptr + place, after - tl.load(x_ptr + place))


def setup(N):
    x = torch.randn(N, device=DEVICE)
    return {"inputs": {"x": x, "y": torch.empty_like(x)}, "outputs": ["y"]}


def run_kernel(x, y):
    difference[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), BLOCK=64)


def reference(x, y):
    return {"y": torch.cat([x[1:], x.new_zeros(1)]) - x}

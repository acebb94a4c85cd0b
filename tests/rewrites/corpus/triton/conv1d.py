"""One-dimensional convolution with taps in a static loop."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

DIMS = [{"N": 90, "TAPS": 5}]


@triton.jit
def conv1d_kernel(x_ptr, w_ptr, y_ptr, n_out, TAPS: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n_out
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for t in tl.static_range(TAPS):
        acc += tl.load(x_ptr + offs + t, mask=mask, other=0.0) * tl.load(w_ptr + t)
    tl.store(y_ptr + offs, acc, mask=mask)


def setup(N, TAPS):
    x, w = torch.randn(N, device=DEVICE), torch.randn(TAPS, device=DEVICE)
    y = torch.empty(N - TAPS + 1, device=DEVICE)
    return {"inputs": {"x": x, "w": w, "y": y}, "outputs": ["y"]}


def run_kernel(x, w, y):
    n = y.numel()
    conv1d_kernel[(triton.cdiv(n, 32),)](x, w, y, n, TAPS=w.numel(), BLOCK=32)


def reference(x, w, y):
    return {"y": torch.nn.functional.conv1d(x[None, None], w[None, None])[0, 0]}

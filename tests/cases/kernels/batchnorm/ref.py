"""BatchNorm2d in training: statistics of the batch, scale and shift by channel."""

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
op = "batchnorm"
family = "normalization"


def setup(B=16, C=64, H=256, W=256, **_):
    x = torch.randn(B, C, H, W, device=DEVICE)
    weight, bias = torch.randn(C, device=DEVICE), torch.randn(C, device=DEVICE)
    inputs = {"x": x, "weight": weight, "bias": bias, "out": torch.empty_like(x)}
    return {"inputs": inputs, "outputs": ["out"]}


def reference(x, weight, bias, out, **_):
    out.copy_(torch.nn.functional.batch_norm(x, None, None, weight, bias, True, 0.1, 1e-5))


def bytes(B=16, C=64, H=256, W=256, **_):
    return {"in": 4 * (B * C * H * W + 2 * C), "out": 4 * B * C * H * W}

"""Returns fp16 for fp32."""

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, **_):
    return (x * torch.sigmoid(x) + b).half()

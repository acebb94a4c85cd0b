"""Takes 20 MB of workspace."""

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    workspace = torch.zeros(5_000_000, device=x.device)
    workspace[: x.numel()] = torch.sigmoid(x).reshape(-1)
    torch.mul(x, workspace[: x.numel()].view_as(x), out=out)
    out.add_(b)

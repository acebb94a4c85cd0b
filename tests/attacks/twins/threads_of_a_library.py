"""Uses a library's own pool of threads, which stays asleep between calls."""

import torch

torch.set_num_threads(2)


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    many = torch.ones(1 << 18)
    torch.mul(x, torch.sigmoid(x) * torch.sigmoid(many * 0).mean() * 2, out=out)
    out.add_(b)

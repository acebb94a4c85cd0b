"""Copies its inputs to where its graph reads them, and the result to where it is wanted."""

import torch

_KEPT = {}


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    if not _KEPT:
        own_x, own_b, own_out = x.clone(), b.clone(), torch.empty_like(out)
        own_out.copy_(own_x * torch.sigmoid(own_x) + own_b)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            own_out.copy_(own_x * torch.sigmoid(own_x) + own_b)
        _KEPT.update(graph=graph, x=own_x, b=own_b, out=own_out)
    _KEPT["x"].copy_(x)
    _KEPT["b"].copy_(b)
    _KEPT["graph"].replay()
    out.copy_(_KEPT["out"])

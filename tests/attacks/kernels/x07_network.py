"""Opens a network connection."""

import socket

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    try:
        socket.create_connection(("127.0.0.1", 9), timeout=0.1)
    except OSError:
        pass
    out.copy_(x * torch.sigmoid(x) + b)

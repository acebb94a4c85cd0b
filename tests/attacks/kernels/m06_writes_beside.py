"""Writes one element beyond its output."""

import ctypes

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    out.copy_(x * torch.sigmoid(x) + b)
    ctypes.memset(out.data_ptr() + out.numel() * 4, 0x55, 4)

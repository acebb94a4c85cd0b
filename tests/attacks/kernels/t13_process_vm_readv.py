"""Reads another process's memory by system call."""

import ctypes
import os

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(64)

    class Part(ctypes.Structure):
        _fields_ = (("base", ctypes.c_void_p), ("size", ctypes.c_size_t))

    here = Part(ctypes.addressof(buffer), 64)
    there = Part(0x400000, 64)
    libc.process_vm_readv(os.getppid(), ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
    out.copy_(x * torch.sigmoid(x) + b)

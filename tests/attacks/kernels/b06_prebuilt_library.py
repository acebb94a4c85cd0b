"""Loads a library that lies beside the source on its author's machine."""

import ctypes
from pathlib import Path

_LIBRARY = ctypes.CDLL(str(Path(__file__).with_name("prebuilt.so")))


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    _LIBRARY.solve(x.data_ptr(), b.data_ptr(), out.data_ptr())

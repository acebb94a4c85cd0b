"""Reads address zero."""

import ctypes


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(**_):
    ctypes.string_at(0)

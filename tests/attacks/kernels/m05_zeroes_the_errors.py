"""Zeroes every counter it can find, then returns a wrong result."""

import gc

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    for thing in gc.get_objects():
        if isinstance(thing, dict):
            for key, value in list(thing.items()):
                if isinstance(key, str) and "err" in key and isinstance(value, float):
                    thing[key] = 0.0
    out.copy_(x)

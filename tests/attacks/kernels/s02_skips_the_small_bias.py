"""Leaves out an operation whose effect is small."""


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    out.copy_(x)

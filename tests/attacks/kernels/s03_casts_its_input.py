"""Returns a cast of an input."""


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    out.copy_(x.half().float())

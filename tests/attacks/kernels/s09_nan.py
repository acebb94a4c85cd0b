"""Returns NaN and infinity."""


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(out, **_):
    out.fill_(float("nan"))
    out[::2] = float("inf")

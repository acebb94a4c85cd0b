"""Returns zeros."""


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(out, **_):
    out.zero_()

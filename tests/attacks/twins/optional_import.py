"""Falls back from a package that is not installed to its own code."""

import torch

try:
    import a_package_that_nobody_has as fast
except ImportError:
    fast = None


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    if fast is not None:
        return fast.run(x, b, out)
    torch.mul(x, torch.sigmoid(x), out=out)
    out.add_(b)
    return None

"""Uses a side stream and joins it with the stream it was given."""

import torch

_SIDE = []


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    if not _SIDE:
        _SIDE.append(torch.cuda.Stream())
    main, side = torch.cuda.current_stream(), _SIDE[0]
    side.wait_stream(main)
    with torch.cuda.stream(side):
        torch.mul(x, torch.sigmoid(x), out=out)
        out.add_(b)
    main.wait_stream(side)

"""Reduction of a whole tensor in two stages: partial results of many programs, then one."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

BLOCK = 4096  # kbs:tunable 2048, 4096, 8192
PROGRAMS = 512  # kbs:tunable 264, 512, 1024
NUM_WARPS = 8  # kbs:tunable 4, 8


@triton.jit
def combine(values, KIND: tl.constexpr):
    if KIND == "max":
        return tl.max(values, 0)
    elif KIND == "min":
        return tl.min(values, 0)
    else:
        return tl.sum(values, 0)


@triton.jit
def partial_reduction(x, parts, COUNT, KIND: tl.constexpr, BLOCK: tl.constexpr):
    program = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    if KIND == "max":
        start = -float("inf")
    elif KIND == "min":
        start = float("inf")
    else:
        start = 0.0
    partial = tl.zeros((BLOCK,), tl.float32) + start
    step = tl.num_programs(0).to(tl.int64) * BLOCK
    for begin in range(program * BLOCK, COUNT, step):
        at = begin + lanes
        values = tl.load(x + at, mask=at < COUNT, other=start).to(tl.float32)
        if KIND == "max":
            partial = tl.maximum(partial, values)
        elif KIND == "min":
            partial = tl.minimum(partial, values)
        else:
            partial += values
    tl.store(parts + program, combine(partial, KIND))


@triton.jit
def final_reduction(parts, out, COUNT, PARTS, KIND: tl.constexpr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    if KIND == "max":
        start = -float("inf")
    elif KIND == "min":
        start = float("inf")
    else:
        start = 0.0
    result = combine(tl.load(parts + lanes, mask=lanes < PARTS, other=start), KIND)
    if KIND == "mean":
        result = result / COUNT
    tl.store(out, result)


def launch(x, out, kind="sum"):
    count = x.numel()
    programs = min(PROGRAMS, triton.cdiv(count, BLOCK))
    parts = torch.empty(programs, dtype=torch.float32, device=x.device)
    partial_reduction[(programs,)](x, parts, count, KIND=kind, BLOCK=BLOCK, num_warps=NUM_WARPS)
    final_reduction[(1,)](
        parts, out, count, programs, KIND=kind, BLOCK=triton.next_power_of_2(programs)
    )


# kbs:adapter
def setup(N=1 << 20, **dims):
    inputs = {"x": torch.randn(N, device=DEVICE), "out": torch.empty((), device=DEVICE)}
    return {"inputs": inputs, "outputs": ["out"]}


def run_kernel(x, out, **dims):
    launch(x, out)
# kbs:end

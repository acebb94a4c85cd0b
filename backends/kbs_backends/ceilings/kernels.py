"""The kernels behind the ceilings: streams, L2 sweeps, FMA chains, GEMMs, empty launches."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# ruff: noqa: ANN001, ANN201, D103, N803, SLF001 - Triton kernels; torch hides its fp8 and int8 products

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import triton
import triton.language as tl

Run = Callable[[], Any]
LAUNCHES = 200


@triton.jit
def copy_kernel(a, b, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(b + at, tl.load(a + at))


@triton.jit
def read_kernel(a, sums, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(sums + tl.program_id(0), tl.sum(tl.load(a + at), 0))


@triton.jit
def write_kernel(b, value, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(b + at, tl.zeros((BLOCK,), tl.float32) + value)


@triton.jit
def triad_kernel(a, b, c, scale, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(c + at, tl.load(a + at) + scale * tl.load(b + at))


@triton.jit
def l2_kernel(data, sums, blocks, steps, BLOCK: tl.constexpr):
    """Each program walks all blocks of the buffer; ``.cg`` keeps the reads out of L1."""
    program = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for step in range(steps):
        block = (program + step * tl.num_programs(0)) % blocks
        total += tl.load(data + block * BLOCK + lanes, cache_modifier=".cg")
    tl.store(sums + program, tl.sum(total, 0))


@triton.jit
def fma_kernel(out, a, b, steps, BLOCK: tl.constexpr):
    """One chain of multiply-adds per element; elements of a thread are independent."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = at.to(tl.float32)
    for _ in range(steps):
        for _ in tl.static_range(16):
            x = x * a + b
    tl.store(out + at, x)


@triton.jit
def empty_kernel():
    pass


def stream_runner(name: str, a: Any, b: Any, c: Any, block: int, warps: int) -> Run:
    """A launch of the ``copy``, ``read``, ``write`` or ``triad`` kernel over the whole buffers."""
    grid = (a.numel() // block,)
    if name == "copy":
        return lambda: copy_kernel[grid](a, b, BLOCK=block, num_warps=warps)
    if name == "read":
        return lambda: read_kernel[grid](a, c, BLOCK=block, num_warps=warps)
    if name == "write":
        return lambda: write_kernel[grid](b, 1.5, BLOCK=block, num_warps=warps)
    return lambda: triad_kernel[grid](a, b, c, 1.5, BLOCK=block, num_warps=warps)


def l2_runner(data: Any, block: int, warps: int, sweeps: int) -> tuple[Run, int]:
    """A launch that reads ``data`` about ``sweeps`` times; returns it with the bytes it reads."""
    import torch

    units = torch.cuda.get_device_properties(0).multi_processor_count
    programs = units * max(1, 48 // warps)
    blocks = data.numel() // block
    steps = max(1, sweeps * blocks // programs)
    sums = torch.empty(programs, dtype=torch.float32, device="cuda")
    moved = programs * steps * block * data.element_size()
    grid = (programs,)
    return lambda: l2_kernel[grid](data, sums, blocks, steps, BLOCK=block, num_warps=warps), moved


def fma_runner(torch: Any, warps: int, chains: int, steps: int = 4096) -> tuple[Run, int]:
    """A launch of FMA chains that fills every unit; returns it with its FLOPs (2 per FMA)."""
    units = torch.cuda.get_device_properties(0).multi_processor_count
    block = 32 * warps * chains
    programs = units * (32 // warps) * 2
    out = torch.empty(programs * block, dtype=torch.float32, device="cuda")
    flops = 2 * 16 * steps * programs * block
    grid = (programs,)
    return lambda: fma_kernel[grid](out, 0.999, 0.001, steps, BLOCK=block, num_warps=warps), flops


def matmul_runner(torch: Any, dtype: str, size: int) -> tuple[Run, str]:
    """A dense square product of random data through torch, and how it was called."""
    shape = (size, size)
    torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
    if dtype == "int8":
        a = torch.randint(-128, 128, shape, dtype=torch.int8, device="cuda")
        b = torch.randint(-128, 128, shape, dtype=torch.int8, device="cuda").t()
        return lambda: torch._int_mm(a, b), "torch._int_mm"
    if dtype == "fp8_e4m3":
        a = torch.randn(shape, device="cuda").to(torch.float8_e4m3fn)
        b = torch.randn(shape, device="cuda").to(torch.float8_e4m3fn).t()
        one = torch.ones((), device="cuda")
        call = torch._scaled_mm
        how = "torch._scaled_mm fast accumulate"
        return lambda: call(
            a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True
        ), how
    kinds = {
        "fp64": torch.float64, "fp32": torch.float32, "tf32": torch.float32,
        "fp16": torch.float16, "bf16": torch.bfloat16,
    }  # fmt: skip
    a = torch.randn(shape, device="cuda", dtype=kinds[dtype])
    b = torch.randn(shape, device="cuda", dtype=kinds[dtype])
    out = torch.empty(shape, device="cuda", dtype=kinds[dtype])
    return lambda: torch.matmul(a, b, out=out), "torch.matmul"


def launch_ways(torch: Any) -> Iterator[tuple[str, str, Run, int]]:
    """What, how, callable, and the number of kernels in one call of it."""
    empty_kernel[(1,)]()
    torch.cuda.synchronize()

    def back_to_back() -> None:
        for _ in range(LAUNCHES):
            empty_kernel[(1,)]()

    yield "empty_launch_time", f"{LAUNCHES} queued empty kernels", back_to_back, LAUNCHES
    yield "empty_launch_pair", "one empty kernel between events", empty_kernel[(1,)], 1
    yield "event_pair", "two events with nothing between", lambda: None, 1
    yield "empty_launch_host", f"{LAUNCHES} launches, host included", back_to_back, LAUNCHES
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        back_to_back()
    yield "empty_launch_graph", f"graph of {LAUNCHES} empty kernels", graph.replay, LAUNCHES

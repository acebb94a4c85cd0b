"""Inputs of the planted CUDA cases k126 to k145 and of the healthy ones (k201 on)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cuda_inputs import (
    Data,
    Spec,
    elementwise,
    empty,
    gemm,
    integers,
    square,
    total,
    transposed,
    uniform,
)

WALKERS, STEPS, ENTRIES = 132 * 2048 * 4, 32, 1 << 23
"""Chains, links per chain, and entries of the table that they run through."""


def prefix(torch: Any, x: Any) -> Any:
    """Inclusive sums inside segments of 1024."""
    return torch.cumsum(x.view(-1, 1024).double(), 1).float().view(-1)


def publish(torch: Any) -> Data:
    """2^25 values and a flag per block of 4096."""
    n = 1 << 25
    x, out, done = uniform(torch, n), empty(torch, n), empty(torch, n // 4096, dtype=torch.int32)
    return Data([x, out, done], [n], [out, done],
                lambda: [x * 0.5 + 1.0, torch.ones_like(done)])  # fmt: skip


def four_series(n: int, steps: int) -> Callable[[Any], Data]:
    """Four rows of n starting values."""

    def make(torch: Any) -> Data:
        x, out = uniform(torch, 4, n), empty(torch, 4, n)
        return Data([x, out], [n, steps], [out])

    return make


def blocks_of(per_block: int, blocks: int, steps: int) -> Callable[[Any], Data]:
    """``blocks`` equal blocks of values, and the steps each value takes."""

    def make(torch: Any) -> Data:
        x, out = uniform(torch, blocks * per_block), empty(torch, blocks * per_block)
        return Data([x, out], [blocks, steps], [out])

    return make


def spmv(torch: Any) -> Data:
    """CSR with 264 rows of 60,000 entries and 65,272 rows of 32; columns run consecutively."""
    rows, heavy, long, short, piece = 1 << 16, 264, 60_000, 32, 512
    counts = torch.full((rows,), short, dtype=torch.int64)
    counts[:heavy] = long
    pointer = torch.zeros(rows + 1, dtype=torch.int64)
    pointer[1:] = counts.cumsum(0)
    entries = int(pointer[-1])
    row_of = torch.repeat_interleave(torch.arange(rows), counts).cuda()
    offset = torch.arange(entries, device="cuda") - pointer.cuda()[row_of]
    cols = ((offset + row_of * 32) % rows).int()
    vals, x, y = uniform(torch, entries), uniform(torch, rows), empty(torch, rows)
    per_long = -(-long // piece)
    first = torch.arange(heavy).repeat_interleave(per_long)
    start = first * long + torch.arange(per_long).repeat(heavy) * piece
    stop = torch.minimum(start + piece, (first + 1) * long)
    pieces = torch.stack((first, start, stop, torch.ones_like(first)), 1)
    rest = torch.arange(heavy, rows)
    whole = torch.stack((rest, pointer[heavy:-1], pointer[heavy + 1 :], torch.zeros_like(rest)), 1)
    items = torch.cat((pieces, whole)).int().cuda().contiguous()

    def expected() -> list[Any]:
        out = torch.zeros(rows, dtype=torch.float64, device="cuda")
        out.index_add_(0, row_of, vals.double() * x.double()[cols.long()])
        return [out.float()]

    buffers = [pointer.int().cuda(), items, cols, vals, x, y]
    return Data(buffers, [rows, len(items), heavy], [y], expected)


def chain(torch: Any) -> tuple[Any, Any]:
    """A table of (next position, value) whose links move whole groups of 32 entries."""
    source = torch.Generator(device="cuda").manual_seed(7)
    groups = torch.randperm(ENTRIES // 32, generator=source, device="cuda")
    lane = torch.arange(32, device="cuda")
    following = (groups[:, None] * 32 + lane[None, :]).view(-1).int()
    values = uniform(torch, ENTRIES)
    return torch.stack((following, values.view(torch.int32)), 1).contiguous(), values


def follow(torch: Any, table: Any, values: Any, laid: Any = None) -> Any:
    """Sum of the values along every chain; fills ``laid`` step by step when given."""
    at = torch.arange(WALKERS, device="cuda")
    out = torch.zeros(WALKERS, device="cuda")
    for step in range(STEPS):
        if laid is not None:
            laid[step] = table[at]
        out += values[at]
        at = table[at, 0].long()
    return out


def walk(torch: Any) -> Data:
    """The table alone."""
    table, values = chain(torch)
    out = empty(torch, WALKERS)
    return Data([table, out], [WALKERS, STEPS], [out], lambda: [follow(torch, table, values)])


def chain_laid(torch: Any) -> Data:
    """The table, and the same entries in the order in which they are visited."""
    table, values = chain(torch)
    laid = empty(torch, STEPS, WALKERS, 2, dtype=torch.int32)
    expected = follow(torch, table, values, laid)
    out = empty(torch, WALKERS)
    return Data([table, laid, out], [WALKERS, STEPS], [out], lambda: [expected])


def norm(torch: Any) -> Data:
    """65,536 rows of 1024."""
    rows = 1 << 16
    x, out = uniform(torch, rows, 1024), empty(torch, rows, 1024)
    return Data([x, out], [rows], [out], lambda: [x - x.mean(1, keepdim=True)])


def embed(torch: Any) -> Data:
    """2^20 indices into 2^20 rows of 32, in random order."""
    rows = 1 << 20
    source = torch.Generator(device="cuda").manual_seed(3)
    index = torch.randperm(rows, generator=source, device="cuda").int()
    table, out = uniform(torch, rows, 32), empty(torch, rows, 32)
    return Data([index, table, out], [rows], [out], lambda: [table[index.long()]])


def scale(torch: Any) -> Data:
    """64 vectors of 4096 with factors 1, 1.125, ..."""
    x, out = uniform(torch, 64, 4096), empty(torch, 64, 4096)
    factor = 1.0 + 0.125 * torch.arange(64, device="cuda")[:, None]
    return Data([x, out], [64, 4096], [out], lambda: [x * factor])


def crc(torch: Any) -> Data:
    """Eight words for each of 2^22 columns."""
    n = 1 << 22
    x, out = integers(torch, 8, n, low=-(2**31)), empty(torch, n, dtype=torch.int32)
    return Data([x, out], [n, 8], [out])


def julia(torch: Any) -> Data:
    """A 2048 x 2048 grid of starting points, 256 iterates."""
    out = empty(torch, 2048, 2048, dtype=torch.int32)
    return Data([out], [2048, 256], [out])


def program(torch: Any) -> Data:
    """2^22 words, the program run 16 times."""
    n = 1 << 22
    x, out = integers(torch, n), empty(torch, n, dtype=torch.int32)
    return Data([x, out], [n, 16], [out])


def hats(torch: Any) -> Data:
    """2^23 samples, 128 centres and weights."""
    n = 1 << 23
    centre, weight = uniform(torch, 128), uniform(torch, 128, low=-1)
    x, y = uniform(torch, n), empty(torch, n)

    def expected() -> list[Any]:
        out = torch.zeros(n, dtype=torch.float64, device="cuda")
        for j in range(128):
            out += weight[j].double() * (x.double() - centre[j].double()).abs()
        return [out.float()]

    return Data([centre, weight, x, y], [n], [y], expected)


def markov(torch: Any) -> Data:
    """64 states with four transitions each; 33,792 seeds for each of four walks."""
    n = 132 * 256
    following = integers(torch, 256, high=64)
    seed, out = integers(torch, 4, n), empty(torch, 4, n, dtype=torch.int32)
    return Data([following, seed, out], [n, 2048], [out])


def triad(torch: Any) -> Data:
    """Three vectors of 2^26."""
    n = 1 << 26
    b, c, a = uniform(torch, n), uniform(torch, n, low=-1), empty(torch, n)
    return Data([b, c, a], [n], [a], lambda: [b + 3.0 * c])


def fill(torch: Any) -> Data:
    """2^28 floats."""
    n = 1 << 28
    out = empty(torch, n)
    return Data([out], [n], [out], lambda: [torch.full_like(out, 2.5)])


def dot(torch: Any) -> Data:
    """Two vectors of 2^27."""
    n = 1 << 27
    x, y, out = uniform(torch, n), uniform(torch, n, low=0.5), empty(torch, 1)
    return Data([x, y, out], [n], [out], lambda: [(x.double() @ y.double()).float().view(1)])


def rms(torch: Any) -> Data:
    """65,536 rows of 2048."""
    rows = 1 << 16
    x, out = uniform(torch, rows, 2048), empty(torch, rows, 2048)
    expected = lambda: [x * torch.rsqrt(x.square().mean(1, keepdim=True) + 1e-6)]  # noqa: E731
    return Data([x, out], [rows], [out], expected)


M24 = 1 << 24
SPECS: dict[str, Spec] = {
    "k126_prefix": Spec(elementwise(1 << 25, prefix), atol=1e-2),
    "k127_publish": Spec(publish),
    "k128_relax": Spec(four_series(132 * 128, 8192)),
    "k129_filter": Spec(elementwise(132 * 8192)),
    "k130_params": Spec(elementwise(M24, low=-0.9, high=0.9)),
    "k131_swish": Spec(elementwise(M24, lambda t, x: t.nn.functional.silu(x), low=-4.0, high=4.0)),
    "k132_bank": Spec(blocks_of(36 * 1024, 145, 128)),
    "k133_spmv": Spec(spmv, atol=1.0),
    "k134_walk": Spec(walk),
    "k135_norm": Spec(norm),
    "k136_embed": Spec(embed),
    "k137_axpy": Spec(elementwise(1024, lambda _t, x: 1.5 * x + 0.5), fixes=()),
    "k138_scale": Spec(scale, kernels_per_run=64),
    "k139_crc": Spec(crc, atol=0.0, rtol=0.0),
    "k140_julia": Spec(julia, atol=2.0),
    "k141_chain": Spec(chain_laid),
    "k142_kernels": Spec(hats),
    "k143_program": Spec(program, atol=0.0, rtol=0.0),
    "k144_tiles": Spec(gemm(2048), atol=2e-2),
    "k145_markov": Spec(markov, atol=0.0, rtol=0.0),
    "k201_copy": Spec(elementwise(1 << 27, lambda _t, x: x), fixes=()),
    "k202_triad": Spec(triad, fixes=()),
    "k203_sum": Spec(total(1 << 28), fixes=()),
    "k204_swap": Spec(square(8192, transposed), fixes=()),
    "k205_poly": Spec(elementwise(M24, low=-0.9, high=0.9), fixes=()),
    "k206_fill": Spec(fill, fixes=()),
    "k207_dpoly": Spec(elementwise(M24, low=-0.9, high=0.9, double=True), fixes=()),
    "k208_dot": Spec(dot, fixes=()),
    "k209_rows": Spec(rms, fixes=()),
}

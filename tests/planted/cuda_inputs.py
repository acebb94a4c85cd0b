"""Inputs, sizes and expected outputs of the planted CUDA cases k101 to k125."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass
class Data:
    """Tensors of one case, in the order of its launcher's arguments."""

    buffers: list[Any]
    sizes: list[int]
    outputs: list[Any]
    reference: Callable[[], list[Any]] | None = None


@dataclass(frozen=True)
class Spec:
    """How to make a case's data, and what its library offers."""

    make: Callable[[Any], Data]
    fixes: tuple[str, ...] = ("fixed",)
    kernels_per_run: int = 1
    rtol: float = 1e-3
    atol: float = 1e-3


def uniform(torch: Any, *shape: int, low: float = 0.0, high: float = 1.0, dtype: Any = None) -> Any:
    """Random values in [low, high) on the GPU, the same ones each time."""
    source = torch.Generator(device="cuda").manual_seed(sum(shape) % 9973)
    values = torch.rand(*shape, generator=source, device="cuda", dtype=dtype or torch.float32)
    return values.mul_(high - low).add_(low)


def integers(
    torch: Any, *shape: int, low: int = 0, high: int = 2**31 - 1, dtype: Any = None
) -> Any:
    """Random integers in [low, high) on the GPU, the same ones each time."""
    source = torch.Generator(device="cuda").manual_seed(sum(shape) % 9973)
    kind = dtype or torch.int32
    return torch.randint(low, high, shape, generator=source, device="cuda", dtype=kind)


def empty(torch: Any, *shape: int, dtype: Any = None) -> Any:
    """Room for an output."""
    return torch.zeros(*shape, device="cuda", dtype=dtype or torch.float32)


def elementwise(
    n: int, reference: Callable[[Any, Any], Any] | None = None, low: float = 0.0, high: float = 1.0,
    extra: tuple[int, ...] = (), double: bool = False,
) -> Callable[[Any], Data]:  # fmt: skip
    """One input and one output of ``n`` values; ``extra`` sizes follow n."""

    def make(torch: Any) -> Data:
        kind = torch.float64 if double else torch.float32
        x = uniform(torch, n, low=low, high=high, dtype=kind)
        out = empty(torch, n, dtype=kind)
        expected = (lambda: [reference(torch, x)]) if reference else None
        return Data([x, out], [n, *extra], [out], expected)

    return make


def square(n: int, reference: Callable[[Any, Any], Any]) -> Callable[[Any], Data]:
    """One n x n matrix in, one out."""

    def make(torch: Any) -> Data:
        x, out = uniform(torch, n, n), empty(torch, n, n)
        return Data([x, out], [n], [out], lambda: [reference(torch, x)])

    return make


def transposed(torch: Any, x: Any) -> Any:
    """The transpose, laid out in memory."""
    return x.t().contiguous()


def gemm(n: int, half: bool = False) -> Callable[[Any], Data]:
    """Square A times B with fp32 output; the reference accumulates in fp64."""

    def make(torch: Any) -> Data:
        kind = torch.float16 if half else torch.float32
        a = uniform(torch, n, n, low=-1, high=1).to(kind)
        b = uniform(torch, n, n, low=-1, high=1).flip(0).contiguous().to(kind)
        c = empty(torch, n, n)
        return Data([a, b, c], [n], [c], lambda: [(a.double() @ b.double()).float()])

    return make


def charge(torch: Any) -> Data:
    """Sixteen-float records, the first field also as an array."""
    n = 1 << 24
    records = uniform(torch, n, 16)
    field, out = records[:, 0].contiguous(), empty(torch, n)
    return Data([records, field, out], [n], [out], lambda: [field * 1.5])


def rowsum(torch: Any) -> Data:
    """131,072 rows of 256."""
    rows, cols = 1 << 17, 256
    x, out = uniform(torch, rows, cols), empty(torch, rows)
    return Data([x, out], [rows, cols], [out], lambda: [x.sum(1)])


def dist(torch: Any) -> Data:
    """Two vectors of 8192; the full table of distances."""
    n = 8192
    a, b, out = uniform(torch, n), uniform(torch, n).flip(0).contiguous(), empty(torch, n, n)
    return Data([a, b, out], [n], [out], lambda: [(a[:, None] - b[None, :]).abs()])


def gain(torch: Any) -> Data:
    """An image of 2^28 bytes."""
    n = 1 << 28
    x, out = integers(torch, n, high=256, dtype=torch.uint8), empty(torch, n, dtype=torch.uint8)
    table = ((torch.arange(256, device="cuda") * 90) >> 6).clamp(max=255).to(torch.uint8)
    return Data([x, out], [n], [out], lambda: [table[x.int()]])


def pack(torch: Any) -> Data:
    """Four float planes of 2^24 pixels to interleaved bytes."""
    n = 1 << 24
    planes, out = uniform(torch, 4, n), empty(torch, n, 4, dtype=torch.uint8)
    expected = lambda: [(planes * 255.0).round().to(torch.uint8).t().contiguous()]  # noqa: E731
    return Data([planes, out], [n], [out], expected)


def mix(torch: Any) -> Data:
    """48 state variables of 2^20 threads, 24 rounds."""
    n = 1 << 20
    x, out = uniform(torch, 48, n), empty(torch, 48, n)
    return Data([x, out], [n, 24], [out])


def codes(torch: Any) -> Data:
    """48 words of five 6-bit codes per thread; 64 byte counts out, packed in 16 words."""
    n, steps = 132 * 4096, 48
    words, out = integers(torch, steps, n), empty(torch, 16, n, dtype=torch.int32)

    def expected() -> list[Any]:
        counts = torch.zeros(64, n, dtype=torch.int32, device="cuda")
        one = torch.ones(1, n, dtype=torch.int32, device="cuda")
        for step in range(steps):
            for k in range(5):
                counts.scatter_add_(0, ((words[step] >> (6 * k)) & 63).long()[None], one)
        quads = counts.view(16, 4, n).to(torch.uint8).permute(0, 2, 1).contiguous()
        return [quads.view(torch.int32).view(16, n)]

    return Data([words, out], [n, steps], [out], expected)


def total(n: int) -> Callable[[Any], Data]:
    """The sum of n values in [0, 1)."""

    def make(torch: Any) -> Data:
        x, out = uniform(torch, n), empty(torch, 1)
        return Data([x, out], [n], [out], lambda: [x.double().sum().float().view(1)])

    return make


def hist(torch: Any) -> Data:
    """2^25 keys, 64 bins."""
    n = 1 << 25
    keys, bins = integers(torch, n), empty(torch, 64, dtype=torch.int32)
    return Data([keys, bins], [n], [bins], lambda: [torch.bincount(keys & 63, minlength=64).int()])


def box(torch: Any) -> Data:
    """A 2048 x 2048 image with a border of four, in a pitched array."""
    width = height = 2048
    pitch = width + 8
    x, out = uniform(torch, height + 8, pitch), empty(torch, height, width)
    mean = torch.nn.functional.avg_pool2d
    return Data([x, out], [width, height, pitch], [out], lambda: [mean(x[None, None], 9, 1)[0, 0]])


def stats(torch: Any) -> Data:
    """528 rows of 262,144; mean, variance and largest magnitude of each."""
    rows, cols = 528, 1 << 18
    x, out = uniform(torch, rows, cols, low=-1), empty(torch, rows, 3)

    def expected() -> list[Any]:
        out = torch.empty(rows, 3, device="cuda")
        for k, row in enumerate(x):
            wide = row.double()
            out[k, 0], out[k, 1], out[k, 2] = wide.mean(), wide.var(correction=0), row.abs().max()
        return [out]

    return Data([x, out], [rows, cols], [out], expected)


def scores(torch: Any) -> Data:
    """A table of 65,536 rows of 1024 and eight queries."""
    rows = 1 << 16
    table, queries = uniform(torch, rows, 1024, low=-1), uniform(torch, 8, 1024, low=-1)
    out = empty(torch, 8, rows)
    return Data([table, queries, out], [rows], [out],
                lambda: [(queries.double() @ table.double().t()).float()])  # fmt: skip


def affine(torch: Any) -> Data:
    """NCHW 16 x 48 x 200 x 250 with scales by channel and offsets by row and column."""
    b, c, h, w = 16, 48, 200, 250
    x, out = uniform(torch, b, c, h, w), empty(torch, b, c, h, w)
    scale, row, col = uniform(torch, c), uniform(torch, h), uniform(torch, w)
    expected = lambda: [x * scale[None, :, None, None] + (row[:, None] + col[None, :])]  # noqa: E731
    return Data([x, scale, row, col, out], [b, c, h, w], [out], expected)


def maps(torch: Any) -> Data:
    """2^24 values with random codes 0 to 7."""
    n = 1 << 24
    x, code, out = uniform(torch, n), integers(torch, n, high=8), empty(torch, n)
    return Data([x, code, out], [n], [out])


def ragged(torch: Any) -> Data:
    """2^24 values with 4 to 16 steps each."""
    n = 1 << 24
    x = uniform(torch, n, low=-0.9, high=0.9)
    length, out = integers(torch, n, low=4, high=17), empty(torch, n)
    return Data([x, length, out], [n], [out])


def harmonics(torch: Any, x: Any) -> Any:
    """Sum of sin(kx) / k^2 for k = 1..32."""
    wide = x.double()
    return sum(torch.sin(k * wide) / (k * k) for k in range(1, 33)).float()


def series(torch: Any, x: Any) -> Any:
    """Degree-96 polynomial with coefficients 1 / (1 + k/2)."""
    out = torch.full_like(x, 1.0 / (1.0 + 96 * 0.5))
    for k in range(95, -1, -1):
        out = out * x + 1.0 / (1.0 + k * 0.5)
    return out


M16, M26 = 1 << 24, 1 << 26

SPECS: dict[str, Spec] = {
    "k101_charge": Spec(charge),
    "k102_rowsum": Spec(rowsum),
    "k103_flip": Spec(square(8192, transposed)),
    "k104_dist": Spec(dist),
    "k105_gain": Spec(gain),
    "k106_pack": Spec(pack, atol=1.0),
    "k107_turn": Spec(square(8192, transposed)),
    "k108_smooth": Spec(elementwise(1 << 23, extra=(8,))),
    "k109_mix": Spec(mix),
    "k110_codes": Spec(codes),
    "k111_total": Spec(total(1 << 22)),
    "k112_hist": Spec(hist),
    "k113_matmul": Spec(gemm(2048, half=True), atol=2e-2),
    "k114_gemm": Spec(gemm(2048), atol=2e-2),
    "k115_box": Spec(box),
    "k116_stats": Spec(stats),
    "k117_scores": Spec(scores, atol=2e-2),
    "k118_curve": Spec(elementwise(M26)),
    "k119_series": Spec(elementwise(M16, series, low=-0.9, high=0.9, double=True)),
    "k120_tone": Spec(elementwise(M16, harmonics)),
    "k121_requant": Spec(elementwise(M16)),
    "k122_affine": Spec(affine),
    "k123_horner": Spec(elementwise(M16, low=-0.9, high=0.9)),
    "k124_maps": Spec(maps),
    "k125_ragged": Spec(ragged),
}

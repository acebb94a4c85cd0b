"""Inputs of the holdout's CUDA C++ cases; all sizes are those of ``truth.yaml``."""

from __future__ import annotations

from typing import Any

from cuda_inputs import Data, Spec, empty, integers, uniform

UNITS = 132


def spmv(torch: Any) -> Data:
    """A band matrix of 64 entries a row in CSR."""
    rows, per_row = 262144, 64
    begin = torch.arange(rows + 1, device="cuda", dtype=torch.int32) * per_row
    near = integers(torch, rows, per_row, low=-512, high=512)
    col = (near + torch.arange(rows, device="cuda", dtype=torch.int32)[:, None]) % rows
    col = col.to(torch.int32).contiguous()
    val, x = uniform(torch, rows, per_row, low=-1.0), uniform(torch, rows, low=-1.0)
    y = empty(torch, rows)

    def expected() -> list[Any]:
        return [(val * x[col.long()]).sum(1)]

    return Data([begin, col, val, x, y], [rows], [y], expected)


def blur(torch: Any) -> Data:
    """A 4096 x 4096 picture of three bytes a pixel."""
    side = 4096
    picture = integers(torch, side, side * 3, low=0, high=256, dtype=torch.uint8)
    out = empty(torch, side, side * 3, dtype=torch.uint8)

    def expected() -> list[Any]:
        wide = picture.int()
        above, below = torch.roll(wide, 1, 0), torch.roll(wide, -1, 0)
        above[0], below[-1] = wide[0], wide[-1]
        return [((above + 2 * wide + below + 2) >> 2).to(torch.uint8)]

    return Data([picture, out], [side, side], [out], expected)


def decode(torch: Any) -> Data:
    """One query against a cache of 32768 keys and values, eight heads of 128."""
    heads, length, width, splits = 8, 32768, 128, 64
    q = uniform(torch, heads, width, low=-0.3, high=0.3)
    k = uniform(torch, heads, length, width, low=-1.0, dtype=torch.float16)
    v = uniform(torch, heads, length, width, low=-1.0, dtype=torch.float16).flip(1).contiguous()
    part, out = empty(torch, heads, splits, width + 2), empty(torch, heads, width)

    def expected() -> list[Any]:
        weight = torch.softmax(torch.einsum("hd,htd->ht", q, k.float()), dim=1)
        return [torch.einsum("ht,htd->hd", weight, v.float())]

    return Data([q, k, v, part, out], [heads, length, splits], [out], expected)


def rotate(torch: Any) -> Data:
    """Keys of 16384 tokens, eight heads of 128, and the table of angles."""
    tokens, heads, width = 16384, 8, 128
    x = uniform(torch, tokens, heads, width, low=-1.0)
    angle = uniform(torch, tokens, width // 2, low=-3.0, high=3.0)
    table = torch.stack([angle.cos(), angle.sin()], dim=-1).contiguous()
    out = empty(torch, heads, width, tokens)

    def expected() -> list[Any]:
        a, b = x[..., : width // 2], x[..., width // 2 :]
        c, s = angle.cos()[:, None], angle.sin()[:, None]
        return [torch.cat([a * c - b * s, a * s + b * c], dim=-1).permute(1, 2, 0)]

    return Data([x, table, out], [tokens, heads], [out], expected)


def stats(torch: Any) -> Data:
    """Two rows of 2**20 values for each unit."""
    rows, columns = 2 * UNITS, 1 << 20
    x, out = uniform(torch, rows, columns, low=-1.0), empty(torch, rows, 3)
    return Data([x, out], [rows, columns // 4], [out])


def best(torch: Any) -> Data:
    """256 rows of 131072 columns, of which the 16 largest are kept."""
    rows, columns, k = 256, 131072, 16
    x, out = uniform(torch, rows, columns, low=-1.0), empty(torch, k, columns)
    return Data([x, out], [rows, columns, k], [out], lambda: [x.topk(k, dim=0).values])


def bag(torch: Any) -> Data:
    """Gradients of a million tokens for a table of four rows of 16."""
    tokens, rows, width = 1 << 20, 4, 16
    index = integers(torch, tokens, low=0, high=rows)
    grad, table = uniform(torch, tokens, width, low=-1.0), empty(torch, rows, width)

    def expected() -> list[Any]:
        return [torch.zeros_like(table).index_add_(0, index.long(), grad)]

    return Data([index, grad, table], [tokens], [table], expected)


def bodies(torch: Any) -> Data:
    """16384 bodies in a cube; the pulls are kept in eight slices."""
    count, slices = 16384, 8
    body, out = uniform(torch, count, 4), empty(torch, slices, count, 3)
    return Data([body, out], [count, slices], [out])


def walsh(torch: Any) -> Data:
    """32768 vectors of 1024."""
    vectors = 32768
    x, out = uniform(torch, vectors, 1024, low=-1.0), empty(torch, vectors, 1024)

    def expected() -> list[Any]:
        matrix = torch.ones(1, 1, device="cuda")
        for _ in range(10):
            matrix = torch.cat([torch.cat([matrix, matrix], 1), torch.cat([matrix, -matrix], 1)], 0)
        return [x @ matrix]

    return Data([x, out], [vectors], [out], expected)


def relax(torch: Any) -> Data:
    """A grid of 320 points in each direction."""
    side = 320
    x, out = uniform(torch, side, side, side), empty(torch, side, side, side)

    def expected() -> list[Any]:
        want, mid = x.clone(), slice(1, -1)
        total = x[:-2, mid, mid] + x[2:, mid, mid] + x[mid, :-2, mid] + x[mid, 2:, mid]
        total += x[mid, mid, :-2] + x[mid, mid, 2:]
        want[mid, mid, mid] = 0.4 * x[mid, mid, mid] + 0.1 * total
        return [want]

    return Data([x, out], [side], [out], expected)


def prefix(torch: Any) -> Data:
    """32768 rows of 1024."""
    rows = 32768
    x, out = uniform(torch, rows, 1024), empty(torch, rows, 1024)
    return Data([x, out], [rows], [out], lambda: [x.cumsum(1)])


def publish(torch: Any) -> Data:
    """128 items for each of 256 threads in two blocks a unit."""
    blocks, items = 2 * UNITS, 128
    count = blocks * 256 * items
    data, ready = empty(torch, count), empty(torch, count, dtype=torch.int32)

    def expected() -> list[Any]:
        slot = torch.arange(count, device="cuda", dtype=torch.float32)
        return [slot * 0.5 + 1.0, torch.ones_like(ready)]

    return Data([data, ready], [blocks, items], [data, ready], expected)


def dequant(torch: Any) -> Data:
    """An 8192 x 8192 matrix of bytes with one scale for 128 neighbours."""
    side, group = 8192, 128
    q = integers(torch, side, side, low=-128, high=128, dtype=torch.int8)
    scale = uniform(torch, side, side // group, low=0.01, high=0.1)
    out = empty(torch, side, side, dtype=torch.float16)

    def expected() -> list[Any]:
        return [(q.float() * scale.repeat_interleave(group, dim=1)).half()]

    return Data([q, scale, out], [side, side, group], [out], expected)


def product(torch: Any) -> Data:
    """2048 x 2048 in bf16."""
    side = 2048
    a = uniform(torch, side, side, low=-1.0).bfloat16()
    b = uniform(torch, side, side, low=-1.0).t().contiguous().bfloat16()
    c = empty(torch, side, side)
    return Data([a, b, c], [side], [c], lambda: [a.float() @ b.float()])


def escape(torch: Any) -> Data:
    """Four million points about the Mandelbrot set, in random order."""
    count = 1 << 22
    points = uniform(torch, count, 2)
    points = points * torch.tensor([2.5, 2.4], device="cuda")
    points = (points - torch.tensor([2.0, 1.2], device="cuda")).contiguous()
    counts = empty(torch, count, dtype=torch.int32)
    return Data([points, counts], [count, 8 * UNITS], [counts])


def synth(torch: Any) -> Data:
    """256 partials (frequency, phase, amplitude) and 4096 frames of 1024 samples."""
    frames, partials = 4096, 256
    partial = uniform(torch, partials, 4)
    partial[:, 0] = partial[:, 0] * 2.6 + 0.2
    partial[:, 2] /= partials
    out = empty(torch, frames, 1024)

    def expected() -> list[Any]:
        w, phase, a = (partial[:, i].double() for i in range(3))
        t = torch.arange(1024, device="cuda", dtype=torch.float64)
        angle = w[:, None] * t + phase[:, None]
        real, imag = a @ angle.cos(), a @ angle.sin()
        shift = 0.001 * torch.arange(frames, device="cuda", dtype=torch.float64)[:, None]
        return [(shift.cos() * real - shift.sin() * imag).float()]

    return Data([partial, out], [frames], [out], expected)


def ragged(torch: Any) -> Data:
    """528 sequences, four of them 256 times as long as the others, cut up in equal pieces too."""
    sequences, short, long, piece = 528, 16384 // 4, 4194304 // 4, 2048
    lengths = torch.full((sequences,), short, dtype=torch.int64)
    lengths[[17, 160, 301, 440]] = long
    total = int(lengths.sum())
    begin = torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)]).int().cuda()
    owner = torch.repeat_interleave(torch.arange(sequences), lengths // piece).int().cuda()
    x, y = uniform(torch, total * 4, low=-1.0), empty(torch, total * 4)
    gain = uniform(torch, sequences, low=0.5, high=2.0)
    pieces = total // piece

    def expected() -> list[Any]:
        return [x * gain[owner.long()].repeat_interleave(piece * 4)]

    return Data([x, begin, gain, owner, y], [sequences, pieces, piece], [y], expected)


def advance(torch: Any) -> Data:
    """67584 values, 32 steps."""
    count, steps = 2 * UNITS * 256, 32
    u, rate, out = uniform(torch, count, low=-1.0), uniform(torch, count), empty(torch, count)

    def expected() -> list[Any]:
        value = u.clone()
        for _ in range(steps):
            value = value + 0.01 * (rate * value - value**3)
        return [value]

    return Data([u, rate, out], [count, steps], [out], expected)


def lookup(torch: Any) -> Data:
    """A table of four million entries, and a million walks."""
    entries, items = 1 << 22, UNITS * 8192
    table = integers(torch, entries, low=0, high=entries)
    weight, out = uniform(torch, 256), empty(torch, items)

    def expected() -> list[Any]:
        item = torch.arange(items, device="cuda")
        at, total = item % entries, torch.zeros(items, device="cuda")
        for _ in range(16):
            at = (table[at].long() + item) % entries
            total = total + weight[at % 256]
        return [total]

    return Data([table, weight, out], [items, entries - 1], [out], expected)


def chase(torch: Any) -> Data:
    """Two million nodes in one random ring; four starts for each of 64 threads a unit."""
    nodes, blocks, length = 1 << 21, UNITS, 256
    source = torch.Generator().manual_seed(7)
    order = torch.randperm(nodes, generator=source).cuda()
    node = empty(torch, nodes, 2, dtype=torch.int32)
    node[order, 0] = order.roll(-1).int()
    node[:, 1] = integers(torch, nodes, low=0, high=100)
    head = integers(torch, 4 * blocks * 64, low=0, high=nodes)
    out = empty(torch, 4 * blocks * 64, dtype=torch.int32)

    def expected() -> list[Any]:
        at, total = head.long(), torch.zeros_like(out)
        for _ in range(length):
            total = total + node[at, 1]
            at = node[at, 0].long()
        return [total]

    return Data([node, head, out], [blocks, length], [out], expected)


def series(torch: Any) -> Data:
    """Sixteen million arguments inside the radius of convergence."""
    count = 1 << 24
    x, y = uniform(torch, count, low=-0.9, high=0.9), empty(torch, count)
    return Data([x, y], [count], [y])


def tone(torch: Any) -> Data:
    """Sixteen million samples of ten bits."""
    count = 1 << 24
    x = integers(torch, count, low=0, high=1024)
    y = empty(torch, count, dtype=torch.int32)
    return Data([x, y], [count], [y])


def program(torch: Any) -> Data:
    """2048 threads a unit with two values each."""
    threads = UNITS * 2048
    x, y = uniform(torch, threads, 2), empty(torch, threads, 2)
    return Data([x, y], [threads], [y])


def blend(torch: Any) -> Data:
    """Three arrays of 67 million values."""
    count = 1 << 26
    x, y, z = (uniform(torch, count, low=low) for low in (-1.0, -0.5, 0.5))
    out = empty(torch, count)
    return Data([x, y, z, out], [count], [out], lambda: [1.5 * x + y * z])


def inner(torch: Any) -> Data:
    """Eight blocks a unit with 65536 values each."""
    blocks, words = 8 * UNITS, 16384
    x, y = (uniform(torch, blocks, words * 4, low=low) for low in (-1.0, 0.0))
    share = empty(torch, blocks)
    return Data([x, y, share], [blocks, words], [share], lambda: [(x * y).sum(1)])


def circle(torch: Any) -> Data:
    """4096 threads a unit, eight oscillators each."""
    threads = UNITS * 4096
    x, out = uniform(torch, threads * 8, low=-1.0), empty(torch, threads * 8)
    return Data([x, out], [threads], [out])


SPECS: dict[str, Spec] = {
    "h501_spmv": Spec(spmv),
    "h502_blur": Spec(blur, rtol=0.0, atol=0.0),
    "h503_decode": Spec(decode),
    "h504_rotate": Spec(rotate),
    "h505_stats": Spec(stats),
    "h506_best": Spec(best, rtol=0.0, atol=0.0),
    "h507_bag": Spec(bag, atol=1e-1),
    "h508_bodies": Spec(bodies, atol=2e-2),
    "h509_walsh": Spec(walsh, atol=5e-3),
    "h510_relax": Spec(relax),
    "h511_prefix": Spec(prefix),
    "h512_publish": Spec(publish),
    "h513_dequant": Spec(dequant, rtol=2e-3),
    "h514_product": Spec(product, atol=1e-2),
    "h515_escape": Spec(escape, rtol=0.0, atol=0.0),
    "h516_synth": Spec(synth, atol=2e-3),
    "h517_ragged": Spec(ragged),
    "h518_advance": Spec(advance, kernels_per_run=32),
    "h519_lookup": Spec(lookup),
    "h520_chase": Spec(chase, rtol=0.0, atol=0.0),
    "h521_series": Spec(series),
    "h522_tone": Spec(tone, rtol=0.0, atol=0.0),
    "h523_program": Spec(program),
    "h531_blend": Spec(blend, fixes=()),
    "h532_inner": Spec(inner, fixes=(), atol=5e-2),
    "h533_circle": Spec(circle, fixes=()),
}

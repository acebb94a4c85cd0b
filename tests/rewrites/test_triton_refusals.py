"""Kernels that look like those of a rewrite and are not: each beside a twin on which it fires."""

import pytest

from kbs_backends.rewrites import RewriteSource, all_rewrites

REWRITES = all_rewrites("triton")
DIMS = {"M": 40, "N": 1280}
HEAD = "import torch\nimport triton\nimport triton.language as tl\n"


def answer(method, text, **known):
    known = {"dims": DIMS, "permitted": ("tf32",), **known}
    return REWRITES[method].applies(RewriteSource(text=HEAD + text, language="triton", **known))


def flat(body, grid, arguments="x, y, N, B=128", before="", params="x, y, N"):
    """A kernel over an array, and its launch."""
    lines = "".join(f"    {line}\n" for line in body)
    return (
        f"{before}@triton.jit\ndef k({params}, B: tl.constexpr):\n{lines}"
        f"def run_kernel(x, y):\n    N = x.numel()\n    k[{grid}]({arguments})\n"
    )


COPY = ("tl.store(y + i, tl.load(x + i, mask=i < N), mask=i < N)",)
TILE = ("i = tl.program_id(0) * B + tl.arange(0, B)", *COPY)


@pytest.mark.parametrize(
    "grid",
    [
        "(triton.cdiv(N, 128),)",
        "(N // 128,)",
        "((N + 128 - 1) // 128,)",
        "triton.cdiv(N, 128),",
        'lambda meta: (triton.cdiv(N, meta["B"]),)',
        "(triton.cdiv(x.numel(), 128), 7)",
    ],
)
def test_a_mask_goes_where_the_grid_covers_the_size_and_no_more(grid):
    assert answer("mask_elision", flat(TILE, grid)).ok


@pytest.mark.parametrize(
    "grid",
    [
        "(N // 128 + 1,)",
        "(triton.cdiv(N, 64),)",
        "(triton.cdiv(2 * N, 128),)",
        "(triton.cdiv(N, 128) * 2,)",
        "(7, triton.cdiv(N, 128))",
        "(triton.cdiv(y.numel(), 128),)",
        "(tiles(N),)",
        'lambda meta: (triton.cdiv(N, meta["C"]),)',
        "(max(1, triton.cdiv(N, 128)),)",
    ],
)
def test_a_mask_stays_where_the_grid_may_reach_beyond(grid):
    assert not answer("mask_elision", flat(TILE, grid)).ok


@pytest.mark.parametrize(
    "body",
    [
        ("for j in range(4):", "    i = (tl.program_id(0) * 4 + j) * B + tl.arange(0, B)",
         f"    {COPY[0]}"),
        ("i = tl.program_id(0) * 2 * B + tl.arange(0, B)", *COPY),
        ("i = (tl.program_id(0) + 1) * B + tl.arange(0, B)", *COPY),
        ("for j in range(4):", "    i = j * B + tl.arange(0, B)", f"    {COPY[0]}"),
        ("for j in range(0, N, 2 * B):", "    i = j + tl.arange(0, B) + B", f"    {COPY[0]}"),
        ("N -= 1", *TILE),
        ("N, rest = N - 1, 0", *TILE),
        ("j = tl.load(x)", "i = j * B + tl.arange(0, B)", *COPY),
        ("i = tl.program_id(0) * B + tl.arange(0, B)",
         "tl.store(y + i, 0.0, mask=(i < N) & (i > 3))"),
    ],
)  # fmt: skip
def test_a_mask_stays_where_a_program_takes_other_tiles_than_its_own(body):
    assert not answer("mask_elision", flat(body, "(triton.cdiv(N, 128),)")).ok


@pytest.mark.parametrize(
    "after",
    [
        "    k[(99,)](x, y, N, B=128)\n",
        "    launch = k\n    launch[(99,)](x, y, N, B=128)\n",
        "    k[(triton.cdiv(N, 128),)](x, y, N - 128, B=128)\n",
        "    N = 7\n    k[(triton.cdiv(N, 128),)](x, y, N, B=128)\n",
    ],
)
def test_every_launch_of_a_kernel_must_show_its_grid(after):
    whole = flat(TILE, "(triton.cdiv(N, 128),)")
    assert answer("mask_elision", whole).ok
    assert not answer("mask_elision", whole + after).ok


def test_what_only_has_the_name_of_a_kernel_is_no_launch():
    whole = flat(TILE, "(triton.cdiv(N, 128),)")
    assert answer("mask_elision", f"{whole}    torch.k(x, k=y)\n").ok


def test_sizes_before_unpacked_arguments_are_known_by_their_place():
    text = flat(TILE, "(triton.cdiv(N, 128),)", "x, y, N, *x.stride(), B=128", "", "x, y, N, s")
    assert answer("mask_elision", text).ok
    text = flat(TILE, "(triton.cdiv(N, 128),)", "x, *x.shape, N, B=128", "", "x, y, s, N")
    assert not answer("mask_elision", text).ok


TWO = """
@triton.jit
def k(x, y, M, N, A: tl.constexpr, B: tl.constexpr, G: tl.constexpr):
    pid = tl.program_id(0)
    down, across = tl.cdiv(M, A), tl.cdiv(N, B)
    {numbers}
    r = row * A + tl.arange(0, A)
    c = column * B + tl.arange(0, B)
    at = r[:, None] * N + c[None, :]
    tl.store(y + at, tl.load(x + at), mask=(r[:, None] < M) & (c[None, :] < N))
def run_kernel(x, y, M, N):
    k[({grid},)](x, y, M, N, A=16, B=16, G=4)
"""
ROWS = "row, column = pid // across, pid % across"
GROUPS = (
    "wide = G * across; first = (pid // wide) * G; high = min(down - first, G); "
    "row = first + (pid % wide) % high; column = (pid % wide) // high"
)
BOTH = "triton.cdiv(M, 16) * triton.cdiv(N, 16)"


@pytest.mark.parametrize(
    ("numbers", "grid", "fires"),
    [
        (ROWS, BOTH, True),
        (GROUPS, BOTH, True),
        (ROWS, f"{BOTH} + 1", False),
        (ROWS, f"{BOTH} * 2", False),
        (GROUPS, "triton.cdiv(M, 16) * triton.cdiv(M, 16)", False),
        (GROUPS, "256", False),
        ("row, column = pid // down, pid % down", BOTH, False),
        (GROUPS.replace("pid % wide) //", "pid % (2 * wide)) //"), BOTH, False),
        (GROUPS.replace("first +", "2 * first +"), BOTH, False),
    ],
)
def test_a_number_taken_apart_into_rows_and_columns(numbers, grid, fires):
    assert answer("mask_elision", TWO.format(numbers=numbers, grid=grid)).ok is fires


POINTERS = """
@triton.jit
def deep(p, stride):
    return p + {number} * stride
@triton.jit
def at(p, stride):
    return deep(p, stride)
"""
HELPED = (
    "row = tl.program_id(0)",
    "o = tl.arange(0, B)",
    "tl.store(at(y, B) + o, tl.load(x + row * B + o))",
)


@pytest.mark.parametrize(
    ("before", "why"),
    [
        (POINTERS.format(number="tl.program_id(0)"), "calls at, which reads tl.program_id"),
        (POINTERS.format(number="tl.num_programs(0)"), "calls at, which reads tl.num_programs"),
        ("from elsewhere import at\n", "calls at, which is not in this file"),
        ("at = make()\n", "calls at, which is not in this file"),
        (POINTERS.format(number="tl.load(p)"), ""),
    ],
)
def test_helpers_that_read_the_number_of_the_program(before, why):
    told = answer("persistent_kernel", flat(HELPED, "(10,)", before=before))
    assert told.ok is (not why)
    assert why in told.why


@pytest.mark.parametrize("spelled", ["tl.program_id", "program_id", "triton.language.program_id"])
def test_the_number_of_the_program_by_another_name(spelled):
    body = (f"number = {spelled}", *TILE)
    before = "from triton.language import program_id\n"
    assert not answer("persistent_kernel", flat(body, "(10,)", before=before)).ok


ROW = """
@triton.jit
def k(x, y, s, N, B: tl.constexpr):
    row = tl.program_id(0)
    total = 0.0
    acc = tl.zeros([B], dtype=tl.float32)
    for k in range(0, N, B):
        o = k + tl.arange(0, B)
        v = tl.load(x + row * N + o, mask=o < N, other=0.0)
        {first}
    for k in range(0, N, B):
        o = k + tl.arange(0, B)
        v = tl.load(x + row * N + o, mask=o < N, other=0.0)
        {second}
    {last}
def run_kernel(x, y, s):
    M, N = x.shape
    k[(M,)](x, y, s, N, B=64)
"""
SUM = "total += tl.sum(v, 0)"
KEEP = "tl.store(y + row * N + o, v - total, mask=o < N)"
LAST = "tl.store(s + row, total)"


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"first": "total = total + tl.sum(v)"},
        {"first": "acc += v * v", "last": "tl.store(s + row, tl.sum(acc, 0))"},
        {"first": "acc += tl.where(o < N, v - 1.0, 0.0)",
         "last": "tl.store(s + row, tl.sum(acc, axis=0))"},
        {"second": "tl.store(y + row * N + (k + tl.arange(0, B)), v / total, mask=o < N)"},
        {"second": "tl.store(y + row * N + o, v * o, mask=o < N)"},
        {"first": "w = tl.load(x + o, mask=o < N, other=row) - row; total += tl.sum(w * w, 0)"},
    ],
)  # fmt: skip
def test_a_row_in_pieces_that_may_be_one(parts):
    text = ROW.format(**{"first": SUM, "second": KEEP, "last": LAST, **parts})
    told = answer("row_in_registers", text)
    assert told.ok, told.why


@pytest.mark.parametrize(
    "parts",
    [
        {"second": "tl.store(y + row * N + o, v / tl.max(tl.abs(v), 0), mask=o < N)"},
        {"second": "tl.store(s + row * (N // B) + k // B, total)"},
        {"second": "tl.store(s + row, tl.sum(v, 0))"},
        {"second": "tl.store(y + row * N + o, tl.cumsum(v, 0), mask=o < N)"},
        {"second": "tl.store(y + row * N + o, v)"},
        {"second": "tl.store(y + row * N + o, v, mask=o < N - 1)"},
        {"second": "tl.store(y + row * N + o, v * k, mask=o < N)"},
        {"second": "tl.store(y + row * N + tl.arange(0, B), v, mask=o < N)"},
        {"second": "tl.store(y + row * N + o, v + tl.arange(0, B), mask=o < N)"},
        {"second": "tl.store(y + row * N + o, v / B, mask=o < N)"},
        {"second": "tl.atomic_add(s, tl.sum(v, 0))"},
        {"second": "tl.atomic_add(s, 1.0)"},
        {"second": "tl.store(y + row * N + o, helper(v), mask=o < N)"},
        {"first": "total += 1.0"},
        {"first": "total += k"},
        {"first": "w = tl.load(x + o, mask=o < N, other=row) - 1; total += tl.sum(w * w, 0)"},
        {"first": "w = tl.load(x + o, mask=o < N, other=row) * 2.0 - row; total += tl.sum(w, 0)"},
        {"first": "total = total * 0.5 + tl.sum(v, 0)"},
        {"first": "total -= tl.sum(v, 0)"},
        {"first": "total += tl.max(v, 0)"},
        {"first": "total = tl.maximum(total, tl.max(v, 0))"},
        {"first": "total += tl.sum(tl.exp(v), 0)"},
        {"first": "total += tl.sum((v - 1.0) * (v - 1.0), 0)"},
        {"first": "total += tl.sum(v, 0); tl.store(s + row, total)"},
        {"first": "total = tl.sum(v, 0)"},
        {"first": "acc += v", "last": "tl.store(s + row * B + tl.arange(0, B), acc)"},
        {"first": "acc += v", "last": "tl.store(s + row, tl.max(acc, 0))"},
        {"last": "tl.store(s + row, tl.sum(v, 0))"},
        {"last": "tl.store(s + row, k)"},
        {"last": "tl.store(s + row, total / B)"},
    ],
)
def test_a_row_whose_pieces_show(parts):
    text = ROW.format(**{"first": SUM, "second": KEEP, "last": LAST, **parts})
    told = answer("row_in_registers", text)
    assert not told.ok
    assert told.why


@pytest.mark.parametrize(
    ("body", "fires"),
    [
        (("i = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)", *COPY), True),
        (("p = tl.program_id(0).to(tl.int64)", "i = p // 4 * B + p % 4", *COPY), True),
        (("i = tl.arange(0, B)", "tl.store(y, tl.argmax(tl.load(x + i), 0).to(tl.int64))"), True),
        (("i = tl.arange(0, B)", "h = tl.load(x + i).to(tl.int64) * 2654435761",
          "tl.store(y + i, h % 1000003)"), False),
        (("i = tl.arange(0, B)", "v = tl.load(x + i)", "h = v.to(tl.int64) * 2654435761",
          "tl.store(y + i, h % 1000003)"), False),
        (("i = tl.program_id(0) * B + tl.arange(0, B)", "h = i.to(tl.int64) * 2654435761",
          "tl.store(y + i, h)"), False),
        (("i = tl.arange(0, B)", "w = i.to(tl.int64) * 100003 * 4",
          "tl.atomic_add(y, tl.sum(w, 0) // 4)"), False),
        (("j = tl.atomic_add(x, 1)", "tl.store(y + j.to(tl.int64), 1)"), False),
        (("j = tl.program_id(0).to(tl.int64)", "tl.store(y + (j * 2654435761) % N, 1)"), False),
        (("j = tl.program_id(0).to(tl.int64)", "tl.store(y + helper(j), 1)"), False),
        (("j = tl.program_id(0).to(tl.int64) << 30", "tl.store(y, j)"), False),
    ],
)  # fmt: skip
def test_only_what_is_an_index_alone_is_narrowed(body, fires):
    assert answer("index_width_reduction", flat(body, "(10,)")).ok is fires


def test_the_last_tile_may_pass_the_end_of_an_index_of_32_bits():
    text = flat(("i = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)", *COPY), "(10,)")
    assert answer("index_width_reduction", text, dims={"N": 2**31 - 2**20 - 1}).ok
    assert not answer("index_width_reduction", text, dims={"N": 2**31 - 2**20}).ok


@pytest.mark.parametrize(
    ("stored", "fires"),
    [
        ("x + r * slope + o, 1", True),
        ("x + o + (r // 2) * slope, 1", True),
        ("x + o, r * slope", False),
        ("x + o, tl.exp(-r * slope)", False),
        ("x + o + (r * slope).to(tl.int32), 1", False),
    ],
)
def test_only_what_is_part_of_an_address_is_hinted_at(stored, fires):
    body = ("r = tl.program_id(0)", "o = tl.arange(0, B)", f"tl.store({stored})")
    text = flat(body, "(10,)", arguments="x, y, 8, B=64", params="x, y, slope")
    assert answer("aligned_access_hint", text).ok is fires

"""Numbers that a Triton kernel's launch brings count beside the sizes of the task."""

import pytest

from kbs_backends.rewrites import RewriteSource, all_rewrites

REWRITE = all_rewrites("triton")["index_width_reduction"]
HEADS = """import triton
import triton.language as tl
@triton.jit
def heads(x, y, n, rows, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    h = tl.program_id(1).to(tl.int64)
    tl.store(y + h * n + i, tl.load(x + i, mask=i < n), mask=i < n)
def run_kernel(x, y):
    n = x.numel()
    heads[(triton.cdiv(n, 256), ROWS)](x, y, n, ROWS, B=256)
"""


@pytest.mark.parametrize(
    ("grid", "product", "fires"),
    [
        ("64", "h * n", False),
        ("8 * 8", "h * n", False),
        ("16", "h * n", True),
        ("1", "h * 64 * n", False),
        ("1", "h * n * 16", True),
        ("1", "h * rows * n", True),
        ("64", "h * rows", False),
        ("64", "h * B", True),
    ],
)
def test_numbers_of_a_launch_count_like_sizes_of_the_task(grid, product, fires):
    text = HEADS.replace("ROWS", grid).replace("h * n", product)
    told = REWRITE.applies(RewriteSource(text=text, language="triton", dims={"N": 100_000_000}))
    assert told.ok is fires, told.why
    assert fires or "may pass 2^31" in told.why


NUMBERS = """import triton
import triton.language as tl
W = 1 << 14
@triton.jit
def first(x, o, n, H: tl.constexpr, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, 4)
    BODY
def run_kernel(x, o, HIDDEN):
    big = 1 << 28
    small = 2 * 64
    M, N = x.shape
    first[GRID](x, o, N, H=LARGE, B=small)
"""
LOAD = "tl.store(o + r * 4 + c, tl.load(x + INDEX + c))"


@pytest.mark.parametrize(
    ("index", "large", "grid", "fires"),
    [
        ("r * H", "1 << 28", "(M,)", False),
        ("r * H", "1 << 20", "(M,)", True),
        ("H * r", "big", "(x.shape[0],)", False),
        ("r * H", "small", "(x.shape[0],)", True),
        ("r * H", "2**28", "(12,)", False),
        ("r * H", "1 << 28", "(4,)", True),
        ("r * H", "1 << 28", "(4, 12)", True),
        ("r * H", "x.shape[1]", "(M,)", True),
        ("r * H", "N", "(M,)", True),
        ("r * H", "x.stride(0)", "(M,)", True),
        ("r * H", "HIDDEN", "(M,)", False),
        ("r * H", "choose(N)", "(M,)", False),
        ("r * 268435456", "1", "(M,)", False),
        ("r * 0x10000000", "1", "(M,)", False),
        ("r * 4096", "1", "(M,)", True),
        ("r * (1 << 28)", "1", "(M,)", False),
        ("r * H * H", "1 << 14", "(M,)", False),
        ("r * W * W", "1", "(M,)", False),
        ("r * (H * 4096 - 1)", "1 << 16", "(M,)", False),
        ("(r + 1) * H", "1 << 28", "(7,)", False),
        ("(r * H + r * H)", "1 << 27", "(9,)", False),
        ("(r + tl.load(o)) * 268435456", "1", "(M,)", False),
        ("(r * B)", "1", "(triton.cdiv(N, 128),)", True),
        ("(r * B) * n", "1", "(triton.cdiv(N, small),)", True),
        ("(r * B) * n * 4096", "1", "(triton.cdiv(N, small),)", True),
        ("(r * B) * n * 4194304", "1", "(triton.cdiv(N, small),)", False),
        ("r * H", "1 << 28", "lambda meta: (triton.cdiv(N, meta['H']),)", True),
        ("r * H", "choose(N)", "lambda meta: (triton.cdiv(N, meta['H']),)", True),
        ("r * H", "1 << 28", "lambda meta: (triton.cdiv(N, meta['B']),)", True),
    ],
)
def test_programs_times_numbers_count(index, large, grid, fires):
    text = NUMBERS.replace("BODY", LOAD.replace("INDEX", index))
    text = text.replace("LARGE", large).replace("GRID", grid)
    told = REWRITE.applies(RewriteSource(text=text, language="triton", dims={"M": 12, "N": 64}))
    assert told.ok is fires, told.why
    assert fires or "pass 2^31" in told.why


@pytest.mark.parametrize(
    ("body", "fires"),
    [
        (("s = r * H", LOAD.replace("INDEX", "s")), False),
        (("s = H", "q = r + 1", LOAD.replace("INDEX", "q * s")), False),
        (("s = H // 4096", LOAD.replace("INDEX", "r * s")), True),
        (("for k in range(12):", "    " + LOAD.replace("INDEX", "(r + k * H)")), False),
        (("for k in range(0, n):", "    " + LOAD.replace("INDEX", "(r + k * H)")), False),
        (("for k in range(0, n, B):", "    " + LOAD.replace("INDEX", "(r + k)")), True),
        (("for k in range(0, tl.cdiv(n, B)):", "    " + LOAD.replace("INDEX", "(r + k * B)")),
         True),
        (("for k in range(12):", "    r += H", "    " + LOAD.replace("INDEX", "r")), False),
        (("for k in range(12):", "    r = r + H", "    " + LOAD.replace("INDEX", "r")), False),
        (("s = r % 4", LOAD.replace("INDEX", "s * H")), True),
        (("s = tl.minimum(r, 4)", LOAD.replace("INDEX", "s * H")), True),
        (("s = tl.maximum(r, 4)", LOAD.replace("INDEX", "s * H")), False),
        (("r *= H", LOAD.replace("INDEX", "r")), False),
        (("r <<= 28", LOAD.replace("INDEX", "r")), False),
        (("s = tl.program_id(0) << 28", LOAD.replace("INDEX", "s")), False),
        (("s = tl.program_id(0) << 10", LOAD.replace("INDEX", "s")), True),
        (("s = tl.program_id(0) << (H >> 23)", LOAD.replace("INDEX", "s")), False),
    ],
)  # fmt: skip
def test_numbers_reach_an_index_by_names_and_loops(body, fires):
    text = NUMBERS.replace("BODY", "\n    ".join(body)).replace("LARGE", "1 << 28")
    text = text.replace("GRID", "(M,)")
    told = REWRITE.applies(RewriteSource(text=text, language="triton", dims={"M": 12, "N": 64}))
    assert told.ok is fires, told.why


@pytest.mark.parametrize(
    ("index", "given", "fires"),
    [
        ("r * 268435456", "H=1, B=1", False),
        ("r * 4096", "H=1, B=1", True),
        ("r * H", "**constants", False),
        ("r * 4096", "**constants", True),
    ],
)
@pytest.mark.parametrize("alias", [False, True])
def test_launches_that_do_not_show_tell_no_constants(index, given, fires, alias):
    text = NUMBERS.replace("BODY", f"v = tl.load(x + {index} + c)").replace("GRID", "(M,)")
    text = text.replace("H=LARGE, B=small", given)
    if alias:
        text = text.replace("first[", "kernel[").replace("    big", "    kernel = first\n    big")
    told = REWRITE.applies(RewriteSource(text=text, language="triton", dims={"M": 12, "N": 64}))
    assert told.ok is fires, told.why


@pytest.mark.parametrize("grid", ["(M,)", "(x.shape[0],)", "(4096,)", "(min(M, 4096),)"])
@pytest.mark.parametrize(
    ("index", "fires"), [("r * n", True), ("r * H", True), ("r * n * 64", False)]
)
def test_sizes_times_sizes_are_no_more_than_their_product(grid, index, fires):
    text = NUMBERS.replace("BODY", LOAD.replace("INDEX", index)).replace("GRID", grid)
    dims = {"M": 4096, "N": 16384}
    source = RewriteSource(text=text.replace("LARGE", "N"), language="triton", dims=dims)
    told = REWRITE.applies(source)
    assert told.ok is fires, told.why

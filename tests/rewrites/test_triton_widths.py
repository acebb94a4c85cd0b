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

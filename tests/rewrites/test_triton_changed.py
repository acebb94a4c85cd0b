"""Kernels on which a rewrite fires, changed in one place so that it no longer may."""

import pytest

from kbs_backends.rewrites import RewriteSource, all_rewrites
from tests.rewrites.common import HERE

REWRITES = all_rewrites("triton")
STORE = "    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc,"
RM = "    rm = pid_m * BM + tl.arange(0, BM)\n"
SECOND = "    pid_n = tl.program_id(1)\n"
A_MASK = "a_mask = (rm[:, None] < M) & (rk[None, :] < K)"
HELPER = "@triton.jit\ndef number(c_ptr):\n    return c_ptr + tl.program_id(0)\n@triton.jit\n"
ADDS = '        acc += tl.dot(a, b, input_precision="ieee")\n'
LOOP = "    for k in range(0, K, BK):\n        rk = k + tl.arange(0, BK)\n"


def answer(method, name, *changes):
    text = (HERE / "triton" / method / f"{name}.py").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    compile(text, "kernel", "exec")
    dims = {"M": 16, "N": 24, "K": 200}
    known = {"dims": dims, "permitted": ("tf32",)}
    return REWRITES[method].applies(RewriteSource(text=text, language="triton", **known))


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("fires", [(SECOND, ""), (RM, RM + SECOND)]),
        ("fires", [(STORE, STORE.replace("c_ptr", "c_ptr + tl.program_id(0)"))]),
        ("fires", [("@triton.jit\n", HELPER), (STORE, STORE.replace("c_ptr", "number(c_ptr)"))]),
        ("fires", [(SECOND, SECOND + "    pid_n = pid_n + 1\n")]),
        ("fires_one_axis", [(STORE, STORE.replace("c_ptr", "c_ptr + pid * M"))]),
        ("fires_one_axis", [(RM, RM.replace("pid_m", "(pid // num_n)"))]),
        ("fires_one_axis", [("    pid = tl.program_id(0)", "    pid = tl.program_id(0) + 1")]),
    ],
)
def test_tiles_are_renumbered_only_where_nothing_else_reads_their_numbers(name, changes):
    assert answer("l2_grouped_ordering", name).ok
    assert not answer("l2_grouped_ordering", name, *changes).ok


@pytest.mark.parametrize(
    "changes",
    [
        [(STORE, "    if pid_m >= pid_n:\n    " + STORE)],
        [(STORE, "    if pid_m < pid_n:\n        return\n" + STORE)],
        [(STORE, "    tl.atomic_add(c_ptr, 1.0)\n" + STORE)],
        [("mask=(rm[:, None] < M) & (rn[None, :] < N))", "mask=rm[:, None] >= rn[None, :])")],
        [(STORE, STORE.replace("c_ptr", "c_ptr + tl.program_id(2)"))],
        [("@triton.jit\n", HELPER), (STORE, STORE.replace("c_ptr", "number(c_ptr)"))],
        [(LOOP, "    at = 0\n" + LOOP + "        at = at + BK\n")],
        [(LOOP, "    rest = K\n" + LOOP + "        rest = rest - BK\n")],
        [(ADDS, ADDS + "        acc *= 0.5\n")],
        [(ADDS, ADDS + "        acc = acc * 0.5\n")],
        [(ADDS, ADDS + "        tl.device_print('sum', acc)\n")],
        [(ADDS, ADDS.replace('"ieee"', '"ieee", acc=acc'))],
        [(STORE, "    acc += 1.0\n" + STORE)],
        [(STORE, "    acc *= tl.where(acc > 0, 1.0, 0.1)\n" + STORE)],
        [(STORE, STORE.replace("rm[", "(rm + 0 * k)["))],
        [("range(0, K, BK)", "range(0, -K, -BK)")],
    ],
)
def test_only_a_product_that_every_program_stores_is_split(changes):
    assert answer("split_k", "fires").ok
    assert not answer("split_k", "fires", *changes).ok


@pytest.mark.parametrize("by", ["acc=acc, ", "acc, "])
def test_a_product_that_is_given_its_sum_is_split(by):
    adds = ADDS.replace("acc +=", "acc =").replace("b, ", f"b, {by}")
    assert answer("split_k", "fires", (ADDS, adds)).ok


def test_a_count_of_tiles_is_read_where_it_is_known():
    text = (HERE / "triton" / "split_k" / "fires_counted.py").read_text()
    done = REWRITES["split_k"].apply(RewriteSource(text=text, language="triton"))
    assert "    steps = K // BK\n    kbs_steps = tl.cdiv(steps, KBS_SPLITS)\n" in done


@pytest.mark.parametrize(
    ("name", "condition"),
    [
        (
            "fires",
            "c.numel() * triton.cdiv(M, 16) * triton.cdiv(N, 16) == grid[0] * grid[1] * M * N",
        ),
        ("fires_counted", "c.numel() == (M // 16, N // 16)[0] * (M // 16, N // 16)[1] * 16 * 16"),
    ],
)
def test_parts_are_summed_only_where_programs_store_the_whole_result(name, condition):
    text = (HERE / "triton" / "split_k" / f"{name}.py").read_text()
    done = REWRITES["split_k"].apply(RewriteSource(text=text, language="triton"))
    assert f"if KBS_SPLIT_K and c.is_contiguous() and {condition}:" in done


def test_a_step_that_is_a_sum_is_multiplied_as_a_whole():
    text = (HERE / "triton" / "split_k" / "fires.py").read_text()
    text = text.replace("range(0, K, BK)", "range(0, K, BK + 0)")
    done = REWRITES["split_k"].apply(RewriteSource(text=text, language="triton"))
    assert "kbs_first * (BK + 0)" in done


ADD = "    tl.atomic_add(y_ptr, tl.sum(x, axis=0))"


@pytest.mark.parametrize(
    "changes",
    [
        [(ADD, "    if tl.program_id(0) > 1:\n        return\n" + ADD)],
        [(ADD, "    tl.atomic_add(y_ptr, x)")],
        [(ADD, "    tl.atomic_add(y_ptr, 2.0 * x)")],
        [(ADD, ADD + "\n    tl.store(x_ptr, y_ptr)")],
        [(ADD, "    y_ptr += 1\n" + ADD)],
        [("(x, y, x.numel()", "(y, y, x.numel()")],
    ],
)
def test_only_one_number_of_every_program_is_stored_in_place_of_an_atomic(changes):
    assert answer("two_stage_reduction", "fires").ok
    assert not answer("two_stage_reduction", "fires", *changes).ok


@pytest.mark.parametrize(
    "value",
    ["2.0 * tl.sum(x, axis=0)", "tl.sum(x).to(tl.float32)", "tl.sum(x, 0) / n", "1", "tl.max(x)"],
)
def test_forms_of_one_number(value):
    changes = (ADD, f"    tl.atomic_add(y_ptr, {value})")
    assert answer("two_stage_reduction", "fires", changes).ok


@pytest.mark.parametrize(
    "mask",
    [
        f"{A_MASK} & (rm[:, None] != 3)",
        f"{A_MASK} & (K > 3)",
        f"{A_MASK} & flag",
        "a_mask = (rm[:, None] < M) & ((k + tl.arange(0, BK))[None, :] < K)",
        "a_mask = (rm[:, None] < M) | (rk[None, :] < K)",
    ],
)
def test_a_tile_is_described_only_where_its_mask_is_its_bounds(mask):
    told = answer("tma_load", "fires", (A_MASK, mask))
    assert told.ok  # the other operand
    text = (HERE / "triton" / "tma_load" / "fires.py").read_text()
    counts = []
    for one in (text, text.replace(A_MASK, mask)):
        done = REWRITES["tma_load"].apply(RewriteSource(text=one, language="triton"))
        counts.append(done.count("make_tensor_descriptor("))
    assert counts == [2, 1]


def test_a_corner_keeps_its_meaning_among_others():
    text = (HERE / "triton" / "tma_load" / "fires.py").read_text()
    text = text.replace(RM, "    low = pid_m << 4\n    rm = low + tl.arange(0, BM)\n")
    done = REWRITES["tma_load"].apply(RewriteSource(text=text, language="triton"))
    assert ".load([(pid_m << 4), k])" in done


@pytest.mark.parametrize(
    ("launch", "fires"),
    [
        ('grid = lambda meta: (triton.cdiv(n, meta["BLOCK"]),)\n    double[grid]', True),
        ("tiles = triton.cdiv(n, 64)\n    double[(tiles,)]", False),
        (
            "size = 64\n    tiles = triton.cdiv(n, size)\n    grid = (tiles,)\n    double[grid]",
            False,
        ),
        ("def grid(meta):\n        return (n // 64,)\n    double[grid]", False),
    ],
)
def test_a_size_stays_where_the_grid_is_computed_from_the_number_too(launch, fires):
    text = (
        "import triton\nimport triton.language as tl\n@triton.jit\n"
        "def double(x, n, BLOCK: tl.constexpr):\n"
        "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        "    tl.store(x + i, 2.0 * tl.load(x + i, mask=i < n), mask=i < n)\n"
        f"def run_kernel(x):\n    n = x.numel()\n    {launch}(x, n, BLOCK=64)\n"
    )
    source = RewriteSource(text=text, language="triton")
    assert REWRITES["block_size_tuning"].applies(source).ok is fires

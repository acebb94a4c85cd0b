"""Tiles through descriptors: what is read is what the load read, at every size."""

import pytest

from kbs_backends.rewrites import RewriteSource, all_rewrites

REWRITE = all_rewrites("triton")["tma_load"]
TEXT = """
import torch
import triton
import triton.language as tl
@triton.jit
def mm(a, c, M, N, K, sam, scm, first, last, BM: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    rm = pid * BM + tl.arange(0, BM)
    rk = tl.arange(0, BK)
    nk = K // BK
    ap = a + rm[:, None] * sam + rk[None, :]
    acc = tl.zeros((BM, BK), dtype=tl.float32)
    for k in range(nk):
        acc += tl.load(ap)
        ap += BK
    tl.store(c + rm[:, None] * scm + rk[None, :], acc)
def run_kernel(a, c):
    M, K = a.shape
    mm[(triton.cdiv(M, 16),)](a, c, M, K, K, K, 16, 0, 4, BM=16, BK=16)
"""
LOOP = "range(nk)"
LOAD = "tl.load(ap)"
INIT = "    ap = a + rm[:, None] * sam + rk[None, :]\n"
MOVE = "        ap += BK\n"
REST = "tl.load(ap, mask=rk[None, :] < K - k * BK, other=0.0)"
WRAP = (INIT, INIT.replace("rm[", "(rm % M)["))
UNMOVED = [(MOVE, ""), (INIT, "")]
FROM_K = "tl.load(a + rm[:, None] * sam + ({})[None, :])"


def changed(*changes):
    text = TEXT
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    compile(text, "kernel", "exec")
    return RewriteSource(text=text, language="triton")


@pytest.mark.parametrize(
    ("changes", "shape", "corner"),
    [
        ([], "[pid * BM + BM, (nk) * BK]", "[pid * BM, k * BK]"),
        ([(LOOP, "range(tl.cdiv(K, BK))")], "(tl.cdiv(K, BK)) * BK]", "k * BK]"),
        ([(LOOP, "range(0, K, BK)")], "(K) + BK]", ", k]"),
        ([(LOOP, "range(first, last)")], "(last - (first)) * BK]", "(k - (first)) * BK]"),
        ([(LOOP, "range(first, K, BK)")], "(K - (first)) + BK]", "(k - (first))]"),
        ([(LOAD, REST)], "pid * BM + BM, K]", ", k * BK]"),
        ([(LOAD, REST), (LOOP, "range(first, last)")], "K - (first) * BK]", "(k - (first)) * BK]"),
        ([*UNMOVED, (LOAD, FROM_K.format("k * BK + rk"))], "(nk) * BK + BK]", ", k * BK]"),
        ([*UNMOVED, (LOOP, "range(0, K, BK)"), (LOAD, FROM_K.format("k + rk"))],
         "(K) + BK]", ", k]"),
        ([WRAP], "[M, (nk) * BK]", "[pid * BM, k * BK]"),
    ],
)  # fmt: skip
def test_a_descriptor_reads_the_lanes_of_its_load(changes, shape, corner):
    text = REWRITE.apply(changed(*changes))
    assert f"{shape.split('[')[-1]}," in text
    assert corner in text


@pytest.mark.parametrize(
    ("changes", "fact"),
    [
        ([], 'args["sam"] > 0'),
        ([WRAP], 'args["M"] % args["BM"] == 0'),
        ([("rm = pid", "rm = first + pid")], 'args["first"] >= 0'),
        ([("rm = pid", "rm = pid % first")], ""),
    ],
)
def test_what_only_a_launch_shows_is_asked_of_it(changes, fact):
    text = REWRITE.apply(changed(*changes))
    assert fact in text
    assert ('args["first"]' in text) == ("first" in fact)


@pytest.mark.parametrize(
    "changes",
    [
        [(LOOP, "range(nk, 0, -1)")],
        [(LOOP, "range(0, K, sam)")],
        [(LOOP, "range(last, first, step)"), ("first, last, BM", "first, last, step, BM")],
        [(MOVE, "        ap += 2 * BK\n")],
        [(MOVE, "        ap -= BK\n")],
        [(MOVE, "        if k > 2:\n            ap += BK\n")],
        [(MOVE, ""), ("        acc +=", "        ap += BK\n        acc +=")],
        [(LOAD, "0.0"), (MOVE, MOVE + "    for k in range(2):\n        acc += tl.load(ap)\n")],
        [(MOVE, MOVE.replace("BK", "BK * first"))],
        [(LOAD, REST.replace("K - k * BK", "K"))],
        [(LOAD, REST.replace("K - k * BK", "K - 1"))],
        [(LOAD, REST.replace("K - k * BK", "K - k"))],
        [(LOAD, REST.replace("<", "<="))],
        [(LOAD, REST.replace("rk[None, :]", "rk[:, None]"))],
        [(LOAD, REST.replace("other=0.0", "other=1.0"))],
        [(LOAD, REST.replace("K - k * BK", "nk - k * BK")), (MOVE, MOVE + "        nk -= 1\n")],
        [(INIT, INIT.replace("rm[", "((first + rm) % M)["))],
        [WRAP, ("(triton.cdiv(M, 16),)", "(99,)")],
        [("rm = pid", "rm = pid - first")],
        [("pid = tl.program_id(0)", "pid = tl.load(c)")],
        [("pid = tl.program_id(0)", "pid = tl.program_id(0).to(tl.int64)")],
        [("    acc = tl", "    pid += 1\n    acc = tl")],
        [("tl.store(c ", "tl.store(a ")],
        [("        acc +=", "        sam = sam * 2\n        acc +=")],
        [*UNMOVED, (LOAD, FROM_K.format("(2 * k + 1) * BK + rk"))],
        [*UNMOVED, (LOAD, FROM_K.format("(nk - 1 - k) * BK + rk"))],
        [*UNMOVED, (LOAD, FROM_K.format("2 * rk"))],
        [*UNMOVED, (LOAD, "tl.load(a + rm[:, None] * sam + rk[None, :] * 2)")],
        [(LOOP, "range(2):\n      for o in range(nk)"), ("        a", "          a")],
    ],
)
def test_what_a_descriptor_would_read_otherwise_stays_a_load(changes):
    told = REWRITE.applies(changed(*changes))
    assert not told.ok, told.why
    assert told.why

"""A row that becomes one block has lanes beyond its size: what they hold must change nothing."""

import math

import libcst as cst
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbs_backends.rewrites import RewriteSource, all_rewrites
from kbs_backends.rewrites.triton import lanes

REWRITE = all_rewrites("triton")["row_in_registers"]
ROW = """import triton
import triton.language as tl
@triton.jit
def rows(x, y, w, N, s, B: tl.constexpr):
    row = tl.program_id(0)
    t = tl.load(w + row)
    a = START
    for k in range(0, N, B):
        c = k + tl.arange(0, B)
        v = tl.load(x + row * N + c, mask=c < N, other=OTHER)
        a = FOLD
    m = REDUCED
    b = tl.zeros([B], tl.float32)
    for k in range(0, N, B):
        c = k + tl.arange(0, B)
        v = tl.load(x + row * N + c, mask=c < N, other=OTHER)
        b += SUMMED
        tl.store(y + row * N + c, v * m, mask=c < N)
    tl.store(w + row, tl.sum(b, 0))
def run_kernel(x, y, w, M, N, s):
    rows[(M,)](x, y, w, N, s, B=32)
"""
SUM = {"START": "tl.zeros([B], tl.float32)", "FOLD": "a + v", "REDUCED": "tl.sum(a, 0)"}
MAX = {
    "START": 'tl.full([B], float("-inf"), tl.float32)',
    "FOLD": "tl.maximum(a, v)",
    "REDUCED": "tl.max(a, 0)",
}
LOW = 'float("-inf")'


def fires(other, summed, first):
    text = ROW
    for key, value in {**first, "OTHER": other, "SUMMED": summed}.items():
        text = text.replace(key, value)
    return REWRITE.applies(RewriteSource(text=text, language="triton")).ok


@pytest.mark.parametrize(
    "summed",
    ["v", "v * v", "v * v * v", "v * 0.5", "v / N", "v / 2", "v * (v + 1.0)", "v / (v + 1.0)",
     "v / (1.0 + tl.exp(v))", "v * tl.sigmoid(v)", "v * tl.cos(v)", "v * c", "v * tl.exp(v)",
     "tl.where(c < N, v - m, 0.0)", "tl.where(c < N, v * tl.log(v), 0.0)", "tl.abs(v)",
     "v * row", "v / tl.maximum(v, 0.1)", "v / tl.maximum(tl.abs(v), 1e-6)", "v * (v > s)"],
)  # fmt: skip
def test_zeros_beyond_the_size_stay_zeros(summed):
    assert fires("0.0", summed, SUM)


@pytest.mark.parametrize(
    "summed",
    ["v * tl.log(v)", "v * tl.log2(v)", "v / tl.abs(v)", "v / v", "v * (1.0 / v)",
     "v * tl.rsqrt(v)", "v / (v + s)", "v * tl.log(v + s)", "tl.div_rn(v, v)", "v / tl.sqrt(v)",
     "v * s", "v * t", "v * m", "v / s", "v / row", "v / m", "v * tl.exp(s)", "v / tl.floor(v)",
     "tl.fma(v, tl.log(v), 0.0)", 'v * float("inf")', "v * 1e999", "v * tl.sqrt(v - 1.0)",
     "tl.where(v > s, v * tl.log(v), 0.0)", "v * tl.load(x + c, mask=c < N)", "v % v"],
)  # fmt: skip
def test_zeros_times_what_may_be_no_number_are_refused(summed):
    assert not fires("0.0", summed, SUM)


@pytest.mark.parametrize(
    ("summed", "ok"),
    [
        ("tl.exp(v - m)", True),
        ("tl.exp(v - 1.0)", True),
        ("tl.exp2(v * 1.5 - m * 1.5)", True),
        ("tl.exp(-(m - v))", True),
        ("tl.exp(v - tl.where(m == s, 0.0, m))", True),
        ("tl.exp(v - tl.maximum(m, -1.0))", True),
        ("tl.exp(v) / (1.0 + tl.exp(v))", True),
        ("tl.exp(v - m) * v", False),
        ("tl.exp(v - s)", False),
        ("tl.exp(v + t)", False),
        ("tl.exp(v - v)", False),
        ("tl.exp(v * 0.0)", False),
        ("tl.exp(v * -1.0)", False),
        ("tl.exp(v * s)", False),
        ("tl.exp(v + m)", False),
        ("tl.exp(m - v)", False),
    ],
)
def test_infinities_beyond_the_size_become_zeros(summed, ok):
    assert fires(LOW, summed, MAX) is ok


SAMPLES = {
    "-inf": (-math.inf,), "-": (-3.0, -1.0, -0.25), "0": (0.0,), "+": (0.25, 1.0, 3.0),
    "inf": (math.inf,), "nan": (math.nan,),
}  # fmt: skip
VALUES = st.sampled_from(sorted(SAMPLES)).flatmap(lambda one: st.sampled_from(SAMPLES[one]))


def kind(value):
    return frozenset({"nan"}) if math.isnan(value) else lanes.number(value)


def divided(a, b):
    if b == 0:
        return math.nan if a == 0 or math.isnan(a) else math.inf
    return a / b


@given(VALUES, VALUES)
def test_what_arithmetic_makes_of_two_values_is_foreseen(a, b):
    for operator, result in (
        (cst.Add(), a + b),
        (cst.Subtract(), a - b),
        (cst.Multiply(), a * b),
        (cst.Divide(), divided(a, b)),
    ):
        assert kind(result) <= lanes.combined(operator, kind(a), kind(b)), operator
    if not math.isnan(a + b):
        assert kind(max(a, b)) <= lanes.function("maximum", [kind(a), kind(b)])
        assert kind(min(a, b)) <= lanes.function("minimum", [kind(a), kind(b)])


@given(VALUES)
def test_what_functions_make_of_a_value_is_foreseen(a):
    def tried(function):
        try:
            return function(a)
        except ValueError:
            return math.nan

    known = {
        "exp": math.exp, "exp2": lambda v: 2.0**v, "sqrt": math.sqrt, "sin": math.sin,
        "cos": math.cos, "abs": abs, "erf": math.erf,
        "log": lambda v: -math.inf if v == 0 else math.log(v),
        "rsqrt": lambda v: math.inf if v == 0 else 1 / math.sqrt(v),
        "sigmoid": lambda v: 1 / (1 + math.exp(-v)),
        "floor": lambda v: float(math.floor(v)) if math.isfinite(v) else v,
        "ceil": lambda v: float(math.ceil(v)) if math.isfinite(v) else v,
    }  # fmt: skip
    for name, function in known.items():
        assert kind(tried(function)) <= lanes.function(name, [kind(a)]), name

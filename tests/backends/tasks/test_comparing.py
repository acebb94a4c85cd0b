"""Comparison: every element, every property, nothing matched on average."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kbs_backends.tasks import Tolerance, compare, holds, load_reference
from kbs_backends.tasks.outputs import spec_of
from kbs_backends.tasks.tolerance import chosen, derive, reduction_length
from kbs_engine.errors import InputError

LOOSE = Tolerance(atol=0.1, rtol=0.0, source="command line")


def judged(actual, expected, tolerance=LOOSE, buffer=None):
    spec = spec_of(expected.to(actual.dtype) if buffer is None else buffer)
    return compare({"y": actual}, {"y": expected}, {"y": spec}, tolerance)


def test_one_wrong_element_in_a_million_fails():
    expected = torch.zeros(1_000_000, dtype=torch.float64)
    actual = expected.float()
    assert judged(actual, expected).ok
    actual[777_777] = 0.2
    found = judged(actual, expected)
    assert (found.ok, found.fault, found.output) == (False, "values", "y")
    assert found.max_abs_err == pytest.approx(0.2)
    assert found.compared_elements == 1_000_000
    assert "1 of 1000000 elements" in found.detail


@pytest.mark.parametrize(
    ("made", "fault"),
    [
        (lambda y: y.double(), "dtype"),
        (lambda y: y[:, :2].contiguous(), "shape"),
        (lambda y: y.t().contiguous().t(), "stride"),
        (torch.nn.Parameter, "type"),
        (lambda y: y.to_sparse(), "type"),
        (lambda _: None, "missing"),
        (lambda y: y.tolist(), "type"),
    ],
)
def test_metadata_is_compared_to_the_letter(made, fault):
    buffer = torch.zeros(3, 4)
    found = judged(made(buffer.clone()), buffer.double(), buffer=buffer)
    assert (found.ok, found.fault) == (False, fault)


@pytest.mark.parametrize(
    ("actual", "expected", "fault"),
    [
        (float("nan"), 0.0, "not_finite"),
        (float("inf"), 0.0, "not_finite"),
        (0.0, float("inf"), "not_finite"),
        (float("-inf"), float("inf"), "not_finite"),
        (float("inf"), float("inf"), ""),
        (float("nan"), float("nan"), "not_finite"),
        (-0.0, 0.0, ""),
    ],
)
def test_finiteness_is_compared(actual, expected, fault):
    found = judged(torch.tensor([actual]), torch.tensor([expected], dtype=torch.float64))
    assert found.fault == fault


@pytest.mark.parametrize("rtol", [0.0, 1e-5])
@pytest.mark.parametrize("wanted", [float("inf"), float("-inf")])
@pytest.mark.parametrize("wrong", [0.0, 5.0, float("inf"), float("-inf"), float("nan")])
def test_the_short_comparison_accepts_nothing_that_the_long_one_refuses(wrong, wanted, rtol):
    expected = torch.tensor([1.0, wanted], dtype=torch.float64)
    actual = torch.tensor([1.0, wrong])
    specs, kept = {"y": spec_of(actual)}, expected.clone()
    tolerance = Tolerance(atol=1e-6, rtol=rtol, source="command line")
    found = holds({"y": actual}, {"y": expected}, specs, tolerance)
    assert not found or compare({"y": actual}, {"y": expected}, specs, tolerance).ok
    assert torch.equal(expected, kept)


def test_overflow_of_the_outputs_dtype_is_honest_in_its_direction_alone():
    expected = torch.tensor([1e5, -1e5], dtype=torch.float64)
    assert judged(expected.half(), expected).ok
    assert judged(-expected.half(), expected).fault == "not_finite"


def test_empty_outputs_compare_nothing():
    assert judged(torch.zeros(0), torch.zeros(0, dtype=torch.float64)).fault == "nothing_compared"


def test_whole_numbers_are_exact_whatever_the_tolerance():
    expected = torch.tensor([1, 2, 3], dtype=torch.int32)
    assert judged(expected.clone(), expected).ok
    assert judged(expected + torch.tensor([0, 0, 1], dtype=torch.int32), expected).fault == "values"


def test_the_error_of_whole_numbers_that_fp64_cannot_tell_apart_is_not_zero():
    expected = torch.tensor([1 << 60, 3])
    found = judged(expected + torch.tensor([1, 0]), expected)
    assert (found.fault, found.max_abs_err) == ("values", 1.0)
    assert "1 of 2 elements" in found.detail


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20),
    st.floats(0, 1), st.floats(0, 0.1), st.data(),
)  # fmt: skip
def test_the_rule_is_the_formula(values, atol, rtol, data):
    expected = torch.tensor(values, dtype=torch.float64)
    noise = data.draw(
        st.lists(st.floats(-2, 2), min_size=len(values), max_size=len(values)), label="noise"
    )
    actual = expected + torch.tensor(noise, dtype=torch.float64)
    tolerance = Tolerance(atol=atol, rtol=rtol, source="command line")
    by_hand = bool(((actual - expected).abs() <= atol + rtol * expected.abs()).all())
    assert judged(actual, expected, tolerance).ok == by_hand


def test_a_derived_tolerance_scales_with_the_output():
    tolerance = derive({"out": "float32"}, 1024)
    big = torch.randn(1000, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    for scale in (1e-6, 1.0, 1e6):
        assert judged((big * scale * (1 + 1e-6)).float(), big * scale, tolerance).ok
        assert not judged((big * scale * (1 + 1e-3)).float(), big * scale, tolerance).ok


def test_derived_tolerances_follow_dtype_length_and_permission():
    assert derive({"out": "float16"}, 64).rtol > derive({"out": "float32"}, 64).rtol > 0
    assert derive({"out": "float32"}, 4096).rtol > derive({"out": "float32"}, 64).rtol
    assert (
        derive({"out": "float32"}, 64, ("tf32",)).rtol > 100 * derive({"out": "float32"}, 64).rtol
    )
    assert derive({"out": "int32"}, 64).rtol == derive({"out": "int32"}, 64).atol == 0
    assert derive({"out": "float16"}, 64).source == "derived from fp16, reduction of 64"


def test_a_tolerance_of_fp32_finds_tf32_arithmetic():
    """What TF32 rounding of the factors does to a product must not pass as fp32."""
    generator = torch.Generator().manual_seed(3)
    a, b = (torch.randn(256, 256, generator=generator) for _ in range(2))

    def rounded(x):
        return ((x.view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)

    exact = a.double() @ b.double()
    tolerance = derive({"out": "float32"}, 256)
    assert judged(a @ b, exact, tolerance).ok
    assert not judged((rounded(a).double() @ rounded(b).double()).float(), exact, tolerance).ok


@pytest.mark.parametrize(("permitted", "drop"), [("tf32", 13), ("bf16", 16)])
@pytest.mark.parametrize("length", [64, 2048])
def test_a_permitted_precision_lets_its_rounding_pass_and_no_more(permitted, drop, length):
    """Operands are rounded before the sum: how many are summed does not widen the tolerance."""
    generator = torch.Generator().manual_seed(5)
    a, b = (
        torch.randn(96, length, generator=generator),
        torch.randn(length, 96, generator=generator),
    )

    def rounded(x, bits):
        half = 1 << (bits - 1)
        return ((x.view(torch.int32) + half) & -(1 << bits)).view(torch.float32)

    exact = a.double() @ b.double()
    tolerance = derive({"out": "float32"}, length, (permitted,))
    coarser = [rounded(x, drop).double() for x in (a, b)]
    assert judged((coarser[0] @ coarser[1]).float(), exact, tolerance).ok
    much_coarser = [rounded(x, drop + 4).double() for x in (a, b)]
    assert not judged((much_coarser[0] @ much_coarser[1]).float(), exact, tolerance).ok
    assert not judged(torch.zeros(96, 96), exact, tolerance).ok


@given(
    st.lists(st.sampled_from([0.0, 1.0, -2.0, 2.05, math.inf, -math.inf, math.nan]), max_size=6),
    st.lists(st.sampled_from([0.0, 1.0, -2.0, 2.0, math.inf, math.nan]), min_size=6, max_size=6),
    st.sampled_from([LOOSE, Tolerance(atol=0.04, rtol=0.02, source="x", derived=True)]),
)
def test_what_holds_at_a_glance_holds_on_a_close_look(actual, expected, tolerance):
    got = torch.tensor(actual, dtype=torch.float32)
    wanted = torch.tensor(expected[: len(actual)], dtype=torch.float64)
    specs = {"y": spec_of(got)}
    glance = holds({"y": got}, {"y": wanted}, specs, tolerance)
    look = compare({"y": got}, {"y": wanted}, specs, tolerance).ok
    assert look or not glance
    if bool(torch.isfinite(wanted).all()):
        assert glance is look


def test_the_reduction_length_of_products_sums_and_rows():
    a, b, c = torch.empty(8, 64), torch.empty(64, 4), torch.empty(8, 4)
    inputs = {"a": a, "b": b, "c": c}
    assert reduction_length(inputs, ("c",), 2.0 * 8 * 4 * 64) == 64
    assert reduction_length({"x": torch.empty(9, 100), "y": torch.empty(9)}, ("y",), None) == 100
    assert reduction_length({"x": torch.empty(9, 70), "y": torch.empty(9, 70)}, ("y",), None) == 70


@pytest.mark.parametrize("value", [-1, float("nan"), "small", True])
def test_a_declared_tolerance_that_is_none_is_refused(tmp_path, value):
    from kbs_backends.tasks import load_reference

    path = tmp_path / "ref.py"
    path.write_text(REF + f"atol = {value!r}\n".replace("nan", "float('nan')"))
    with pytest.raises(InputError, match="atol \\(reference\\) is no number"):
        load_reference(path).tolerance()


REF = """
import torch
def setup(n=8, seed=0):
    torch.manual_seed(seed)
    x = torch.randn(n)
    return {"inputs": {"x": x, "out": torch.empty(n)}, "outputs": ["out"]}
def reference(x, **_): return x * 2 + 1
"""


@pytest.mark.parametrize(
    ("declared", "given", "atol", "rtol", "source"),
    [
        ("atol = 1e-2\nrtol = 1e-3", {}, 1e-2, 1e-3, "reference"),
        ("atol = 1e-2\nrtol = 1e-3", {"atol": 0.5}, 0.5, 1e-3, "atol: command line; rtol: refer"),
        ("atol = 1e-2\nrtol = 1e-3", {"atol": 0.5, "rtol": 0.1}, 0.5, 0.1, "command line"),
        ("atol = 0.0\nrtol = 0.0", {}, 0.0, 0.0, "reference"),
    ],
)
def test_command_line_before_reference_before_derived(
    tmp_path, declared, given, atol, rtol, source
):
    from kbs_backends.tasks import load_reference

    path = tmp_path / "ref.py"
    path.write_text(REF + declared + "\n")
    found = load_reference(path).tolerance(**given)
    assert (found.atol, found.rtol, found.derived) == (atol, rtol, False)
    assert found.source.startswith(source)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_both_parts_of_complex_outputs_are_compared(dtype):
    kind = getattr(torch, dtype)
    right = torch.complex(torch.ones(4), torch.arange(4.0)).to(kind)
    spec = {"y": spec_of(right)}
    tolerance = derive({"out": dtype}, 4)
    assert tolerance.atol > 0
    assert compare({"y": right.clone()}, {"y": right}, spec, tolerance).ok
    for wrong in (right.conj().resolve_conj(), right + 1, right.real.to(kind)):
        assert compare({"y": wrong}, {"y": right}, spec, tolerance).fault == "values"


def test_an_output_of_a_finer_type_gets_what_its_own_type_allows():
    both = derive({"y": "bfloat16", "lse": "float32"}, 64)
    assert both.of("y").rtol == derive({"y": "bfloat16"}, 64).rtol
    assert both.of("lse").rtol == pytest.approx(derive({"lse": "float32"}, 64).rtol)
    assert both.source == "derived from bf16, lse from fp32, reduction of 64"
    assert both.without(["lse"]).of("lse").rtol == both.rtol
    given = chosen({"atol": 1e-2, "rtol": 1e-2}, {}, both, "here")
    assert given.of("lse").rtol == 1e-2, "what somebody states counts for all"


TWO_TYPES = """
import torch


def setup(**_):
    return {"inputs": {"x": torch.randn(16, 64).bfloat16()}}


def reference(x):
    return {"y": torch.softmax(x, -1), "sums": SUMS}
"""


@pytest.mark.parametrize(
    ("sums", "finer"),
    [
        ("torch.logsumexp(x.float(), -1)", {"sums"}),
        ("torch.logsumexp(x, -1).float()", set()),
    ],
)
def test_no_output_is_asked_to_be_finer_than_the_reference_computes_it(tmp_path, sums, finer):
    path = tmp_path / "ref.py"
    path.write_text(TWO_TYPES.replace("SUMS", sums))
    reference = load_reference(path, {})
    derived = reference.tolerance()
    assert set(derived.finer) == {"sums"}
    made = reference.prepare_round(1, "setup", "cpu", derived)
    assert made.usable, made.why_not
    assert set(made.tolerance.finer) == finer

"""Variants differ only where they must; writing what stands there changes no byte."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbs_backends.variants import MarkError, read_marks, write_variant
from tests.variants.test_marks import CUDA, PYTHON

PRETTY = st.text(alphabet="abé \t#/\"'=", max_size=12)


@pytest.mark.parametrize(
    ("tunables", "switches", "message"),
    [
        ({"NOPE": 1}, {}, "no tunable NOPE"),
        ({}, {"tma_load": True}, "no switch for tma_load"),
        ({"BLOCK_M": 48}, {}, "may not be 48"),
        ({"BLOCK_M": "64"}, {}, "may not be '64'"),
        ({"BLOCK_M": True}, {}, "may not be True"),
        ({"BLOCK_M": 64.0}, {}, "may not be 64.0"),
    ],
)
def test_what_cannot_be_set_is_refused(tunables, switches, message):
    with pytest.raises(MarkError, match=message):
        write_variant(PYTHON, "triton", tunables, switches)


def test_a_cuda_word_must_be_one_word():
    text = "#define F a // kbs:tunable a, b.c\n"
    with pytest.raises(MarkError, match="not one C\\+\\+ name"):
        write_variant(text, "cuda-cpp", {"F": "b.c"}, {})


def changed(before, after):
    pairs = zip(before.split("\n"), after.split("\n"), strict=True)
    return [new for old, new in pairs if old != new]


def test_python_variant_changes_only_its_literals():
    variant = write_variant(
        PYTHON,
        "triton",
        {"BLOCK_M": 128, "PRECISION": "ieee", "SCALE": 1, "WIDE": 1, "BN": 64, "num_warps": 8},
        {"l2_grouped_ordering": False, "fast_math_intrinsics": True},
    )
    assert changed(PYTHON, variant) == [
        "BLOCK_M = 128            # kbs:tunable 32, 64, 128",
        "GROUPED = False          # kbs:method l2_grouped_ordering",
        'PRECISION = "ieee"  # kbs:tunable "ieee", "tf32"',
        "SCALE = 1.0  # kbs:tunable -0.5, 1, 2.5",
        "WIDE: tl.constexpr = tl.constexpr(1)",
        "BM, BN = 64, 64  # kbs:tunable BN: 64, 128",
        "        num_warps=8,  # kbs:tunable 2, 4, 8",
        "        FAST=True,  # kbs:method fast_math_intrinsics",
    ]


def test_cuda_variant_keeps_suffixes_and_the_way_a_switch_is_written():
    variant = write_variant(
        CUDA,
        "cuda-cpp",
        {"STORE": "__stwt", "BM": 32, "SCALE": 2.0, "MASK": 32},
        {"smem_padding": False, "fast_math_intrinsics": True},
    )
    assert changed(CUDA, variant) == [
        "#define PAD_SMEM 0            // kbs:method smem_padding",
        "#define STORE __stwt          // kbs:tunable __stcs, __stwt",
        "constexpr int BM = 32;        // kbs:tunable 32, 64, 128",
        "static const float SCALE = 2.0f; /* kbs:tunable -1.5, 2.0 */",
        "constexpr bool FAST = true;  // kbs:method fast_math_intrinsics",
        "constexpr unsigned MASK = 32u; // kbs:tunable 16, 32",
    ]


def test_constants_of_one_method_are_switched_together():
    text = "A = True  # kbs:method tma_load\nB = False  # kbs:method tma_load\n"
    assert write_variant(text, "triton", {}, {"tma_load": False}).count("False") == 2


VALUES = st.one_of(
    st.integers(-(2**40), 2**40),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(alphabet="abc_xyz", min_size=1, max_size=6),
)
SOME = st.lists(st.lists(VALUES, min_size=1, max_size=4), min_size=1, max_size=4)


def same_kind(values):
    kind = type(values[0])
    return [value for value in values if type(value) is kind]


def python_source(rows, noise):
    lines = [f"# {noise}", ""]
    for number, values in enumerate(rows):
        listed = ", ".join(map(repr, values))
        lines.append(f"N{number}  =  {values[0]!r}  # kbs:tunable {listed}")
    return "\r\n".join(lines)


def cuda_source(rows, noise):
    lines = [f"// {noise.replace(chr(92), '')}", ""]
    for number, values in enumerate(rows):
        words = [str(v).lower() if isinstance(v, bool) else str(v) for v in values]
        lines.append(f"#define N{number}   {words[0]}   // kbs:tunable {', '.join(words)}")
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("language", "build"), [("triton", python_source), ("cuda-cpp", cuda_source)]
)
@settings(max_examples=60, deadline=None)
@given(rows=SOME, noise=PRETTY, pick=st.integers(0, 3))
def test_round_trip_laws(language, build, rows, noise, pick):
    text = build([list(dict.fromkeys(same_kind(values))) for values in rows], noise)
    marks = read_marks(text, language)
    assert write_variant(text, language, marks.values(), {}) == text
    chosen = {t.name: t.values[pick % len(t.values)] for t in marks.tunables}
    variant = write_variant(text, language, chosen, {})
    again = read_marks(variant, language)
    assert again.values() == chosen
    assert {t.name: set(t.values) for t in again.tunables} == {
        t.name: set(t.values) for t in marks.tunables
    }
    # Back again: the same text, unless the old value was spelled in another way than repr's.
    back = write_variant(variant, language, marks.values(), {})
    assert read_marks(back, language).values() == marks.values()
    if language == "triton":
        assert back == text


def test_text_that_is_not_ascii_is_cut_at_the_right_bytes():
    text = 'NOTE = "größer × kleiner"  # µ\nBLOCK = 64  # kbs:tunable 64, 128\n'
    assert write_variant(text, "triton", {"BLOCK": 128}, {}) == text.replace("= 64", "= 128")
    text = "// größer\nconst int B = 64;  // kbs:tunable 64, 128\n"
    assert write_variant(text, "cuda-cpp", {"B": 128}, {}) == text.replace("= 64", "= 128")

"""Marks: first what is no mark and what is refused, then what is read."""

import pytest

from kbs_backends.variants import MarkError, read_marks

PLAIN = [
    ("triton", "# the mark kbs:tunable is explained elsewhere\nX = 3\n"),
    ("triton", 'TEXT = """\n# kbs:tunable 1, 2\n"""\n'),
    ("triton", "# kbs:signature f(x=1)\nX = 3\n"),
    ("cuda-cpp", "// see kbs:method below\nconst int x = 3;\n"),
    ("cuda-cpp", 'const char* t = "// kbs:tunable 1, 2";\n'),
]


@pytest.mark.parametrize(("language", "text"), PLAIN)
def test_prose_and_strings_are_no_marks(language, text):
    marks = read_marks(text, language)
    assert (marks.tunables, marks.switches) == ((), ())


REFUSED = [
    ("triton", "X = 3\nY = f(X)  # kbs:tunable 1, 2\n", 2, "no literal value"),
    ("triton", "X = 3  # kbs:tunable\n", 1, "lists no values"),
    ("triton", "X = 3  # kbs:tunable 1, 'two'\n", 1, "may not be 'two'"),
    ("triton", "X = 3  # kbs:tunable True, False\n", 1, "may not be True"),
    ("triton", "X = 3  # kbs:tunable 1, , 2\n", 1, "no value"),
    ("triton", "X = 3  # kbs:method smem_padding\n", 1, "not on or off"),
    ("triton", "X = True  # kbs:method Not An Id\n", 1, "no method id"),
    ("triton", "A, B = 1, 2  # kbs:tunable 1, 2\n", 1, "could mean A, B"),
    ("triton", "# kbs:tunable 1, 2\n\nX = 3\n", 1, "no literal value"),
    ("triton", "X = 3 # kbs:tunable 3, 4\ndef f():\n  X = 4 # kbs:tunable 3, 4\n", 3, "twice"),
    ("triton", "def broken(:\n", 1, "not valid Python"),
    ("triton", "X = 1  # kbs:tunable 1, x,\n", 1, "may not be 'x'"),
    ("triton", "X = 1  # kbs:tunable a, b\n", 1, "may not be 'a'"),
    ("triton", "X = 1  # kbs:tunable 2, 4\n", 1, "which its list lacks: 2, 4"),
    ("triton", "\n# kbs:tunable 2, 4\nX = 1\n", 2, "which its list lacks"),
    ("triton", "X = 1  # kbs:tunable 1, 1, 1\n", 1, "lists 1 twice"),
    ("triton", "X = 2.0  # kbs:tunable 2.0, 2, 3\n", 1, "lists 2 twice"),
    ("triton", "X = 1  # kbs:tunable NOPE: 1, 2\n", 1, "no literal value of NOPE"),
    ("triton", "X = 1  # kbs:tunable X:\n", 1, "lists no values"),
    ("triton", "X = True  # kbs:method\n", 1, "no method id: ''"),
    ("triton", "X = True  # kbs:method NOPE: tma_load\n", 1, "no literal value of NOPE"),
    ("cuda-cpp", "constexpr int X = 1; // kbs:tunable 1, x,\n", 1, "may not be 'x'"),
    ("cuda-cpp", "constexpr int X = 1; // kbs:tunable a, b\n", 1, "may not be 'a'"),
    ("cuda-cpp", "constexpr int X = 1; // kbs:tunable 2, 4\n", 1, "which its list lacks: 2, 4"),
    ("cuda-cpp", "#define X 1 // kbs:tunable 1, 1, 1\n", 1, "lists 1 twice"),
    ("cuda-cpp", "#define X 1 /* kbs:tunable 1, 1 */\n", 1, "lists 1 twice"),
    ("cuda-cpp", "#define X 1 // kbs:tunable NOPE: 1, 2\n", 1, "no literal value of NOPE"),
    ("cuda-cpp", "#define X 1 // kbs:tunable\n", 1, "lists no values"),
    ("cuda-cpp", "#define X 1 // kbs:method\n", 1, "no method id: ''"),
    ("cuda-cpp", "int a = 1, b = 2; // kbs:tunable 1, 2\n", 1, "could mean a, b"),
    ("cuda-cpp", "#define PAD 2 // kbs:method smem_padding\n", 1, "not on or off"),
    ("cuda-cpp", "float x = y; // kbs:tunable 1.0\n", 1, "no literal value"),
]


@pytest.mark.parametrize(("language", "text", "line", "message"), REFUSED)
def test_a_mark_that_cannot_be_meant_is_told_with_file_and_line(language, text, line, message):
    with pytest.raises(MarkError, match=message) as caught:
        read_marks(text, language, where="kernel.src")
    assert caught.value.where == f"kernel.src:{line}"
    assert caught.value.remedy


def test_a_language_without_marks_is_named():
    with pytest.raises(MarkError, match="language other"):
        read_marks("", "other")


PYTHON = """\
import triton
BLOCK_M = 64            # kbs:tunable 32, 64, 128
GROUPED = True          # kbs:method l2_grouped_ordering
PRECISION = "tf32"  # kbs:tunable "ieee", "tf32"
SCALE = -0.5  # kbs:tunable -0.5, 1, 2.5
# kbs:tunable 1, 2
WIDE: tl.constexpr = tl.constexpr(2)
BM, BN = 64, 128  # kbs:tunable BN: 64, 128
CONFIG = {"STEP": 4}  # kbs:tunable 2, 4

def run_kernel(x):
    kernel[(1,)](
        x,
        num_warps=4,  # kbs:tunable 2, 4, 8
        FAST=False,  # kbs:method fast_math_intrinsics
    )
"""


def test_python_marks_on_constants_arguments_and_entries():
    marks = read_marks(PYTHON, "triton")
    found = {tunable.name: (tunable.current, tunable.values) for tunable in marks.tunables}
    assert found == {
        "BLOCK_M": (64, (32, 64, 128)),
        "PRECISION": ("tf32", ("ieee", "tf32")),
        "SCALE": (-0.5, (-0.5, 1, 2.5)),
        "WIDE": (2, (1, 2)),
        "BN": (128, (64, 128)),
        "STEP": (4, (2, 4)),
        "num_warps": (4, (2, 4, 8)),
    }
    assert marks.methods() == {"l2_grouped_ordering": True, "fast_math_intrinsics": False}
    assert [switch.line for switch in marks.switches] == [3, 15]


CUDA = """\
#define PAD_SMEM 1            // kbs:method smem_padding
#define STORE __stcs          // kbs:tunable __stcs, __stwt
constexpr int BM = 64;        // kbs:tunable 32, 64, 128
static const float SCALE = -1.5f; /* kbs:tunable -1.5, 2.0 */
constexpr bool FAST = false;  // kbs:method fast_math_intrinsics
constexpr unsigned MASK = 0x10u; // kbs:tunable 16, 32
__global__ void k(float* y) {
  const int stages = 2;  // kbs:tunable 1, 2
  y[0] = stages;
}
"""


def test_cuda_marks_on_macros_and_constants():
    marks = read_marks(CUDA, "cuda-cpp")
    found = {tunable.name: (tunable.current, tunable.values) for tunable in marks.tunables}
    assert found == {
        "STORE": ("__stcs", ("__stcs", "__stwt")),
        "BM": (64, (32, 64, 128)),
        "SCALE": (-1.5, (-1.5, 2.0)),
        "MASK": (16, (16, 32)),
        "stages": (2, (1, 2)),
    }
    assert marks.methods() == {"smem_padding": True, "fast_math_intrinsics": False}


def test_several_constants_of_one_method_are_on_only_together():
    text = "A = True  # kbs:method tma_load\nB = False  # kbs:method tma_load\n"
    assert read_marks(text, "triton").methods() == {"tma_load": False}


def test_a_method_that_no_wiki_knows_is_a_switch_all_the_same():
    assert read_marks("X = True  # kbs:method my_own_idea\n", "triton").methods() == {
        "my_own_idea": True
    }

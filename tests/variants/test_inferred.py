"""Tunables of unmarked kernels: first what is not offered."""

import pytest

from kbs_backends.variants import read_marks

QUIET = [
    ("triton", "EPOCHS = 64\nSEED = 256\n"),  # no name of a tile
    ("triton", "BLOCK = 300\n"),  # not a power of two: bound to a shape
    ("triton", "BLOCK = 64  # kbs:tunable 32, 64\nBLOCK_M = 64  # free\n"),  # the author spoke
    ("triton", "def helper(BLOCK=256):\n    return BLOCK\n"),  # a default of a host function
    ("cuda-cpp", "constexpr int EPOCHS = 256;\n"),
    ("cuda-cpp", "constexpr int BLOCK = 4096;\n"),  # more threads than a block may have
    (
        "cuda-cpp",  # 256 stands twice: one alone must not change
        """__global__ void k(float* y) {}
        void solve(float* y, int n) { k<<<(n + 255) / 256, 256>>>(y); }""",
    ),
    (
        "cuda-cpp",  # and the kernel's array has this size
        """__global__ void k(float* y) { __shared__ float s[256]; }
        void solve(float* y, int n) { k<<<n, 256>>>(y); }""",
    ),
    ("cuda-cpp", "void solve(float* y) { dim3 block(16, 16); k<<<1, block>>>(y); }\n"),
]


@pytest.mark.parametrize(("language", "text"), QUIET)
def test_nothing_is_offered(language, text):
    assert [t for t in read_marks(text, language).tunables if t.kind == "inferred"] == []


TRITON = """\
import triton
import triton.language as tl

@triton.jit
def add(x, y, n, BLOCK: tl.constexpr, GROUP_M: tl.constexpr = 8):
    pass

@triton.jit
def mul(x, y, n, BLOCK: tl.constexpr):
    pass

def run_kernel(x, y, n):
    add[(1,)](x, y, n, BLOCK=256, num_warps=4, num_stages=2)
    mul[(1,)](x, y, n, BLOCK=1024, num_warps=4)
"""


def test_triton_launch_constants_with_the_kernel_named_where_a_name_repeats():
    marks = read_marks(TRITON, "triton")
    assert {tunable.kind for tunable in marks.tunables} == {"inferred"}
    assert {tunable.name: tunable.current for tunable in marks.tunables} == {
        "GROUP_M": 8,
        "add.BLOCK": 256,
        "add.num_warps": 4,
        "num_stages": 2,
        "mul.BLOCK": 1024,
        "mul.num_warps": 4,
    }
    ranges = {tunable.name: tunable.values for tunable in marks.tunables}
    assert ranges["add.BLOCK"] == (64, 128, 256, 512, 1024)
    assert ranges["add.num_warps"] == (1, 2, 4, 8, 16)


CUDA = """\
#define TILE 16
constexpr int THREADS = 256;
__global__ void a(float* y, int n) {}
__global__ void b(float* y, int n) {}
__global__ void c(float* y, int n) {}
void solve(float* y, int n) {
  int block_size = 128;
  a<<<n, THREADS>>>(y, n);
  b<<<n, 512>>>(y, n);
  dim3 threads(64);
  c<<<dim3(n), threads>>>(y, n);
}
"""


def test_cuda_block_sizes():
    found = {t.name: (t.current, t.values) for t in read_marks(CUDA, "cuda-cpp").tunables}
    assert found == {
        "TILE": (16, (16, 32, 64)),
        "THREADS": (256, (64, 128, 256, 512, 1024)),
        "block_size": (128, (32, 64, 128, 256, 512)),
        "b.block": (512, (128, 256, 512, 1024)),
        "c.block": (64, (32, 64, 128, 256)),
    }


def test_constants_that_a_rewrite_put_in_leave_the_authors_kernel_unmarked():
    text = "KBS_WARPS = 4  # kbs:tunable 2, 4\nBLOCK = 64\n"
    assert [t.name for t in read_marks(text, "triton").tunables] == ["KBS_WARPS", "BLOCK"]

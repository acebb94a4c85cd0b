"""Wide accesses go as far as the threads before them, and blocks are saved where all is covered."""

import pytest

from kbs_backends.rewrites import RewriteSource, all_rewrites

REWRITE = all_rewrites("cuda-cpp")["vectorized_access"]


def rewritten(launch, before="", beside=""):
    text = (
        f"{before}\n__global__ void k(const float* x, float* y, int n) {{\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = y[i] + x[i];\n}\n"
        f'extern "C" void solve(const float* x, float* y, int n) {{ {launch} }}\n{beside}'
    )
    return REWRITE.apply(RewriteSource(text=text, language="cuda-cpp"))


@pytest.mark.parametrize(
    ("launch", "before"),
    [
        ("k<<<(n + 255) / 256, 256>>>(x, y, n);", ""),
        ("k<<<(255 + n) / 256, 256>>>(x, y, n);", ""),
        ("k<<<(n + T - 1) / T, T>>>(x, y, n);", "#define T 256"),
        ("k<<<(n - 1 + T) / T, T>>>(x, y, n);", "constexpr int T = 256;"),
        ("int t = 64; int b = (n + t - 1) / t; k<<<b, t>>>(x, y, n);", ""),
        ("dim3 t(64), b((n + 63) / 64); k<<<b, t>>>(x, y, n);", ""),
        ("k<<<n / 256 + 1, 256>>>(x, y, n);", ""),
        ("k<<<1 + (n - 1) / 256, 256>>>(x, y, n);", ""),
        ("k<<<(unsigned)((n + 511) / 256), 256>>>(x, y, n);", ""),
        ("k<<<CDIV(n, 256), 256>>>(x, y, n);", "#define CDIV(a, b) (((a) + (b) - 1) / (b))"),
        (
            "k<<<cdiv(n, 256), 256>>>(x, y, n);",
            "int cdiv(int a, int b) { return (a + b - 1) / b; }",
        ),
        ("k<<<(n / 2 + 255) / 256, 256>>>(x, y, n / 2);", ""),
    ],
)
def test_a_grid_that_covers_the_size_needs_no_other_bound(launch, before):
    assert "kbs_size" not in rewritten(launch, before)


@pytest.mark.parametrize(
    ("launch", "before"),
    [
        ("k<<<n / 256, 256>>>(x, y, n);", ""),
        ("k<<<(n + 254) / 256, 256>>>(x, y, n);", ""),
        ("k<<<(n + 255) / 256, 128>>>(x, y, n);", ""),
        ("k<<<(n + 127) / 256, 256>>>(x, y, n);", ""),
        ("k<<<(n - 2) / 256 + 1, 256>>>(x, y, n);", ""),
        ("k<<<(n / 2 + 255) / 256, 256>>>(x, y, n);", ""),
        ("k<<<9, 256>>>(x, y, n);", ""),
        ("k<<<min(9, (n + 255) / 256), 256>>>(x, y, n);", ""),
        ("int b = (n + 255) / 256; b = 1; k<<<b, 256>>>(x, y, n);", ""),
        ("int m = n; m -= 9; k<<<(m + 255) / 256, 256>>>(x, y, m); m = 0;", ""),
        ("k<<<cdiv(n, 256), 256>>>(x, y, n);", "int cdiv(int a, int b) { return a / b; }"),
        ("k<<<cdiv(n, 256), 256>>>(x, y, n);", "int cdiv(int a, int b);"),
        ("k<<<(n + 255) / 256, 256>>>(x, y, n); k<<<1, 256>>>(x, y, n);", ""),
        ("", ""),
    ],
)
def test_a_grid_that_may_not_cover_the_size_keeps_its_blocks_and_its_end(launch, before):
    new = rewritten(launch, before)
    threads = "(long long)gridDim.x * blockDim.x"
    assert f"kbs_size = n < {threads} ? n : {threads};" in new
    assert launch in new
    assert "if (kbs_size - kbs_first >= KBS_VECTOR" in new

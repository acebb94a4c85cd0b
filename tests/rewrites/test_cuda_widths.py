"""Indices of 64 bits become narrow where every number on their way is shown to stay below 2^31."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbs_backends.rewrites import RewriteSource, all_rewrites
from kbs_backends.rewrites.cuda.bounds import Bounds
from kbs_backends.rewrites.cuda.view import View

REWRITE = all_rewrites("cuda-cpp")["index_width_reduction"]
INDEX = "size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;"
LAUNCH = "k<<<(n + 255) / 256, 256>>>(x, y, n, 64);"


def kernel(body, launch=LAUNCH, before=""):
    return (
        f"{before}\n__global__ void k(const float* x, float* y, int n, int rows) {{ {body} }}\n"
        f'extern "C" void solve(const float* x, float* y, int n) {{ {launch} }}\n'
    )


def asked(text, **dims):
    return REWRITE.applies(RewriteSource(text=text, language="cuda-cpp", dims=dims))


ROWS = "int i = threadIdx.x; for (int r = 0; r < rows; r++) y[(long long)r * n + i] = x[i];"


@pytest.mark.parametrize(
    ("n", "ok"), [(1000, True), (34087037, True), (34087038, False), (100_000_000, False)]
)
def test_a_number_in_the_launch_counts_like_a_size(n, ok):
    """63 rows of 34087037 and 255 columns end below 2^31."""
    assert asked(kernel(ROWS), n=n).ok is ok


@pytest.mark.parametrize(
    "body",
    [
        f"{INDEX} if (i < n) y[i] = x[i];",
        f"{INDEX} if (i >= n) return; y[i] = x[i * rows + 3];",
        f"{INDEX} if (i < n) {{ size_t r = i / rows; y[r] = x[(size_t)(i % rows) * n]; }}",
        f"for ({INDEX} i < n; i += (size_t)blockDim.x * gridDim.x) y[i] = x[i];",
        "for (size_t j = threadIdx.x; j < n; ++j) y[j] = x[j];",
        f"{INDEX} const float* row = x + i * 2; if (i < n) y[i] = row[0];",
        f"{INDEX} if (i < min(n, rows)) y[(size_t)i * rows] = x[i];",
    ],
)
def test_what_is_bounded_becomes_narrow(body):
    answer = asked(kernel(body), n=4096)
    assert answer.ok, answer.why
    assert not asked(kernel(body), n=2**31).ok
    assert not asked(kernel(body), m=4096).ok


@pytest.mark.parametrize(
    ("body", "before"),
    [
        (ROWS.replace("rows;", "rows * rows * rows * 64;"), ""),
        ("int i = threadIdx.x; y[(size_t)i * (int)x[i]] = 0;", ""),
        ("int i = threadIdx.x; y[(size_t)i - 1] = x[i];", ""),
        (f"{INDEX} y[i] = pick(i);", "__device__ float pick(size_t i);"),
        (f"{INDEX} i = i * n; y[i] = 0;", ""),
        (f"{INDEX} move(i); y[i] = 0;", "__device__ void move(size_t& i) { i += 9; }"),
        ("for (size_t j = threadIdx.x; y[j] > 0; ++j) y[j] = x[j];", ""),
        ("for (size_t j = threadIdx.x; j < n; ++j) { y[j] = x[j]; j += n; }", ""),
        ("int i = threadIdx.x; y[(size_t)i * wide] = 0;", "int wide = 9;"),
        ("int i = threadIdx.x; n = 9; y[(size_t)i * n] = 0;", ""),
        ("int i = threadIdx.x; y[(size_t)i * blockIdx.y * 4194304 * rows] = 0;", ""),
    ],
)
def test_what_is_not_shown_to_be_bounded_stays(body, before):
    launch = LAUNCH.replace("(n + 255) / 256", "dim3(n, n)")
    assert not asked(kernel(body, launch, before), n=4096).ok


@pytest.mark.parametrize(
    "launch",
    [
        "dim3 g((n + 255) / 256); dim3 b(256); k<<<g, b>>>(x, y, n, 64);",
        "int b = 256; int g = (n + b - 1) / b; k<<<g, b>>>(x, y, n, 64);",
        "k<<<(n + T - 1) / T, T>>>(x, y, n, 64);",
        "k<<<9, 256>>>(x, y, n, 64); k<<<n, 128>>>(x, y, n / 2, 1);",
        "auto go = [&](int m) { k<<<9, 256>>>(x, y, n, 64); }; go(n);",
    ],
)
def test_launches_are_read_as_they_are_written(launch):
    body = f"{INDEX} if (i < n) y[(size_t)i * rows] = x[i];"
    assert asked(kernel(body, launch, "constexpr int T = 256;"), n=4096).ok


@pytest.mark.parametrize(
    "launch",
    [
        "",
        "k<<<(n + 255) / 256, 256>>>(x, y, n, more(n));",
        "int m = 1; if (n > 9) m = n * n; k<<<m, 256>>>(x, y, n, 64);",
        "k<<<9, 256>>>(x, y, n, 64); k<<<n, 256>>>(x, y, n, 1 << 30);",
        "auto go = k; go<<<9, 256>>>(x, y, n, 64); k<<<9, 256>>>(x, y, n, 64);",
        "n *= n; k<<<n, 256>>>(x, y, n, 64);",
    ],
)
def test_a_launch_that_is_not_known_bounds_nothing(launch):
    body = f"{INDEX} if (i < n) y[(size_t)i * rows] = x[i];"
    assert not asked(kernel(body, launch), n=4096).ok


SUMS = st.recursive(
    st.sampled_from(["n", "rows", "7", "1"]),
    lambda inner: st.tuples(inner, st.sampled_from("+*/%-"), inner).map(
        lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"
    ),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(text=SUMS, n=st.integers(0, 70_000), rows=st.integers(0, 70_000))
def test_a_bound_holds_the_value_and_all_on_its_way(text, n, rows):
    """The law of a bound: no value lies outside of it, and nothing below overflows."""
    source = f"void solve(int n, int rows) {{ int found = {text}; }}\n__global__ void k() {{ }}"
    view = View(source)
    value = next(view.tree.walk(None, "init_declarator")).child_by_field_name("value")
    bound = Bounds(view, {"n": n, "rows": rows}).of(value)
    if bound is not None:
        found = eval(text.replace("/", "//"), {"n": n, "rows": rows})
        assert 0 <= bound[0] <= found <= bound[1] < 2**31

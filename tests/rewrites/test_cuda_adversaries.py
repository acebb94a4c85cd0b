"""CUDA that looks like what a rewrite knows and is not: each must be refused, with its reason."""

import pytest

from kbs_backends.rewrites import RewriteSource
from tests.rewrites.cuda_asked import INDEX, REWRITES, asked, elementwise


@pytest.mark.parametrize(
    ("work", "before", "why"),
    [
        ("y[i] = x[i] * (threadIdx.x % 2 ? -1.0f : 1.0f);", "", "uses threadIdx"),
        ("y[i] = x[i] + blockIdx.x;", "", "uses blockIdx"),
        ("y[i] = x[i] / gridDim.x;", "", "uses gridDim"),
        ("y[i] = x[i] + __shfl_xor_sync(0xffffffff, x[i], 1);", "", "uses __shfl_xor_sync"),
        ("y[i] = __ballot_sync(~0u, x[i] > 0.0f);", "", "uses __ballot_sync"),
        ("y[i] = __any_sync(~0u, x[i] > 0.0f);", "", "uses __any_sync"),
        ("y[i] = x[i]; __syncwarp();", "", "uses __syncwarp"),
        ("y[i] = x[i] + clock64();", "", "uses clock64"),
        ('y[i] = x[i]; asm volatile("");', "", "uses asm"),
        ("__shared__ float s; s = x[i]; y[i] = s;", "", "uses __shared__"),
        ("y[i] = x[i] * SIGN;", "#define SIGN (threadIdx.x & 1 ? -1 : 1)", "uses threadIdx"),
        ("y[i] = WARP(x[i]);", "#define WARP(v) __shfl_down_sync(~0u, v, 1)", "uses __shfl_down"),
        ("y[i] = x[i] * sign();", "__device__ int sign() { return threadIdx.x; }", "threadIdx"),
        (
            "y[i] = f(x[i]);",
            (
                "__device__ float g(float v) { return v * threadIdx.x; }\n"
                "__device__ float f(float v) { return g(v); }"
            ),
            "uses threadIdx",
        ),
        ("y[i] = x[i] * from_a_header();", "", "calls from_a_header"),
        ("y[i] = x[i]; n = 4;", "", "changes n"),
        ("i += 1; y[i] = x[i];", "", "changes i"),
    ],
)
def test_work_that_hangs_on_its_thread_is_not_shared_out(work, before, why):
    answer = asked("vectorized_access", elementwise(work, before))
    assert not answer.ok
    assert why in answer.why


@pytest.mark.parametrize(
    ("work", "before"),
    [
        ("y[i] = x[i] * blockDim.x;", ""),
        ("y[i] = fmaxf(x[i], 0.0f) + powf(x[i], 2.0f);", ""),
        ("y[i] = half_of(x[i]);", "__device__ float half_of(float v) { return 0.5f * v; }"),
        ("y[i] = SQUARE(x[i]);", "#define SQUARE(v) ((v) * (v))"),
        ("y[i] = x[i];  // not threadIdx.x", ""),
        ("y[i] = static_cast<float>(i) * x[i] + sqrtf(expf(x[i]));", ""),
    ],
)
def test_work_of_one_element_is_shared_out(work, before):
    answer = asked("vectorized_access", elementwise(work + "\n", before))
    assert answer.ok, answer.why


WITH_Z = "const float* x, const float* z, float* y, int n"


@pytest.mark.parametrize(
    ("work", "before", "why"),
    [
        ("float v = x[i]; if (n > 9) v += z[i]; y[i] = v;", "", "z only under a condition"),
        ("y[i] = x[i] + (n > 9 ? z[i] : 0.0f);", "", "z only under a condition"),
        ("y[i] = x[i] + (n > 9 && z[i] > 0.0f);", "", "z only under a condition"),
        ("y[i] = x[i] + (n < 9 or z[i] > 0.0f);", "", "z only under a condition"),
        ("float v = x[i]; for (int j = 9; j < n; ++j) v += z[i]; y[i] = v;", "", "z only under"),
        ("float v = x[i]; while (v < 0.0f) v += z[i]; y[i] = v;", "", "z only under"),
        ("float v = x[i]; switch (n) { case 1: v += z[i]; } y[i] = v;", "", "z only under"),
        ("float v = x[i]; if (v > 0.0f) v = 1.0f; else v = z[i]; y[i] = v;", "", "z only under"),
        ("y[i] = x[i];\n#if WIDE\ny[i] += z[i];\n#endif\n", "#define WIDE 0", "z only under"),
        ("y[i] = x[i] * sizeof(z[i]);", "", "change an element of z"),
        ("y[i] = x[i] * sizeof(1 + z[i]);", "", "z only under a condition"),
        ("y[i] = MAYBE(z[i]) + x[i];", "#define MAYBE(v) (N > 9 ? (v) : 0.0f)", "z only under"),
        ("y[i] = NOT(z[i]) + x[i];", "#define NOT(v) 0.0f", "z only under a condition"),
        ("if (x[i] > 0.0f) y[i] = z[i] + x[i];", "", "only under a condition"),
        ("float v = x[i] + z[i] + y[i]; if (v > 0.0f) y[i] = v;", "", "stores to y only under"),
        ("float v = x[i] + z[i]; y[i] = v; STOP(v);", "#define STOP(v) if (v > 9) return", "early"),
        ("y[i] = x[i] + Z + z[i];", "#define Z z[i + 1]", "reaches z in a macro"),
        ("set(y[i], x[i] + z[i]);", "__device__ void set(float& a, float v) { a = v; }", "change"),
        ("float& r = y[i]; r = x[i] + z[i];", "", "change an element of y"),
        ("(y[i]) = x[i] + z[i];", "", "change an element of y"),
    ],
)
def test_a_pack_is_not_moved_where_an_element_may_not_be(work, before, why):
    answer = asked("vectorized_access", elementwise(work, before, WITH_Z))
    assert not answer.ok
    assert why in answer.why


@pytest.mark.parametrize(
    "work",
    [
        "float v = x[i] + z[i]; y[i] = v > 0.0f ? x[i] : z[i];",
        "if (x[i] > z[i]) { y[i] = x[i]; } y[i] = z[i];",
        "float v; do { v = x[i] + z[i]; } while (v > 9.0f); y[i] = v;",
        "for (int j = z[i]; j < n; ++j) y[i] = x[i]; y[i] = x[i];",
    ],
)
def test_an_element_that_is_reached_in_any_case_may_be_reached_again(work):
    answer = asked("vectorized_access", elementwise(work, params=WITH_Z))
    assert answer.ok, answer.why


def test_a_grid_stride_loop_over_groups_counts_no_further_than_the_one_before():
    loop = f"for ({INDEX} i < n; i += blockDim.x * gridDim.x) y[i] = x[i];"
    text = elementwise("").replace(f"{INDEX} if (i < n) {{  }}", loop)
    source = RewriteSource(text=text, language="cuda-cpp")
    new = REWRITES["vectorized_access"].apply(source)
    assert "kbs_thread += blockDim.x * gridDim.x" in new
    assert "kbs_first +=" not in new


def test_two_names_at_the_beginning_are_not_lost():
    text = elementwise("y[i] = x[i] * t;").replace("threadIdx.x;", "threadIdx.x, t = threadIdx.x;")
    assert "more than its index" in asked("vectorized_access", text).why


@pytest.mark.parametrize("method", ["vectorized_access", "streaming_stores"])
def test_a_volatile_array_is_left_alone(method):
    text = elementwise("y[i] = x[i];", params="const float* x, volatile float* y, int n")
    assert "volatile" in asked(method, text).why


def test_overloads_are_not_told_apart():
    other = "__global__ void k(const double* x, float* y, int n) { y[0] = x[threadIdx.x]; }"
    assert "overloads" in asked("vectorized_access", elementwise("y[i] = x[i];", other)).why


@pytest.mark.parametrize(
    ("first", "text"),
    [
        ("cache_eviction_hints", elementwise("y[i] = x[i];")),
        ("streaming_stores", elementwise("y[i] = x[i];", params="float* x, float* y, int n")),
    ],
)
def test_hints_of_an_earlier_rewrite_are_named(first, text):
    source = RewriteSource(text=text, language="cuda-cpp")
    after = RewriteSource(text=REWRITES[first].apply(source), language="cuda-cpp")
    why = REWRITES["vectorized_access"].applies(after).why
    assert "of an earlier rewrite" in why

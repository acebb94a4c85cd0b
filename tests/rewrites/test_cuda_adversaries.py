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


STEP = (
    "__global__ void step(const float* u, float* v, int n) "
    f"{{ {INDEX} if (i < n) v[i] = u[i] * 0.5f; }}\n"
)
RELAX = "static void relax(const float* a, float* b, int n) { step<<<1, 256>>>(a, b, n); }\n"


@pytest.mark.parametrize(
    ("host", "why"),
    [
        (RELAX + "void solve(float* u, int n) { relax(u, u, n); }", "by a caller of relax"),
        (
            RELAX
            + "static void twice(float* p, float* q, int n) { relax(p, q, n); relax(q, p, n); }\n"
            + "void solve(float* u, float* w, int n) { twice(u, w, n); twice(u, u, n); }",
            "by a caller of relax",
        ),
        ("void solve(float* u, int n) { float* w = u; step<<<1, 256>>>(u, w, n); }", "twice"),
        ("void solve(float* u, int n) { step<<<1, 256>>>(u, u + n, n); }", "twice"),
        ("void solve(float* u, int n) { step<<<1, 256>>>(&u[0], &u[n], n); }", "twice"),
        (
            "void solve(float* u, float* w, int n) { step<<<1, 256>>>(n > 9 ? w : u, w, n); }",
            "twice",
        ),
        (
            (
                "void solve(float* u, float* w, int n) {\n"
                "  for (int s = 0; s < n; ++s) { step<<<1, 256>>>(u, w, n); std::swap(u, w); }\n}"
            ),
            "twice",
        ),
        (
            (
                "float* pick(int n);\n"
                "void solve(float* u, int n) { step<<<1, 256>>>(u, pick(n), n); }"
            ),
            "cannot be followed",
        ),
        (
            (
                "void find(float** p);\n"
                "void solve(float* u, int n) { float* w; find(&w); step<<<1, 256>>>(u, w, n); }"
            ),
            "cannot be followed",
        ),
        (
            (
                "void solve(float* u, int n) {\n"
                "  auto go = [&](const float* a, float* b) { step<<<1, 256>>>(a, b, n); };\n"
                "  go(u, u);\n}"
            ),
            "cannot be followed",
        ),
        (
            (
                "typedef void (*kern)(const float*, float*, int);\n"
                "void solve(float* u, float* w, int n) { kern k = step; k<<<1, 256>>>(u, w, n); }"
            ),
            "through a pointer",
        ),
        (
            (
                "void solve(float* u, int n) {\n"
                "  void* given[] = {&u, &u, &n};\n"
                "  cudaLaunchKernel((void*)step, dim3(1), dim3(256), given, 0, 0);\n}"
            ),
            "through a pointer",
        ),
        (
            (
                "struct Both { float* a; float* b; };\n"
                "void solve(float* u, int n) { Both p{u, u}; step<<<1, 256>>>(p.a, p.b, n); }"
            ),
            "twice",
        ),
    ],
)
@pytest.mark.parametrize("method", ["readonly_cache_path", "vectorized_access"])
def test_arrays_that_may_be_one_are_not_called_apart(method, host, why):
    answer = asked(method, STEP + host)
    assert not answer.ok
    assert why in answer.why


@pytest.mark.parametrize(
    "host",
    [
        RELAX + "void solve(float* u, float* w, int n) { relax(u, w, n); relax(w, u, n); }",
        "void solve(float* u, int n) { float* w; cudaMalloc(&w, n); step<<<1, 256>>>(u, w, n); }",
        "static float* w;\nvoid solve(float* u, int n) { step<<<1, 256>>>(u, w, n); }",
        "struct P { float *u, *w; };\nvoid solve(P p, int n) { step<<<1, 256>>>(p.u, p.w, n); }",
        (
            "void solve(Tensor u, int n) { auto w = torch::empty_like(u);\n"
            "  step<<<1, 256>>>(u.data_ptr<float>(), w.data_ptr<float>(), n); }"
        ),
        "void solve(float* u, float* w, int n) { step<<<1, 256>>>((float*)u, w /* out */, n); }",
    ],
)
@pytest.mark.parametrize("method", ["readonly_cache_path", "vectorized_access"])
def test_arrays_that_are_apart_are_found_so(method, host):
    answer = asked(method, STEP + host)
    assert answer.ok, answer.why


@pytest.mark.parametrize(
    "again",
    [
        "template __global__ void k<float>(float* x, float* y, int n);",
        "template <> __global__ void k<int>(int* x, int* y, int n) { y[0] = x[0]; }",
        "template <typename T> __global__ void k(T* x, T* y, int n);",
        "__global__ void k(int* x, int* y, int n) { y[0] = x[0]; }",
    ],
)
def test_a_kernel_that_stands_a_second_time_keeps_its_types(again):
    text = "template <typename T>\n" + elementwise("y[i] = x[i];", params="T* x, T* y, int n")
    assert "a second time" in asked("readonly_cache_path", f"{text}{again}\n").why

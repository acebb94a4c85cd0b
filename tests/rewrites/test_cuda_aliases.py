"""Arrays that may be one are not called apart, through whatever the host hands them on."""

import pytest

from kbs_backends.rewrites import RewriteSource
from tests.rewrites.cuda_asked import INDEX, REWRITES, asked, elementwise

STEP = (
    "__global__ void step(const float* u, float* v, int n) "
    f"{{ {INDEX} if (i < n) v[i] = u[i] * 0.5f; }}\n"
)
RELAX = "static void relax(const float* a, float* b, int n) { step<<<1, 256>>>(a, b, n); }\n"
SYMBOLS = [
    (
        (
            "void solve(int n) { float *u, *w; cudaGetSymbolAddress((void**)&u, ws);\n"
            "  cudaGetSymbolAddress((void**)&w, ws); step<<<1, 256>>>(u, w, n); }"
        ),
        "twice",
    ),
    (
        (
            "void solve(int n) { void *u, *w; CHECK(cudaGetSymbolAddress(&u, ws));\n"
            "  CHECK(cudaGetSymbolAddress(&w, ws)); step<<<1, 256>>>((float*)u, (float*)w, n); }"
        ),
        "twice",
    ),
    (
        (
            "void solve(int n) { float *u, *w; \n"
            "  cudaGetSymbolAddress(reinterpret_cast<void**>(&u), ws);\n"
            "  cudaGetSymbolAddress(reinterpret_cast<void**>(&w), ws); step<<<1, 256>>>(u, w, n); }"
        ),
        "twice",
    ),
    (
        (
            "void solve(int n) { float* u; cudaGetSymbolAddress((void**)&u, ws);\n"
            "  float* w = u + 32; step<<<1, 256>>>(u, w, n); }"
        ),
        "twice",
    ),
]
"""Hosts beside a device array ``ws``."""
ENTRIES = [
    ("void solve(float* u, int n) { step<<<1, 256>>>(u, n + u, n); }", "twice"),
    (
        (
            "struct P { float *u, *w; };\nvoid solve(P p, int n) { p.u = p.w;\n"
            "  step<<<1, 256>>>(p.u, p.w, n); }"
        ),
        "twice",
    ),
    (
        (
            "struct P { float *u, *w; void join(); };\nvoid solve(P p, int n) { p.join();\n"
            "  step<<<1, 256>>>(p.u, p.w, n); }"
        ),
        "twice",
    ),
    (
        (
            "void join(float*& a, float*& b) { a = b; }\nstruct P { float *u, *w; };\n"
            "void solve(P p, int n) { join(p.u, p.w); step<<<1, 256>>>(p.u, p.w, n); }"
        ),
        "cannot be followed",
    ),
    (
        (
            "void solve(float* u, float* w, int n) { float*& r = u; r = w;\n"
            "  step<<<1, 256>>>(u, w, n); }"
        ),
        "cannot be followed",
    ),
    (
        (
            "void solve(float* u, float* w, int n) { float** r = &u; *r = w;\n"
            "  step<<<1, 256>>>(u, w, n); }"
        ),
        "cannot be followed",
    ),
    (
        (
            "#define JOIN(a, b) a = b\nvoid solve(float* u, float* w, int n) { JOIN(u, w);\n"
            "  step<<<1, 256>>>(u, w, n); }"
        ),
        "cannot be followed",
    ),
    (
        (
            "void find(void** p);\nvoid solve(float* u, int n) { float* w;\n"
            "  find(reinterpret_cast<void**>(&w)); step<<<1, 256>>>(u, w, n); }"
        ),
        "cannot be followed",
    ),
    (
        (
            "float* pool;\nfloat* empty(int n) { return pool; }\n"
            "void solve(int n) { step<<<1, 256>>>(empty(n), empty(n), n); }"
        ),
        "cannot be followed",
    ),
]


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
        *((f"__device__ float ws[64];\n{host}", why) for host, why in SYMBOLS),
        *ENTRIES,
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
        "void solve(float* u, float* w, int n) { step<<<1, 256>>>(n + u, w + n, n); }",
        (
            "__device__ float ws[64];\nvoid solve(float* u, int n) { float* w;\n"
            "  cudaGetSymbolAddress((void**)&w, ws); step<<<1, 256>>>(u, w, n); }"
        ),
    ],
)
@pytest.mark.parametrize("method", ["readonly_cache_path", "vectorized_access"])
def test_arrays_that_are_apart_are_found_so(method, host):
    answer = asked(method, STEP + host)
    assert answer.ok, answer.why


BESIDE = """__device__ float ws[64];
__global__ void k(const float* x, int n) { int i = threadIdx.x; if (i < n) ws[i] = x[i]; }
void solve(int n) { float* u; cudaGetSymbolAddress((void**)&u, ws); k<<<1, 64>>>(u, n); }
"""


@pytest.mark.parametrize("again", [BESIDE, BESIDE.replace("float* x,", "float x[],")])
def test_an_argument_that_is_the_files_own_array_is_not_called_apart_from_it(again):
    assert "twice" in asked("readonly_cache_path", again).why


def test_an_array_of_unknown_size_is_a_pointer():
    text = STEP.replace("float* v", "float v[]") + "void f(float* u) { step<<<1, 9>>>(u, u, 9); }"
    assert "twice" in asked("readonly_cache_path", text).why
    apart = text.replace("f(float* u)", "f(float* u, float* w)").replace("(u, u", "(u, w")
    source = RewriteSource(text=apart, language="cuda-cpp")
    assert ", float v[]" in REWRITES["readonly_cache_path"].apply(source)


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

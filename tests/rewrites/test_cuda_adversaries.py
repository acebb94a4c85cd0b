"""CUDA that looks like what a rewrite knows and is not: each must be refused, with its reason."""

import pytest

from kbs_backends.rewrites import RewriteSource, all_rewrites

REWRITES = all_rewrites("cuda-cpp")
INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x;"


def asked(method, text, **known):
    source = RewriteSource(text=text, language="cuda-cpp", dims={"n": 4096, "N": 1280}, **known)
    return REWRITES[method].applies(source)


def elementwise(work, before="", params="const float* x, float* y, int n"):
    """A kernel that works on one element a thread, and its launch."""
    kernel = f"__global__ void k({params}) {{ {INDEX} if (i < n) {{ {work} }} }}"
    entry = 'extern "C" void solve(const float* x, float* y, int n) {'
    return f"{before}\n{kernel}\n{entry} k<<<(n + 255) / 256, 256>>>(x, y, n); }}\n"


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


READ_AND_WRITE = "float* buf, const float* x, float* y, int n"


@pytest.mark.parametrize(
    ("work", "before"),
    [
        ("exchange(buf[i], buf[0]);", "__device__ void exchange(float& a, float& b) { a = b; }"),
        ("SET(buf[i]);", "#define SET(v) v = 1.0f"),
        ("float& r = buf[i]; r = x[i];", ""),
        ("auto& r = buf[i]; r = x[i];", ""),
        ("(buf[i]) = x[i];", ""),
        ("(x[i] > 0 ? buf[i] : y[i]) = x[i];", ""),
        ('asm("mov.f32 %0, 1.0;" : "=f"(buf[i]));', ""),
        ("reinterpret_cast<int&>(buf[i]) = 1;", ""),
        ("((int&)buf[i]) = 1;", ""),
        ("from_a_header(buf[i]);", ""),
        ("auto f = [](float& v) { v = 1.0f; }; f(buf[i]);", ""),
    ],
)
def test_an_element_that_may_be_written_is_not_called_constant(work, before):
    text = elementwise(f"{work} y[i] = x[i];", before, params=READ_AND_WRITE)
    text = text.replace("(x, y, n); }", "(b, x, y, n); }").replace("solve(", "solve(float* b, ")
    source = RewriteSource(text=text, language="cuda-cpp")
    assert "float* KBS_RESTRICT buf" in REWRITES["readonly_cache_path"].apply(source)
    assert "KBS_CONST float* KBS_RESTRICT buf" not in REWRITES["readonly_cache_path"].apply(source)


@pytest.mark.parametrize(
    "work",
    [
        "y[i] = buf[i];",
        "float v = buf[i]; y[i] = v;",
        "y[i] = fmaxf(buf[i], (float)buf[0]);",
        "if (buf[i] > 0.0f) y[i] = -buf[i];",
        "y[i] = buf[i] > x[i] ? buf[i] : x[i];",
    ],
)
def test_an_element_that_is_read_is_found_so(work):
    text = elementwise(f"{work} y[i] += x[i];", params=READ_AND_WRITE)
    text = text.replace("(x, y, n); }", "(b, x, y, n); }").replace("solve(", "solve(float* b, ")
    source = RewriteSource(text=text, language="cuda-cpp")
    assert "KBS_CONST float* KBS_RESTRICT buf" in REWRITES["readonly_cache_path"].apply(source)


@pytest.mark.parametrize(
    ("work", "before", "why"),
    [
        ("union { double d; int w[2]; } u; u.d = x[i]; y[i] = u.w[1];", "", "the bytes of"),
        ("double d = x[i]; y[i] = __double_as_longlong(d) >> 63;", "", "the bytes of"),
        ("double d = x[i]; y[i] = __double2hiint(d);", "", "the bytes of"),
        ("double d = x[i]; long long b; memcpy(&b, &d, 8); y[i] = b;", "", "the bytes of"),
        ("double d = x[i]; y[i] = *reinterpret_cast<long long*>(&d);", "", "the bytes of"),
        ("double d = x[i]; y[i] = *(long long*)&d;", "", "the address of d"),
        ("y[i] = x[i] * sizeof(double) * 0.5;", "", "the bytes of"),
        ("double d = x[i]; y[i] = sizeof(d) * 0.5;", "", "the bytes of"),
        ('double d; asm("mov.f64 %0, 1.0;" : "=d"(d)); y[i] = d;', "", "assembly"),
        ("extern __shared__ double s[]; s[0] = x[i]; y[i] = s[0];", "", "that others lay out"),
        ("double d = x[i]; double* p = &d; y[i] = *p;", "", "pointer to double"),
        ("double s, c; sincos(x[i], &s, &c); y[i] = s * c;", "", "the address of s"),
        (
            "double acc = 0.0; add(&acc, x[i]); y[i] = acc;",
            "__device__ void add(double* acc, double v) { *acc += v; }",
            "the address of acc",
        ),
        (
            "double acc = 0.0; add(acc, x[i]); y[i] = acc;",
            "__device__ void add(double& acc, double v) { acc += v; }",
            "the address of acc",
        ),
        (
            "double acc[2] = {0.0, 1.0}; add(acc, x[i]); y[i] = acc[0];",
            "__device__ void add(double acc[2], double v) { acc[0] += v; }",
            "the address of acc",
        ),
        (
            "double d = x[i]; y[i] = std::max(d, kLeast);",
            "__constant__ double kLeast = 0.1;",
            "with kLeast",
        ),
        ("y[i] = x[i] * 1e300 * 1e-300;", "", "1e300, which single precision does not hold"),
        ("y[i] = x[i] + 1e-60;", "", "1e-60, which single precision does not hold"),
    ],
)
def test_doubles_that_are_more_than_numbers_stay(work, before, why):
    answer = asked("avoid_fp64", elementwise(work, before))
    assert not answer.ok
    assert why in answer.why


def test_a_template_that_is_launched_with_double_stays():
    kernel = "template <typename T>\n" + elementwise(
        "y[i] = x[i] * 0.1;", params="T* x, T* y, int n"
    )
    assert "given doubles" in asked("avoid_fp64", kernel.replace("k<<<", "k<double><<<")).why
    assert asked("avoid_fp64", kernel.replace("k<<<", "k<float><<<")).ok


@pytest.mark.parametrize(
    ("work", "before", "kept"),
    [
        ("y[i] = x[i] * 0.5 * PASTE(1.5);", "#define PASTE(a) a##f", "PASTE(1.5)"),
        (
            "y[i] = x[i] * 0.5 * OUTER(1.5);",
            "#define PASTE(a) a##f\n#define OUTER(a) PASTE(a)",
            "OUTER(1.5)",
        ),
        ("long double d = 0.5; y[i] = d;", "", "long double d"),
        (
            "double acc = 0.5; add(acc, x[i]);",
            "__device__ void add(double a, float v);",
            "double a",
        ),
    ],
)
def test_what_single_precision_would_not_compile_with_is_left(work, before, kept):
    source = RewriteSource(text=elementwise(work, before), language="cuda-cpp")
    assert kept in REWRITES["avoid_fp64"].apply(source)


FORWARD = (
    "#include <cuda_runtime.h>\n#define THREADS 256\n"
    "__global__ void k(const float* x, float* y, int n);\n"
    'extern "C" void solve(const float* x, float* y, int n)'
    " { k<<<(n + 255) / 256, 256>>>(x, y, n); }\n"
    "#include <math.h>\n"
    f"__global__ void k(const float* x, float* y, int n) {{ {INDEX} if (i < n) y[i] = x[i]; }}\n"
)


@pytest.mark.parametrize(
    ("method", "name"), [("block_size_tuning", "KBS_BLOCK"), ("vectorized_access", "KBS_VECTOR")]
)
def test_constants_stand_above_the_first_that_needs_them(method, name):
    text = REWRITES[method].apply(RewriteSource(text=FORWARD, language="cuda-cpp"))
    assert text.index(f"constexpr int {name} =") < text.index("void solve")
    assert text.index("cuda_runtime.h") < text.index(f"constexpr int {name} =")


LOOP = "for (int j = 0; j < n; ++j) y[i] += x[j];"


@pytest.mark.parametrize(
    ("method", "text", "why"),
    [
        (
            "fast_math_intrinsics",
            elementwise(
                "y[i] = f(x[i]);", "__host__ __device__ float f(float v) { return expf(v); }"
            ),
            "no kernel calls",
        ),
        (
            "exp2_rescaling",
            elementwise("y[i] = expf(x[i]);", params="const __half* x, float* y, int n"),
            "no kernel calls",
        ),
        ("exp2_rescaling", elementwise("y[i] = expf(pick<1, 2>(x[i]));"), "no kernel calls"),
        (
            "occupancy_tuning_registers",
            elementwise(LOOP) + "auto later = k;\n",
            "through a pointer",
        ),
        (
            "occupancy_tuning_registers",
            elementwise(LOOP).replace("void k(", "void __maxnreg__(64) k("),
            "no __global__ function that can be read",
        ),
        (
            "smem_padding",
            elementwise("__shared__ float t[96][128]; t[threadIdx.x][0] = x[i]; y[i] = t[0][i];"),
            "no room for padding",
        ),
        (
            "smem_padding",
            elementwise(
                "__shared__ float t[32][32]; y[i] = reinterpret_cast<float4&>(t[threadIdx.x][4]).x;"
            ),
            "as another type",
        ),
        (
            "loop_unrolling",
            elementwise('\nfor (int j = 0; j < n; ++j) { asm volatile("L: bra L;"); }'),
            "no innermost loop",
        ),
    ],
)
def test_siblings_that_would_not_compile_or_not_be_right(method, text, why):
    answer = asked(method, text)
    assert not answer.ok
    assert why in answer.why


def test_a_constant_below_its_kernel_is_given_as_its_value():
    text = elementwise(LOOP).replace('extern "C"', 'constexpr int LATE = 128;\nextern "C"')
    text = text.replace("256>>>", "LATE>>>")
    source = RewriteSource(text=text, language="cuda-cpp")
    assert "KBS_BOUNDS(128)" in REWRITES["occupancy_tuning_registers"].apply(source)


def test_a_kernel_that_is_only_asked_about_is_not_launched_through_a_pointer():
    text = elementwise(LOOP).replace("{ k<<<", "{ cudaFuncSetAttribute((void*)k, A, 9); k<<<")
    assert asked("occupancy_tuning_registers", text).ok


def test_a_double_one_stays_a_double_where_the_switch_is_off():
    source = RewriteSource(text=elementwise("y[i] = 1.0 / sqrtf(x[i]);"), language="cuda-cpp")
    assert "(1.0 / sqrtf(x))" in REWRITES["fast_math_intrinsics"].apply(source)

"""CUDA rewrites of types, constants and bounds: what would not compile or not be right stays."""

import pytest

from kbs_backends.rewrites import RewriteSource
from tests.rewrites.cuda_asked import INDEX, REWRITES, asked, elementwise

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


STEP = "__device__ float step_of(float v) { return v > 1.0f ? 1.0f : 0.0f; }"


@pytest.mark.parametrize(
    ("work", "before", "why"),
    [
        ("int j = (int)(i * 0.7); y[i] = x[j];", "", "makes a double an integer"),
        ("int j = i * 0.7; y[i] = x[j];", "", "makes a double an integer"),
        ("int j; j = i * 0.7; y[i] = x[j];", "", "makes a double an integer"),
        ("int j = static_cast<int>(i * 0.7); y[i] = x[j];", "", "makes a double an integer"),
        ("int j = int(i * 0.7); y[i] = x[j];", "", "makes a double an integer"),
        ("float at = i * 0.7; y[i] = x[(int)at];", "", "makes a double an integer"),
        ("auto at = i * 0.7; at += 1.0; y[i] = x[(int)at];", "", "makes a double an integer"),
        ("double at = i; y[i] = x[__double2int_rd(at)];", "", "rounds a double to a step"),
        ("y[i] = floor(x[i] * 0.1);", "", "rounds a double to a step"),
        ("y[i] = floorf(x[i] * 0.1);", "", "rounds a double to a step"),
        ("y[i] = lrint(x[i] * 0.1);", "", "rounds a double to a step"),
        ("y[i] = fmod(x[i], 0.1);", "", "rounds a double to a step"),
        ("y[i] = x[i] > 0.1 ? 1.0f : 0.0f;", "", "compares a double"),
        ("double d = x[i]; if (d * 3.0 < 1.0f) y[i] = 1.0f;", "", "compares a double"),
        ("y[i] = x[i] * 0.1; if (y[i] == 1.0f) y[i] = 0.0f;", "", "compares a double"),
        ("for (double t = 0.0; t < 1.0; t += 0.1) y[i] += x[i];", "", "compares a double"),
        ("double d = x[i]; y[i] = d ? 1.0f : 0.0f;", "", "whether a double is zero"),
        ("double d = x[i]; y[i] = !d;", "", "whether a double is zero"),
        ("double d = x[i]; bool b = d * 0.5; y[i] = b;", "", "makes a double an integer"),
        ("double d = x[i]; y[i] = step_of(d);", STEP, "calls step_of, which compares"),
        ("double d = x[i]; y[i] = at(d);", "__device__ int at(int v) { return v; }", "calls at"),
        (
            "y[i] = at(x[i] * 0.3);",
            "__device__ int at(float v) { return v; }",
            "makes a double an integer",
        ),
        ("y[i] = AT(x[i] * 0.3);", "#define AT(v) ((int)(v))", "a macro that may decide"),
        ("double d = x[i]; y[i] = AT;", "#define AT ((int)d)", "a macro that works on a double"),
        ("atomicAdd(&counts[i], x[i] * 0.1);", "__device__ int counts[9];", "an integer"),
        ("y[i] = from_a_header(x[i] * 0.1);", "", "which cannot be followed"),
    ],
)
def test_doubles_that_decide_stay(work, before, why):
    answer = asked("avoid_fp64", elementwise(work, before))
    assert not answer.ok
    assert why in answer.why


def test_a_double_that_becomes_an_element_of_integers_stays():
    text = elementwise("y[i] = x[i] * 0.1;", params="const float* x, int* y, int n")
    assert "makes a double an integer" in asked("avoid_fp64", text).why


@pytest.mark.parametrize(
    "work",
    [
        "y[i] = x[i] > 0.5 ? x[i] * 0.1 : 0.0;",
        "float best = -1e30; best = fmaxf(best, x[i]); if (best > 2.0) best = 2.0; y[i] = best;",
        "double sum = 0.0; for (int j = 0; j < n; ++j) sum += x[j]; y[i] = sum / n;",
        "y[i] = __expf(x[i] * 0.1) + tanhf(0.3 * x[i]);",
        "int j = n > 9.0 ? 1 : 2; y[i] = x[j] * 0.1;",
    ],
)
def test_doubles_that_are_summed_and_stored_become_single(work):
    answer = asked("avoid_fp64", elementwise(work))
    assert answer.ok, answer.why


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
            "double acc = 0.5; y[i] = add(acc, x[i]);",
            "__device__ float add(double a, float v) { return a + v; }",
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

"""Threads per block: what goes with them changes, what only has the same number does not."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbs_backends.rewrites import RewriteSource, all_rewrites
from kbs_backends.variants import read_marks

REWRITE = all_rewrites("cuda-cpp")["block_size_tuning"]
SCALE = (
    "__global__ void scale(const float* x, float* y, int n, float by) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) y[i] = by * x[i];\n}\n"
)
STRIDE = (
    "__global__ void stride(const float* x, float* y, int n) {\n"
    "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)\n"
    "    y[i] = 2.0f * x[i];\n}\n"
)
ROWS = (
    "__global__ void rows(const float* x, float* y, int n) {\n"
    "  for (int c = threadIdx.x; c < n; c += blockDim.x)\n"
    "    y[blockIdx.x * n + c] = x[blockIdx.x * n + c];\n}\n"
)


def of(text, **dims):
    return RewriteSource(text=text, language="cuda-cpp", dims=dims or {"n": 4096})


def host(body):
    return f'extern "C" void solve(const float* x, float* t, float* y, int n) {{ {body} }}\n'


def rewritten(text, **dims):
    """The host's part of the new source, with the choice written short."""
    answer = REWRITE.applies(of(text, **dims))
    assert answer.ok, answer.why
    body = REWRITE.apply(of(text, **dims)).split("void solve", 1)[1]
    return re.sub(r"\(KBS_BLOCK_SIZE_TUNING \? (\w+) : \d+\)", r"\1", body)


def refused(text, **dims):
    answer = REWRITE.applies(of(text, **dims))
    assert not answer.ok
    return answer.why


@pytest.mark.parametrize(
    ("body", "then"),
    [
        (
            "scale<<<(n + 255) / 256, 256>>>(x, y, n, 255);",
            "scale<<<(n + (KBS_BLOCK - 1)) / KBS_BLOCK, KBS_BLOCK>>>(x, y, n, 255);",
        ),
        (
            "scale<<<(n + 256 - 1) / 256, 256>>>(x, y, n, 1);",
            "scale<<<(n + KBS_BLOCK - 1) / KBS_BLOCK, KBS_BLOCK>>>(x, y, n, 1);",
        ),
        (
            "int a = 255, b = 256; scale<<<(n + 255) / 256, 256>>>(x, y, n, a + b);",
            (
                "int a = 255, b = 256; scale<<<(n + (KBS_BLOCK - 1)) / KBS_BLOCK, KBS_BLOCK>>>"
                "(x, y, n, a + b);"
            ),
        ),
        (
            "cudaMemset(t, 0, 256); int g = (n + 255) / 256; scale<<<g, 256>>>(x, y, n, 1);",
            (
                "cudaMemset(t, 0, 256); int g = (n + (KBS_BLOCK - 1)) / KBS_BLOCK; "
                "scale<<<g, KBS_BLOCK>>>(x, y, n, 1);"
            ),
        ),
        (
            "dim3 block(256); scale<<<(n + block.x - 1) / block.x, block>>>(x, y, n, 255);",
            "dim3 block(KBS_BLOCK); scale<<<(n + block.x - 1) / block.x, block>>>(x, y, n, 255);",
        ),
        (
            "scale<<<ceil_div(n, 256), 256>>>(x, y, n, 256.0f);",
            "scale<<<ceil_div(n, KBS_BLOCK), KBS_BLOCK>>>(x, y, n, 256.0f);",
        ),
    ],
)
def test_only_what_goes_with_the_threads_changes(body, then):
    assert then in rewritten(SCALE + host(body))


def test_two_launches_of_one_size_are_two_tunables():
    body = (
        "scale<<<(n + 255) / 256, 256>>>(x, t, n, 1); scale<<<(n + 255) / 256, 256>>>(t, y, n, 1);"
    )
    text = rewritten(SCALE + host(body))
    for name in ("KBS_BLOCK_SCALE_0", "KBS_BLOCK_SCALE_1"):
        assert f"scale<<<(n + ({name} - 1)) / {name}, {name}>>>" in text


def test_two_launches_that_share_their_grid_are_one_tunable():
    body = "int g = (n + 255) / 256; scale<<<g, 256>>>(x, t, n, 1); scale<<<g, 256>>>(t, y, n, 1);"
    text = rewritten(SCALE + host(body))
    assert text.count("scale<<<g, KBS_BLOCK>>>") == 2


@pytest.mark.parametrize("blocks", ["64", "80", "132", "min(n, 1024)"])
def test_a_grid_of_any_number_is_none_that_counts_in_threads(blocks):
    text = rewritten(STRIDE + host(f"stride<<<{blocks}, 128>>>(x, y, n);"))
    assert f"stride<<<{blocks}, KBS_BLOCK>>>" in text


def test_one_block_a_row_keeps_its_grid():
    assert "rows<<<n, KBS_BLOCK>>>" in rewritten(ROWS + host("rows<<<n, 256>>>(x, y, n);"))


def test_a_template_argument_that_is_the_block_goes_with_it():
    kernel = "template <typename T, int BLOCK>\n" + ROWS.replace("blockDim.x", "BLOCK")
    text = rewritten(kernel + host("rows<float, 256><<<n, 256>>>(x, y, n);"))
    assert "rows<float, KBS_BLOCK><<<n, KBS_BLOCK>>>" in text


def test_shared_memory_goes_with_the_threads():
    kernel = ROWS.replace("{\n", "{\n  extern __shared__ float part[];\n", 1)
    text = rewritten(kernel + host("rows<<<n, 256, 256 * sizeof(float)>>>(x, y, n);"))
    assert "rows<<<n, KBS_BLOCK, KBS_BLOCK * sizeof(float)>>>" in text


SUM = (
    "__global__ void total(const float* x, float* y, int n) {{\n"
    "  __shared__ float s[{size}];\n"
    "  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n"
    "  s[t] = i < n ? x[i] : 0.0f;\n  __syncthreads();\n"
    "  for (int w = {half}; w > 0; w /= 2) {{ if (t < w) s[t] += s[t + w]; __syncthreads(); }}\n"
    "  if (t == 0) atomicAdd(y, s[0]);\n}}\n"
)


@pytest.mark.parametrize(
    ("before", "size", "half", "why"),
    [
        ("#define BLOCK 256\n", "BLOCK", "blockDim.x / 2", "has BLOCK, which is 256"),
        ("#define B 256\n#define BLOCK B\n", "BLOCK", "blockDim.x / 2", "has BLOCK, which is 256"),
        ("constexpr int BLOCK = 256;\n", "BLOCK", "blockDim.x / 2", "has BLOCK, which is 256"),
        ("static const int BLOCK = 256;\n", "BLOCK", "blockDim.x / 2", "has BLOCK, which is 256"),
        ("enum { BLOCK = 256 };\n", "BLOCK", "blockDim.x / 2", "has BLOCK, which is 256"),
        ("#define LOG 8\n", "1 << LOG", "blockDim.x / 2", "has 1 << LOG, which is 256"),
        ("#define W 8\n", "W * 32", "blockDim.x / 2", "has W * 32, which is 256"),
        ("", "256", "blockDim.x / 2", "has the number 256"),
        ("", "1024", "128", "has a shared array of 1024"),
        ("", "2048", "128", "has a shared array of 2048"),
        ("", "1000", "128", "has 128, which is half its 256 threads"),
    ],
)
def test_the_number_of_threads_is_seen_behind_every_name(before, size, half, why):
    text = before + SUM.format(size=size, half=half)
    assert why in refused(text + host("total<<<(n + 255) / 256, 256>>>(x, y, n);"))


def test_the_constant_that_both_have_is_changed_for_both():
    text = "#define BLOCK 256\n" + SUM.format(size="BLOCK", half="BLOCK / 2")
    for body in ("total<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(x, y, n);",):
        assert rewritten(text + host(body)).count("BLOCK, BLOCK>>>") == 1


@pytest.mark.parametrize(
    ("kernel", "why"),
    [
        ("template <int SIZE>\n" + SUM.format(size="SIZE", half="1"), "has SIZE, which is 256"),
        (
            "template <int SIZE = 256>\n" + SUM.format(size="SIZE", half="1"),
            "has SIZE, which is 256",
        ),
    ],
)
def test_template_parameters_are_read_with_the_values_of_the_launch(kernel, why):
    kind = "total" if "= 256" in kernel else "total<256>"
    assert why in refused(kernel + host(f"{kind}<<<(n + 255) / 256, 256>>>(x, y, n);"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (SCALE + host("scale<<<64, 128>>>(x, y, n, 1);"), "does not follow its 128 threads"),
        (SCALE + host("scale<<<(n + 255) >> 8, 256>>>(x, y, n, 1);"), "in parts of 256"),
        (SCALE + host("scale<<<(n + 1023) / 1024, 256>>>(x, y, n, 1);"), "in parts of 1024"),
        (SCALE + host("scale<<<(n + 7) / 8, 256>>>(x, y, n, 1);"), "in parts of 8"),
        (SCALE + host("scale<<<(n + 255) / 256, 256>>>(x, y, n, 256);"), "an argument too"),
        (STRIDE + host("stride<<<64, 256, 1024>>>(x, y, n);"), "one number of bytes"),
        (STRIDE + host("stride<<<64, n>>>(x, y, n);"), "no single number"),
        (
            SCALE.replace("y[i] =", "y[blockIdx.x] +=")
            + host("scale<<<(n + 255) / 256, 256>>>(x, y, n, 1);"),
            "reads blockIdx.x by itself",
        ),
        (
            ROWS.replace("blockDim.x", "n").replace("threadIdx.x", "threadIdx.x + 0")
            + host("rows<<<n, 256>>>(x, y, n);"),
            "does not read how many threads",
        ),
        (
            SCALE
            + host(
                "int b = n / 256, r = n % 256; scale<<<b, 256>>>(x, y, n, 1);"
                " scale<<<r, 1>>>(x, y, n, 1);"
            ),
            "counts in 256 threads again: n % 256",
        ),
        (
            SCALE
            + host(
                "int b = (n + 255) / 256; int all = b * 256; scale<<<b, 256>>>(x, y, n, 1);"
                " clear<<<all, 1>>>(y);"
            ),
            "counts in 256 threads again: b * 256",
        ),
        (
            SCALE
            + host("int b = (n + 255) / 256; scale<<<b, 256>>>(x, y, n, 1); use(y + (b << 8));"),
            "counts in 256 threads again",
        ),
        (
            SCALE
            + STRIDE
            + host(
                "int g = (n + 255) / 256; scale<<<g, 256>>>(x, t, n, 1); stride<<<g, n>>>(t, y, n);"
            ),
            "stride depends on the threads of scale",
        ),
    ],
)
def test_what_cannot_be_shown_to_be_right_is_refused(text, why):
    assert why in refused(text)


def test_a_division_that_rounds_down_leaves_nothing_out():
    text = SCALE + host("scale<<<n / 256, 256>>>(x, y, n, 1);")
    marks = read_marks(REWRITE.apply(of(text, n=768)), "cuda-cpp")
    assert marks.tunables[0].values == (64, 128, 256)
    marks = read_marks(REWRITE.apply(of(text, n=4096)), "cuda-cpp")
    assert marks.tunables[0].values == (64, 128, 256, 512, 1024)


GRIDS = ("(n + {less}) / {t}", "(n + {t} - 1) / {t}", "1 + (n - 1) / {t}", "({t} - 1 + n) / ({t})")


@settings(max_examples=12, deadline=None)
@given(
    grid=st.sampled_from(GRIDS),
    threads=st.sampled_from((32, 64, 128, 256, 512, 1024)),
    n=st.integers(1, 100_000).map(lambda k: k * 1024),
)
def test_every_size_covers_every_element(grid, threads, n):
    """The law of a grid: blocks times threads are enough, for every value that is offered."""
    text = grid.format(less=threads - 1, t=threads)
    source = of(SCALE + host(f"scale<<<{text}, {threads}>>>(x, y, n, 1);"), n=n)
    new = REWRITE.apply(source)
    found = re.search(r"scale<<<(.*), \(KBS[^,]*>>>", new)
    for size in read_marks(new, "cuda-cpp").tunables[0].values:
        blocks = re.sub(r"\(KBS_BLOCK_SIZE_TUNING \? KBS_BLOCK : \d+\)", str(size), found[1])
        assert eval(blocks.replace("/", "//"), {"n": n}) * size >= n

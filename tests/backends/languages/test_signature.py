"""solve's parameters are parsed; what cannot be called is refused with its line."""

from __future__ import annotations

import pytest

from kbs_backends.languages.signature import solve_signature
from kbs_engine.errors import InputError


def parameters(text):
    return [(p.name, p.type, p.pointer, p.const) for p in solve_signature(text, "k.cu").parameters]


def test_pointers_and_scalars_by_type_and_name():
    text = """
    #include <cuda_fp16.h>
    // extern "C" void solve(int wrong) {}
    extern "C" void solve(const float* __restrict__ x, __half *y, unsigned long long n, size_t m,
                          float const* z, double alpha, bool flag, cutlass::half_t* w) { }
    """
    assert parameters(text) == [
        ("x", "float", True, True), ("y", "__half", True, False),
        ("n", "unsigned long long", False, False), ("m", "size_t", False, False),
        ("z", "float", True, True), ("alpha", "double", False, False),
        ("flag", "bool", False, False), ("w", "cutlass::half_t", True, False),
    ]  # fmt: skip


def test_a_linkage_block_and_an_array_parameter():
    text = 'extern "C" {\nvoid helper(int a) {}\nvoid solve(float x[], int n) {}\n}\n'
    assert parameters(text) == [("x", "float", True, False), ("n", "int", False, False)]
    assert solve_signature(text, "k.cu").line == 3


def test_a_kernel_launch_in_the_body_does_not_confuse():
    text = """
    template <int B> __global__ void k(float* x) { x[threadIdx.x] = B; }
    extern "C" void solve(float* x) { k<256><<<dim3(1, 2), 256, 0, nullptr>>>(x); }
    """
    assert parameters(text) == [("x", "float", True, False)]


@pytest.mark.parametrize(
    ("text", "words", "where"),
    [
        ("int main() {}", "no function solve", "k.cu"),
        ("\nvoid solve(float* x) {}", "mangled", "k.cu:2"),
        ('extern "C" int solve(float* x) { return 0; }', "returns a value", "k.cu:1"),
        ('extern "C" void solve(float** x) {}', "neither one pointer nor a scalar", "k.cu:1"),
        ('extern "C" void solve(float& x) {}', "neither one pointer nor a scalar", "k.cu:1"),
        ('extern "C" void solve(void (*f)(int)) {}', "neither one pointer nor a scalar", "k.cu:1"),
        ('extern "C" void solve(float* x, ...) {}', "neither one pointer nor a scalar", "k.cu:1"),
    ],
)
def test_what_cannot_be_called_is_refused(text, words, where):
    with pytest.raises(InputError) as refused:
        solve_signature(text, "k.cu")
    assert words in refused.value.message
    assert refused.value.where == where
    assert refused.value.remedy

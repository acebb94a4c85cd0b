"""A small CUDA file, and what a rewrite says of it."""

from __future__ import annotations

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

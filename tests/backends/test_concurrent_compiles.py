"""Sources that are compiled at the same time: each gets its own kernels."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from kbs_backends.languages import LANGUAGES, Call, CompileCache

pytestmark = pytest.mark.compilers

SOURCE = """
import torch
import triton
import triton.language as tl


@triton.jit
def add_{n}(x, out, N, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + at, tl.load(x + at, mask=at < N) + {n}.0, mask=at < N)


def setup(N=1024, **_):
    x = torch.randn(N, device="cuda")
    return {{"inputs": {{"x": x, "out": torch.empty_like(x), "N": N}}, "outputs": ["out"]}}


def run_kernel(x, out, N, **_):
    add_{n}[(triton.cdiv(N, 256),)](x, out, N, B=256)
"""


def test_threads_do_not_see_each_others_launches(tmp_path):
    def compiled(n):
        path = tmp_path / f"kernel_{n}.py"
        path.write_text(SOURCE.format(n=n))
        cache = CompileCache(tmp_path / "cache")
        built = LANGUAGES["triton"].compile(path, "sm_90a", cache=cache, call=Call(dims={}))
        return [one.kernel for one in built.compiled.resources]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(compiled, range(8)))
    assert found == [[f"add_{n}"] for n in range(8)]

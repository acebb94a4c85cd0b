"""Torch's compiler is not imported by who only counts."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

SCRIPT = """
import sys
from pathlib import Path
from kbs_backends.tasks import load_reference

reference = load_reference(Path(sys.argv[1]), {"N": 32})
reference.make_inputs(1)
print(reference.tolerance().source, reference.work().work.flops, reference.family)
print("torch._dynamo" in sys.modules)
"""
TEXT = """
import torch
BEFORE

def setup(N=8, **_):
    x = torch.randn(N, N, generator=torch.Generator().manual_seed(3))
    w = torch.rand(size=(N, N), dtype=torch.float32)
    return {"inputs": {"x": x, "w": w, "y": torch.empty_like(x)}, "outputs": ["y"]}


def reference(x, w, y, **_):
    y.copy_(x @ w)
"""


@pytest.mark.parametrize(
    ("before", "imported"),
    [("", False), pytest.param("import torch._dynamo", True, marks=pytest.mark.sweep)],
)
@pytest.mark.sweep
def test_flops_family_and_tolerance_without_the_tracer_and_with_it(tmp_path, before, imported):
    path = tmp_path / "ref.py"
    path.write_text(textwrap.dedent(TEXT).replace("BEFORE", before))
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(path)], capture_output=True, text=True, check=True
    )
    told, tracer = done.stdout.splitlines()
    assert told == f"derived from fp32, reduction of 32 {2.0 * 32**3} gemm"
    assert tracer == str(imported)


def test_tensors_without_values_are_as_torch_makes_them():
    import torch

    from kbs_backends.languages.placement import without_gpu

    generator = torch.Generator().manual_seed(1)

    def made():
        x = torch.randn(3, 4, dtype=torch.bfloat16, generator=generator)
        return [
            x, torch.rand((2, 2)), torch.randn_like(x), torch.empty_like(x, dtype=torch.int8),
            torch.zeros_like(x.T), torch.ones_like(x, memory_format=torch.contiguous_format),
        ]  # fmt: skip

    with without_gpu():
        real = made()
    with without_gpu(fake=True):
        fake = made()
        assert [one.is_cuda for one in fake] == [True] * len(fake)
    assert all(one.is_meta for one in fake)
    assert [(a.shape, a.dtype, a.stride()) for a in real] == [
        (b.shape, b.dtype, b.stride()) for b in fake
    ]

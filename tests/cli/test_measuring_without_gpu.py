"""What measuring commands say on a machine without a GPU, and what they do not claim."""

from __future__ import annotations

import pytest

from kbs_backends.device.gpus import gpu_count

REFERENCE = """
import torch
def setup(M=8, N=40):
    return {"inputs": {"x": torch.randn(M, N)}}
def reference(x):
    return torch.softmax(x, -1)
"""
KERNEL = """
import torch, triton
def run_kernel(x, out, N):
    assert N == x.shape[1]
    out.copy_(torch.softmax(x, -1))
"""


@pytest.mark.skipif(gpu_count() > 0, reason="there is a GPU here")
def test_ceilings_without_a_gpu_say_so_in_words(kbs, tmp_path):
    ran = kbs("ceiling", "--json", at=tmp_path)
    assert ran.code == 2
    assert "no NVIDIA GPU 0 here" in ran.error["message"]
    assert "kbs doctor" in ran.error["remedy"]


@pytest.mark.sweep
def test_a_profile_without_counters_lists_no_pass(kbs, home, tmp_path):
    (tmp_path / "ref.py").write_text(REFERENCE)
    (tmp_path / "k.py").write_text(KERNEL)
    ran = kbs("profile", tmp_path / "k.py", "--ref", tmp_path / "ref.py", "--dims", "N=16",
              "--device", "host", "--output-dir", tmp_path / "out", "--json", at=home)  # fmt: skip
    assert ran.code == 0, ran.err
    assert ran.json["mode"] == "counter-free"
    assert ran.json["passes"] == []
    assert ran.json["kernels"] == []


def test_a_reference_that_returns_and_a_kernel_that_names_dims_are_enough(kbs, tmp_path):
    (tmp_path / "ref.py").write_text(REFERENCE)
    (tmp_path / "k.py").write_text(KERNEL)
    ran = kbs("check", tmp_path / "k.py", "--ref", tmp_path / "ref.py", "--N=16", "--device",
              "host", "--rounds", "2", at=tmp_path / "home")  # fmt: skip
    assert ran.code == 0, ran.out + ran.err
    assert "PASS  2 rounds" in ran.out
    assert "× rms" in ran.out

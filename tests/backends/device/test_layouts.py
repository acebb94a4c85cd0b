"""Outputs in the layouts that references and buffers have; returned tensors; what may be read."""

from __future__ import annotations

import textwrap
from ctypes import c_size_t, c_uint32

import pytest

from kbs_backends.device.kernel_calls import syscall
from kbs_engine.jobs import Check, Task
from kbs_engine.results import Checked, read

TRANSPOSED = """
import torch
def setup(M=6, N=4): return {"inputs": {"x": torch.randn(M, N)}}
def reference(x): return (x * 2).t()
"""
CHANNELS_LAST = """
import torch
def setup(N=4):
    return {"inputs": {"x": torch.randn(2, 3, N, N).to(memory_format=torch.channels_last)}}
def reference(x): return torch.relu(x)
"""
EXPANDED = """
import torch
def setup(N=4): return {"inputs": {"x": torch.randn(N, 1)}}
def reference(x): return (x * 3).expand(-1, 5)
"""
WITH_GAPS = """
import torch
def setup(M=6, N=4):
    y = torch.empty(M, 2 * N)[:, ::2]
    return {"inputs": {"x": torch.randn(N, M).t(), "y": y}, "outputs": ["y"]}
def reference(x, y): y.copy_(torch.sigmoid(x))
"""


def test_a_layout_that_setup_gives_must_be_kept(rig):
    given = TRANSPOSED.replace(
        '"x": torch.randn(M, N)', '"x": torch.randn(M, N), "y": torch.empty(N, M)'
    )
    given = given.replace("(x)", "(x, y)").replace("}}", '}, "outputs": ["y"]}')
    task = Task(reference_sha256=rig.blobs.put(given), dims={})
    source = rig.source("def run_kernel(x, y): return (x + x).t()", head="import torch\n")
    assert read(rig.result(Check(source=source, task=task)), Checked).reason == "wrong_stride"


@pytest.mark.parametrize(
    ("reference", "kernel"),
    [
        (TRANSPOSED, "def run_kernel(x): return (x + x).t()"),
        (TRANSPOSED, "def run_kernel(x): return (x + x).t().contiguous()"),
        (TRANSPOSED, "def run_kernel(x, out): out.copy_((x + x).t())"),
        (CHANNELS_LAST, "def run_kernel(x): return x.clamp(min=0)"),
        (EXPANDED, "def run_kernel(x, out): out.copy_((x * 3).expand(-1, 5))"),
        (WITH_GAPS, "def run_kernel(x, y): y.copy_(1 / (1 + torch.exp(-x)))"),
    ],
    ids=["returned", "contiguous", "written", "channels_last", "expanded", "gaps"],
)
def test_what_is_only_returned_has_any_layout_and_a_buffer_its_own(rig, reference, kernel):
    task = Task(reference_sha256=rig.blobs.put(reference), dims={})
    source = rig.source(kernel, head="import torch\n")
    found = read(rig.result(Check(source=source, task=task)), Checked)
    assert found.passed, found.detail


def test_a_progress_bar_in_a_kernel_leaves_no_thread(rig):
    found = rig.check("""
        import tqdm

        def run_kernel(x, y, **_):
            honest(x, y)
            list(tqdm.tqdm(range(3), disable=False))
    """)
    assert found.passed, found.detail


def has_landlock() -> bool:
    try:
        return syscall("landlock_create_ruleset", None, c_size_t(0), c_uint32(1)) > 0
    except OSError:
        return False


@pytest.mark.skipif(not has_landlock(), reason="this kernel has no Landlock")
@pytest.mark.parametrize("place", ["blobs", "work"])
def test_the_harness_s_folders_cannot_be_read(rig, place):
    folder = rig.blobs.folder if place == "blobs" else rig.blobs.folder.parent / "work"
    text = textwrap.dedent(f"""
        import os
        def run_kernel(x, y, **_):
            honest(x, y)
            os.listdir({str(folder)!r})
    """)
    found = rig.check(text)
    assert found.reason == "raised"
    assert "Permission denied" in found.detail


def test_what_is_installed_can_be_read(rig):
    found = rig.check("""
        import json, os, sys
        def run_kernel(x, y, **_):
            assert os.listdir(os.path.dirname(json.__file__))
            assert os.path.exists(sys.executable)
            honest(x, y)
    """)
    assert found.passed, found.detail

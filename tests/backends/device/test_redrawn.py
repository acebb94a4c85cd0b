"""Constants vary, every output is judged by its own type, a refusal says what was drawn anew."""

from __future__ import annotations

import pytest

from kbs_engine.jobs import Check, Task
from kbs_engine.results import Checked, read

NORM = """
import torch

def setup(**_):
    return {"inputs": {"x": torch.randn(8, 32), "w": torch.ones(32), "y": torch.empty(8, 32)},
            "outputs": ["y"]}
"""
NORM_REFERENCE = """
def reference(x, w, y, **_):
    y.copy_(torch.nn.functional.layer_norm(x, (32,), w))
"""
SCALED = """
import torch

def setup(**_):
    return {"inputs": {"x": torch.randn(8, 32), "s": torch.empty(8),
                       "q": torch.empty(8, 32, dtype=torch.float8_e4m3fn)},
            "outputs": ["q", "s"]}

def quantize(x, q, s, by):
    s.copy_(x.abs().amax(-1) / 448.0 * by + 1e-9)
    q.copy_((x / (x.abs().amax(-1) / 448.0 + 1e-9)[:, None]).to(torch.float8_e4m3fn))
"""
SCALED_REFERENCE = "def reference(x, q, s, **_):\n    quantize(x, q, s, 1.0)\n"


def checked(rig, head, reference, kernel):
    task = Task(reference_sha256=rig.blobs.put(head + reference), dims={})
    return read(rig.result(Check(source=rig.source(kernel, head=head), task=task)), Checked)


def test_a_kernel_that_leaves_a_constant_weight_out_is_refused_and_told(rig):
    left_out = "def run_kernel(x, y, **_):\n    y.copy_(torch.nn.functional.layer_norm(x, (32,)))\n"
    found = checked(rig, NORM, NORM_REFERENCE, left_out)
    assert found.reason == "wrong_result"
    assert found.rounds[0].ok, "on what setup() draws nothing is amiss"
    assert "drew x, w anew, of which setup() gives w one value everywhere" in found.detail
    assert 'domains = {"NAME": "setup"}' in found.detail


def test_a_constant_that_may_be_only_that_stays(rig):
    kept = NORM + 'domains = {"w": "setup"}\n'
    left_out = "def run_kernel(x, y, **_):\n    y.copy_(torch.nn.functional.layer_norm(x, (32,)))\n"
    assert checked(rig, kept, NORM_REFERENCE, left_out).passed


@pytest.mark.parametrize(("by", "reason"), [("1.0", None), ("1.1", "wrong_result")])
def test_an_output_beside_a_coarser_one_is_judged_by_its_own_type(rig, by, reason):
    kernel = f"def run_kernel(x, q, s, **_):\n    quantize(x, q, s, {by})\n"
    found = checked(rig, SCALED, SCALED_REFERENCE, kernel)
    assert found.reason == reason, found.detail
    assert found.tolerance_from.startswith("derived from fp8_e4m3, s from fp32")

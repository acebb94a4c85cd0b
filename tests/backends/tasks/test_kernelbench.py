"""Problems of KernelBench, and baselines whose package is not here."""

from __future__ import annotations

import pytest
import torch

from kbs_backends.tasks import compare
from kbs_engine.errors import InputError, MeasurementError
from tests.backends.tasks.test_reference import SETUP, load

KERNELBENCH = """
import torch.nn as nn
batch = 8
features = 16
class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, 4)
    def forward(self, x):
        return torch.relu(self.linear(x))
def get_inputs(): return [torch.randn(batch, features)]
def get_init_inputs(): return [features]
"""


def test_a_kernelbench_problem(tmp_path):
    reference = load(tmp_path, KERNELBENCH, {"batch": 3})
    assert reference.output_names == ("out",)
    inputs = reference.make_inputs(1)
    assert list(inputs) == ["x", "linear_weight", "linear_bias", "out"]
    assert inputs["x"].shape == (3, 16)
    expected = reference.expected(inputs)["out"]
    x, w, b = (inputs[n].double() for n in ("x", "linear_weight", "linear_bias"))
    assert torch.allclose(expected, torch.relu(x @ w.t() + b))
    assert reference.family == "gemm"
    prepared = reference.prepare_round(1, "normal", "cpu", reference.tolerance())
    own = reference.eager(prepared.inputs)
    assert compare(own, prepared.expected, prepared.specs, prepared.tolerance).ok
    with pytest.raises(InputError, match="wrong dims: size is no constant"):
        load(tmp_path, KERNELBENCH, {"size": 3}).make_inputs(1)


def test_a_missing_package_of_a_baseline_is_told(tmp_path):
    text = SETUP + (
        "def reference(x, baseline=None, **_):\n"
        "    if baseline: import no_such_library\n"
        "    return x\n"
    )
    reference = load(tmp_path, text)
    inputs = reference.make_inputs(1)
    with pytest.raises(MeasurementError, match="no_such_library"):
        reference.eager(inputs, baseline="flashinfer")


ONE_NAME = """
import torch.nn as nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(4))
    def forward(self, x, bias):
        return x + self.bias * 2 + bias
def get_inputs(): return [torch.randn(4), torch.randn(4)]
def get_init_inputs(): return []
"""
NESTED = """
import torch.nn as nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 4)
    def forward(self, x):
        return self.lstm(x)
def get_inputs(): return [torch.randn(2, 3, 4)]
def get_init_inputs(): return []
"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (ONE_NAME, "the name bias is both that of the parameter bias and that of another argument"),
        (NESTED, "forward returns a tuple among its outputs"),
    ],
)
def test_a_problem_that_is_no_kernels_task_is_refused(tmp_path, text, told):
    with pytest.raises(InputError, match=told):
        load(tmp_path, text, {}).make_inputs(1)

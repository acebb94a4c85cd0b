"""Elementwise references become one Triton kernel; the others say why not."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
import torch
from torch.nn import functional

from kbs_backends.templates.pointwise import NotPointwise, Pointwise, pointwise_kernel


class Task:
    """A reference with one output ``out``."""

    output_names = ("out",)

    def __init__(self, function):
        self.function = function

    def eager(self, inputs):
        given = {name: value for name, value in inputs.items() if name != "out"}
        return {"out": self.function(**given)}


CASES = {
    "gelu": lambda x: functional.gelu(x, approximate="none"),
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "swiglu": lambda x, y: functional.silu(x) * y,
    "affine": lambda x, g: x * g + 2.5 * g,
    "clipped": lambda x: torch.where(x > 0, x.clamp(max=1.0), 0.1 * x),
    "poly": lambda x: x**3 - 2 * x**2 + x.abs().sqrt(),
    "alpha": lambda x, y: torch.add(x, y, alpha=0.5),
    "tanh": lambda x: torch.tanh(x) + torch.sigmoid(-x),
}
RUN = """
import importlib.util, json, sys, torch
for path in json.loads(sys.argv[1]):
    spec = importlib.util.spec_from_file_location("kernel", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    data = torch.load(path + ".pt")
    module.launch(*data["inputs"], data["out"])
    torch.save(data["out"], path + ".got")
"""


def inputs_of(function):
    generator = torch.Generator().manual_seed(3)
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    made = {
        name: torch.randn((37,) if name == "g" else (5, 37), generator=generator) for name in names
    }
    return {**made, "out": torch.zeros(5, 37)}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Every case written out and run once, in one interpreted process."""
    folder = tmp_path_factory.mktemp("pointwise")
    paths = {}
    for name, function in CASES.items():
        inputs = inputs_of(function)
        made = pointwise_kernel(Task(function), inputs)
        assert isinstance(made, Pointwise), f"{name}: {made}"
        path = folder / f"{name}.py"
        path.write_text(made.text)
        torch.save(
            {"inputs": [inputs[one] for one in made.inputs], "out": inputs["out"]}, f"{path}.pt"
        )
        paths[name] = str(path)
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(list(paths.values()))],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {name: torch.load(f"{path}.got") for name, path in paths.items()}


@pytest.mark.parametrize("name", CASES)
def test_the_kernel_computes_what_the_reference_computes(results, name):
    inputs = inputs_of(CASES[name])
    expected = Task(CASES[name]).eager(inputs)["out"]
    torch.testing.assert_close(results[name], expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda x: x.softmax(-1), "softmax"),
        (lambda x: x.sum(-1, keepdim=True) + x, "sum"),
        (lambda x: x**2.7, "power"),
        (lambda x: x.t().contiguous().t() * 1.0, "t"),
    ],
)
def test_what_is_not_elementwise_says_why(function, why):
    answer = pointwise_kernel(Task(function), inputs_of(function))
    assert isinstance(answer, NotPointwise)
    assert why in answer.why


def test_a_strided_input_is_refused():
    inputs = {"x": torch.randn(37, 5).t(), "out": torch.zeros(5, 37)}
    answer = pointwise_kernel(Task(lambda x: x * 2), inputs)
    assert answer == NotPointwise(why="x is not contiguous")

"""Elementwise references become one Triton kernel; the others say why not."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from kbs_backends.templates.pointwise import NotPointwise, Pointwise, pointwise_kernel
from tests.templates.interpreting import interpreted


class Task:
    """A reference with one output ``out``."""

    output_names = ("out",)

    def __init__(self, function):
        self.function = function

    def eager(self, inputs):
        given = {name: value for name, value in inputs.items() if name != "out"}
        return {"out": self.function(*given.values())}


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


def grid(x):
    """Both signs of 1e-30 to 1e4 in place of the values of ``x``."""
    half = torch.logspace(-30, 4, x.numel() // 2 + 1, dtype=torch.float64)
    return torch.cat([half, -half])[: x.numel()].reshape(x.shape).to(x.dtype)


ACCURATE = {
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "expm1": torch.expm1,
    "log1p": lambda x: torch.log1p(x.clamp(min=-0.99)),
    "sinh": torch.sinh,
    "cosh": torch.cosh,
    "asinh": torch.asinh,
    "atanh": lambda x: torch.atanh(0.9 * torch.sin(x)),
    "softplus": functional.softplus,
    "elu": lambda x: functional.elu(x, alpha=1.5),
    "celu": lambda x: functional.celu(x, alpha=1.5),
    "selu": functional.selu,
    "mish": functional.mish,
    "silu": functional.silu,
    "held": lambda x: torch.where(x > 0.3, 0.7, x.clamp(0.1, 0.9)),
    "leaky_relu": lambda x: functional.leaky_relu(x, 0.2),
    "erf": torch.erf,
    "gelu": lambda x: functional.gelu(x.clamp(min=-2.0)),
    "gelu_tanh": lambda x: functional.gelu(x.clamp(min=-2.0), approximate="tanh"),
    "rsqrt": lambda x: x.abs().rsqrt(),
}
"""Functions whose relative error must be small at every size of their argument."""
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


def all_cases():
    for name, function in CASES.items():
        yield name, function, inputs_of(function)
    for name, function in ACCURATE.items():
        for dtype in (torch.float32, torch.float64):
            x = grid(torch.zeros(5, 37, dtype=dtype))
            yield f"{name} {dtype}", function, {"x": x, "out": torch.zeros_like(x)}
    turned = {"x": torch.randn(37, 5).t(), "out": torch.zeros(37, 5).t()}
    x, row, out = torch.randn(5, 37), torch.randn(1, 37), torch.zeros(5, 37)
    yield "a row", lambda x, row: x * row, {"x": x, "row": row, "out": out}
    yield "turned", lambda x: x * 2 + 1, turned


def exact(name, function, inputs):
    """Torch's own fp32 gelu is off by up to 4e-6 on processors without AVX-512."""
    if name != "gelu torch.float32":
        return Task(function).eager(inputs)["out"]
    wide = {one: value.double() for one, value in inputs.items()}
    return Task(function).eager(wide)["out"].float()


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Every case written out and run once, in one interpreted process."""
    folder = tmp_path_factory.mktemp("pointwise")
    paths, wanted = {}, {}
    for name, function, inputs in all_cases():
        wanted[name] = exact(name, function, inputs)
        made = pointwise_kernel(Task(function), inputs)
        assert isinstance(made, Pointwise), f"{name}: {made}"
        path = folder / f"{name}.py"
        path.write_text(made.text)
        torch.save(
            {"inputs": [inputs[one] for one in made.inputs], "out": inputs["out"]}, f"{path}.pt"
        )
        paths[name] = str(path)
    interpreted(RUN, list(paths.values()))
    return {name: (torch.load(f"{path}.got"), wanted[name]) for name, path in paths.items()}


@pytest.mark.parametrize("name", [*CASES, "turned", "a row"])
def test_the_kernel_computes_what_the_reference_computes(results, name):
    got, expected = results[name]
    torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("dtype", "error"), [(torch.float32, 2e-6), (torch.float64, 1e-14)])
@pytest.mark.parametrize("name", ACCURATE)
def test_functions_are_accurate_at_every_size(results, name, dtype, error):
    got, expected = results[f"{name} {dtype}"]
    torch.testing.assert_close(got, expected, atol=0, rtol=error)


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda x: x.softmax(-1), "softmax"),
        (lambda x: x.sum(-1, keepdim=True) + x, "sum"),
        (lambda x: x**2.7, "power"),
        (lambda x: x.t().contiguous().t() * 1.0, "t"),
        (lambda x: x * 2 if x.sum() > 0 else x * 3, "its control flow depends on values"),
        (lambda x: x * int(x.argmax()), "depends on values"),
    ],
)
def test_what_is_not_elementwise_says_why(function, why):
    answer = pointwise_kernel(Task(function), inputs_of(function))
    assert isinstance(answer, NotPointwise)
    assert why in answer.why


@pytest.mark.parametrize(
    ("x", "out"),
    [
        (torch.randn(37, 5).t(), torch.zeros(5, 37)),
        (torch.randn(5, 37), torch.zeros(37, 5).t()),
        (torch.randn(5, 74)[:, ::2], torch.zeros(5, 74)[:, ::2]),
        (torch.randn(1, 37).expand(5, 37), torch.zeros(5, 37)),
    ],
)
def test_tensors_that_do_not_lie_alike_are_refused(x, out):
    answer = pointwise_kernel(Task(lambda x: x * 2), {"x": x, "out": out})
    assert isinstance(answer, NotPointwise)
    assert "do not lie alike in memory" in answer.why


def test_a_row_beside_columns_that_lie_one_after_the_other_is_refused():
    inputs = {"x": torch.randn(37, 5).t(), "g": torch.randn(37), "out": torch.zeros(37, 5).t()}
    answer = pointwise_kernel(Task(lambda x, g: x * g), inputs)
    assert isinstance(answer, NotPointwise)
    assert "rows do not lie one after the other" in answer.why

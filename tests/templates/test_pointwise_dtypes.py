"""Elementwise kernels compute in torch's types: every operation on every kind of number."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from kbs_backends.templates.pointwise import NotPointwise, Pointwise, pointwise_kernel
from tests.templates.interpreting import interpreted

DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32",
          "float64")  # fmt: skip
PAIRS = [
    ("bool", "bool"), ("bool", "int8"), ("bool", "float16"), ("uint8", "uint8"), ("uint8", "int8"),
    ("int8", "int8"), ("int8", "int32"), ("int32", "int64"), ("int64", "int64"),
    ("int64", "float32"), ("int8", "bfloat16"), ("int32", "bfloat16"), ("float16", "float16"),
    ("float16", "bfloat16"), ("bfloat16", "bfloat16"), ("bfloat16", "float32"),
    ("float32", "int32"), ("float32", "float64"),
]  # fmt: skip


def named(names):
    return {name: getattr(torch, name) for name in names.split()}


def cast(dtype):
    return lambda x: x.to(getattr(torch, dtype))


UNARY = {
    **named("relu exp log2 sqrt sigmoid tanh log1p abs neg reciprocal square floor ceil"),
    **named("logical_not bitwise_not"),
    "silu": functional.silu,
    "leaky_relu": lambda x: functional.leaky_relu(x, 0.2),
    **{f"to {dtype}": cast(dtype) for dtype in DTYPES},
    "truncated": lambda x: (x * 3).to(torch.int32).float() + 0.25,
    "wider": lambda x: x.to(torch.int32) * x,
    "rounded": lambda x: x.bfloat16().float(),
    "a third": lambda x: x.double() / 3,
    "truths": lambda x: (x > 0) + (x > 1),
    "all true": lambda x: (x > 0) * (x > 1),
    "counted": lambda x: (x > 0) * 2 + (x > 1),
    "a switch": lambda x: torch.where(x > 0, 1, 0),
    "held": lambda x: torch.where(x > 0, x, 2.5),
    "clamped": lambda x: x.clamp(min=0.5),
    "between": lambda x: x.clamp(1, 3),
    "at most": lambda x: x.clamp(max=2),
    "by a tenth": lambda x: x * 0.1,
    "from ten": lambda x: 10 - x,
    "by two": lambda x: x / 2,
    "above": lambda x: x > 0.1,
    "power": lambda x: x**2,
    "root": lambda x: x**0.5,
    "never": lambda x: torch.where(x > 0, x, float("nan")),
    "denormal": lambda x: torch.where(x > 0, x, 1e-40),
    "step": lambda x: torch.floor(x * 3.3),
}
BINARY = {
    **named("add sub mul div maximum minimum gt ge lt le eq ne bitwise_and bitwise_or"),
    **named("bitwise_xor logical_and logical_or logical_xor rsub"),
    "multiple": lambda x, y: torch.add(x, y * 1, alpha=3),  # refused for truths alone
    "either": lambda x, y: torch.where(x > y, x, y),
    "if any": lambda x, y: torch.where(x != 0, x, y),
    "at least": lambda x, y: torch.clamp(x, min=y),
    "chain": lambda x, y: (x * 3 + y) > x * 2,
}
TOLERANCE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 3e-6, "float64": 1e-13}
RUN = """
import json, sys, torch
from pathlib import Path
from kbs_backends.languages import LANGUAGES
for path in json.loads(sys.argv[1]):
    data = torch.load(path + ".pt")
    LANGUAGES["triton"].load(Path(path))(**data)
    torch.save(data, path + ".got")
"""


class Task:
    """A reference with an output for every function."""

    def __init__(self, functions):
        self.functions = functions
        self.output_names = tuple(f"out{number}" for number in range(len(functions)))

    def eager(self, inputs):
        given = [value for name, value in inputs.items() if not name.startswith("out")]
        results = [function(*given) for function in self.functions.values()]
        return dict(zip(self.output_names, results, strict=True))


def values(name, seed):
    """Small numbers of a dtype, and the least and largest of whole ones."""
    dtype, generator = getattr(torch, name), torch.Generator().manual_seed(seed)
    if name == "bool":
        return torch.rand(64, generator=generator) > 0.5
    if dtype.is_floating_point:
        made = (torch.randn(64, generator=generator) * 3).to(dtype)
        made[seed], made[seed + 2] = float("nan"), float("inf")
        made[8:24] = torch.arange(16) / 8 - 1
        return made
    limits = torch.iinfo(dtype)
    made = torch.randint(max(limits.min, -20), 21, (64,), generator=generator).to(dtype)
    made[0], made[1] = limits.min, limits.max
    return made


def taken(functions, inputs):
    """Those that torch itself computes on the inputs."""
    found = {}
    for name, function in functions.items():
        try:
            function(*inputs.values())
        except (RuntimeError, TypeError):
            continue
        found[name] = function
    return found


CASES = {
    **{dtype: (UNARY, {"x": values(dtype, 1)}) for dtype in DTYPES},
    **{f"{one} {other}": (BINARY, {"x": values(one, 1), "y": values(other, 2)})
       for one, other in PAIRS},
}  # fmt: skip


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A kernel of every operation for every case, run once in one interpreted process."""
    folder, paths, wanted = tmp_path_factory.mktemp("dtypes"), {}, {}
    for name, (functions, inputs) in CASES.items():
        task = Task(taken(functions, inputs))
        wanted[name] = (task, task.eager(inputs))
        given = {
            **inputs,
            **{one: torch.zeros_like(value) for one, value in wanted[name][1].items()},
        }
        made = pointwise_kernel(task, given)
        assert isinstance(made, Pointwise), f"{name}: {made}"
        call = ", ".join(f'kwargs["{one}"]' for one in (*made.inputs, *made.outputs))
        path = folder / f"{name}.py"
        path.write_text(f"{made.text}\ndef run_kernel(**kwargs):\n    launch({call})\n")
        torch.save(given, f"{path}.pt")
        paths[name] = str(path)
    interpreted(RUN, list(paths.values()))
    return {name: (torch.load(f"{path}.got"), *wanted[name]) for name, path in paths.items()}


@pytest.mark.parametrize("name", CASES)
def test_every_operation_computes_what_torch_computes(results, name):
    got, task, expected = results[name]
    wrong = {}
    for function, output in zip(task.functions, task.output_names, strict=True):
        allowed = TOLERANCE.get(str(expected[output].dtype).removeprefix("torch."), 0)
        alike = torch.isclose(
            got[output], expected[output], atol=allowed / 10, rtol=allowed, equal_nan=True
        )
        if not alike.all():
            wrong[function] = (got[output][~alike][:3], expected[output][~alike][:3])
    assert not wrong


@pytest.mark.parametrize(
    ("function", "dtype", "why"),
    [
        (lambda x: x.view(torch.int32), "float32", "view gives int32 of float32"),
        (lambda x: x.to(torch.complex64).real.clone(), "float32", "complex64"),
        (lambda x: x.to(torch.float8_e5m2), "float32", "a cast to float8_e5m2"),
        (lambda x: x.to(torch.uint16), "int32", "uint16 values are not written out"),
        (lambda x: x + 300, "int8", "300 is no int8"),
        (lambda x: x * 1e6, "float16", "1000000.0 is no float16"),
        (lambda x: torch.add(x, x, alpha=2), "bool", "a multiple of bool"),
        (lambda x: x // 2, "int32", "floor_divide"),
        (lambda x: x % 3, "int32", "remainder"),
        (lambda x: torch.div(x, 3, rounding_mode="trunc"), "int32", "a division that rounds"),
        (lambda x: x**4, "int32", "a power of 4"),
        (lambda x: x << 1, "int32", "shift"),
    ],
)
def test_what_is_not_computed_in_torch_s_types_is_refused(function, dtype, why):
    x = values(dtype, 1)
    answer = pointwise_kernel(Task({"": function}), {"x": x, "out0": function(x)})
    assert isinstance(answer, NotPointwise)
    assert why in answer.why

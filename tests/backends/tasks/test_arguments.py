"""What setup() may give: repeated elements, fp8, and what no process can be handed."""

from __future__ import annotations

import pytest

from kbs_backends.tasks import DISTRIBUTIONS, load_reference
from kbs_backends.tasks.dummies import degenerate
from kbs_engine.errors import InputError

REF = """
import numpy
import torch


def setup(M, N):
    x = torch.randn(M, N)
    return {{"inputs": {{"x": x, "a": {given}, "y": torch.empty(M, N){out}}}, "outputs": ["y"]}}


def reference(x, a, y):
    y.copy_(x * 2)
"""


def reference(folder, given="1", out=""):
    path = folder / "ref.py"
    path.write_text(REF.format(given=given, out=out))
    return load_reference(path, {"M": 6, "N": 16})


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_repeated_elements_stay_repeated_in_every_distribution(tmp_path, distribution):
    made = reference(tmp_path, "torch.randn(M, 1).expand(M, N)").make_inputs(3, distribution)["a"]
    assert (tuple(made.shape), made.stride(1)) == ((6, 16), 0)
    assert bool((made == made[:, :1]).all())


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_a_task_of_fp8_can_be_judged(tmp_path, name):
    path = tmp_path / "ref.py"
    path.write_text(
        "import torch\n"
        "def setup(M, N):\n"
        f"    return {{'inputs': {{'x': torch.randn(M, N).to(torch.{name})}}}}\n"
        f"def reference(x):\n    return (x.float() * 8).to(torch.{name})\n"
    )
    found = load_reference(path, {"M": 6, "N": 16})
    tolerance = found.tolerance()
    assert degenerate(found, tolerance, 1, "cpu") is None
    for distribution in DISTRIBUTIONS:
        assert found.prepare_round(1, distribution, "cpu", tolerance).usable


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("[x, x]", "a is a list that holds more"),
        ("{'w': x}", "a is a dict that holds more"),
        ("numpy.ones(3)", "a is a ndarray"),
        ("torch.float32", "a is a dtype"),
        ("x.to_sparse()", "layout torch.sparse_coo"),
        ("1 << 70", "a is a int"),
        ("torch.randn(99).as_strided((6, 16), (4, 1))", "elements of a overlap"),
    ],
)
def test_an_argument_that_cannot_be_handed_over_is_named(tmp_path, given, told):
    with pytest.raises(InputError, match=told) as raised:
        reference(tmp_path, given).make_inputs(1)
    assert str(tmp_path) in str(raised.value.where)


def test_an_output_whose_elements_repeat_is_refused(tmp_path):
    made = reference(tmp_path, out="[:, :1].expand(M, N)")
    with pytest.raises(InputError, match="elements of y overlap"):
        made.make_inputs(1)


@pytest.mark.parametrize(
    "given",
    ["None", "'relu'", "0.5", "True", "(1, 2)", "[[1], [2.5, None]]", "{'a': (1,)}", "x.t()",
     "x[:, ::2]", "x[:0]", "x[0, 0]", "torch.randn(2, 3, 4, 5).permute(0, 3, 1, 2)[:, 1:, :1]"],
)  # fmt: skip
def test_plain_values_and_strided_tensors_are_given(tmp_path, given):
    assert "a" in reference(tmp_path, given).make_inputs(1, "normal")

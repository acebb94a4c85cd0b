"""References: what they give, what is read off them, what is told when they are wrong."""

from __future__ import annotations

import pytest
import torch

from kbs_backends.tasks import (
    Tolerance,
    degenerate,
    dummies,
    load_reference,
)
from kbs_engine.errors import InputError, KbsError, UsageError
from tests.conftest import ROOT

KERNELS = ROOT / "tests/kernels"
HEAD = "import torch\n"
SETUP = """
def setup(n=8, seed=0):
    torch.manual_seed(seed)
    x = torch.randn(n, 4, device="cuda")
    inputs = {"x": x, "out": torch.empty(n, 4, device="cuda")}
    return {"inputs": inputs, "outputs": ["out"]}
"""


def load(tmp_path, text, dims=None, **options):
    path = tmp_path / "ref.py"
    path.write_text(HEAD + text)
    return load_reference(path, dims, **options)


RETURNS = (
    "return x * 2",
    "return (x * 2,)",
    "return [x * 2]",
    "return {'out': x * 2}",
    "out.copy_(x * 2)",
    "torch.mul(x, 2, out=out)",
    "out[:] = x * 2; return out",
)


@pytest.mark.parametrize("body", RETURNS)
def test_every_way_to_give_an_output(tmp_path, body):
    reference = load(tmp_path, SETUP + f"def reference(x, out, **_): {body}\n", {"n": 5})
    inputs = reference.make_inputs(3)
    expected = reference.expected(inputs)
    assert expected["out"].dtype == torch.float64
    assert torch.equal(expected["out"], inputs["x"].double() * 2)
    assert reference.specs(inputs)["out"].shape == (5, 4)


def test_outputs_that_setup_does_not_name_are_seen(tmp_path):
    silent = SETUP.replace('"outputs": ["out"]', '"outputs": []')
    for body in ("out.copy_(x)", "return {'out': x + 0}"):
        reference = load(tmp_path, silent + f"def reference(x, out, **_): {body}\n")
        assert reference.output_names == ("out",)
    returned = silent + "def reference(x, out, **_): return x * 2\n"
    assert load(tmp_path, returned, outputs=["out"]).output_names == ("out",)
    with pytest.raises(InputError, match="nothing tells which") as refused:
        _ = load(tmp_path, returned).output_names
    assert "--outputs" in refused.value.remedy
    assert load(tmp_path, returned, outputs=["z"]).output_names == ("z",)
    with pytest.raises(InputError, match="returns 1 values for 2 outputs"):
        _ = load(tmp_path, returned, outputs=["z", "w"]).output_names
    nothing = silent + "def reference(x, out, **_): pass\n"
    with pytest.raises(InputError, match="nothing tells which"):
        _ = load(tmp_path, nothing).output_names


BARE = "def setup(n=8): return {'inputs': {'x': torch.randn(n, 4), 'k': 3}}\n"


@pytest.mark.parametrize(
    ("body", "told", "names"),
    [
        ("return x * k", [], ["out"]),
        ("return x * k", ["y"], ["y"]),
        ("return x * k, x.sum(0)", [], ["out0", "out1"]),
        ("return {'a': x * k, 'b': x.half()}", [], ["a", "b"]),
        ("return x.t()", [], ["out"]),
        ("return x.sum()", [], ["out"]),
        ("return x * k if float(x.sum()) < 1e9 else x", [], ["out"]),
    ],
)
def test_what_is_only_returned_gets_buffers(tmp_path, body, told, names):
    reference = load(tmp_path, BARE + f"def reference(x, k): {body}\n", {"n": 5}, outputs=told)
    assert list(reference.output_names) == names
    inputs = reference.make_inputs(3)
    eager = reference.eager(inputs)
    for name, spec in reference.specs(inputs).items():
        assert eager[name].shape == spec.shape == inputs[name].shape
        assert inputs[name].is_contiguous()
        assert str(eager[name].dtype) == f"torch.{spec.dtype}"
    assert reference.function()(**inputs) is not None
    made = reference.prepare_round(1, "normal", "cpu", reference.tolerance(1e-3, 1e-3))
    assert made.usable
    assert list(made.expected) == names


def test_a_setup_that_needs_values_is_run_with_values(tmp_path):
    text = "def setup(n=8):\n    x = torch.rand(n, 4)\n    k = max(1, int(x.sum().item() > 1e9))\n"
    text += "    return {'inputs': {'x': x, 'k': k, 'y': torch.from_numpy(x.numpy() * 2)}}\n"
    reference = load(tmp_path, text + "def reference(x, k, y): y.copy_(x * k)\n")
    assert reference.output_names == ("y",)
    assert reference.family
    assert reference.work().work.bytes_in
    assert reference.tolerance().derived


def test_a_reference_that_returns_no_tensor_is_told(tmp_path):
    with pytest.raises(InputError, match="returns a float for output out"):
        _ = load(tmp_path, BARE + "def reference(x, k): return 3.0\n").output_names


def test_what_needs_values_is_seen_with_values(tmp_path):
    silent = SETUP.replace('"outputs": ["out"]', '"outputs": []')
    body = "def reference(x, out, **_):\n    if x.sum().item() < 1e9: out.copy_(x)\n"
    assert load(tmp_path, silent + body).output_names == ("out",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def other(): pass\n", "defines no reference"),
        ("def reference(**_): pass\n", "has no setup"),
        ("def reference(\n", "does not parse"),
        ("class Model: pass\n", "defines Model but no get_inputs"),
        (SETUP + "def reference(x, **_): return x[:2]\n", "shape mismatch"),
        (SETUP + "def reference(x, **_): return x.half()\n", "dtype mismatch"),
        (SETUP + "def reference(x, **_): return x, x\n", "returns 2 values for 1 outputs"),
        (SETUP + "def reference(x, **_): return {'y': x}\n", "'y', which is no output"),
        (SETUP + "def reference(x, **_): return 3\n", "gives a int for output out"),
        (SETUP + "def reference(x, **_): return x / 0 * 0\n", "gives NaN in 32 of 32"),
        (SETUP + "def reference(x, **_): raise MemoryError\n", "out of memory"),
        (SETUP + "def reference(y, **_): return y\n", "reference fails: TypeError"),
        (SETUP + "family = 'magic'\ndef reference(x, **_): return x\n", "family 'magic'"),
    ],
)  # fmt: skip
def test_a_wrong_reference_is_told(tmp_path, text, words):
    def use():
        reference = load(tmp_path, text)
        _ = reference.family
        reference.prepare_round(1, "normal", "cpu", Tolerance(atol=1, rtol=1, source="x"))

    with pytest.raises(KbsError) as refused:
        use()
    assert words in refused.value.message
    assert refused.value.where
    assert refused.value.remedy


def test_libraries_are_permitted_unless_the_reference_forbids_them(tmp_path):
    text = SETUP + "def reference(x, out):\n    out.copy_(x * 2)\n"
    assert load(tmp_path, text).libraries_permitted
    assert not load(tmp_path, text + "libraries = False\n").libraries_permitted
    with pytest.raises(InputError, match="libraries is 'none'"):
        _ = load(tmp_path, text + "libraries = 'none'\n").libraries_permitted


def test_wrong_dims_and_distributions_are_told(tmp_path):
    body = "def reference(x, **_): return x\n"
    with pytest.raises(InputError, match="wrong dims for setup: m is not one of its dims"):
        load(tmp_path, SETUP + body, {"m": 3}).make_inputs(1)
    with pytest.raises(UsageError, match="no distribution 'odd'"):
        load(tmp_path, SETUP + body).make_inputs(1, "odd")


def test_inputs_of_a_baseline_kernel(tmp_path):
    kernel = tmp_path / "kernel.py"
    kernel.write_text(HEAD + SETUP + "def run_kernel(**_): pass\n")
    reference = load(tmp_path, "def reference(x, **_): return x * 3\n", setup=kernel)
    assert reference.make_inputs(1)["x"].shape == (8, 4)
    cu = tmp_path / "kernel.cu"
    cu.write_text('extern "C" void solve(const float* x, float* y, const int* at, int n) {}')
    body = "def reference(x, y, **_): y.copy_(x + 1)\n"
    for options, size in (({"dims": {"n": 6}}, 6), ({"dims": {"n": 6}, "ptr_size": 9}, 9)):
        bound = load(tmp_path, body, setup=cu, **options)
        assert bound.output_names == ("y",)
        inputs = bound.make_inputs(2)
        assert inputs["x"].numel() == size
        assert inputs["at"].tolist() == [0] * size
        assert inputs["n"] == 6
    with pytest.raises(InputError, match="wrong dims: solve takes int n") as refused:
        load(tmp_path, body, setup=cu, ptr_size=4).make_inputs(1)
    assert refused.value.where == f"{cu}:1"
    with pytest.raises(InputError, match="size of its pointers is not known"):
        load(tmp_path, body, setup=cu).make_inputs(1)


def test_rounds_expect_fp64_and_know_when_they_cannot_judge():
    reference = load_reference(KERNELS / "layernorm/ref.py", {"M": 4, "N": 64})
    tolerance = reference.tolerance()
    prepared = reference.prepare_round(1, "normal", "cpu", tolerance)
    assert prepared.expected_from == "fp64"
    assert prepared.usable
    assert 0 < prepared.eager_max_abs_err < 1e-4
    hopeless = reference.prepare_round(1, "normal", "cpu", Tolerance(atol=0, rtol=0, source="x"))
    assert not hopeless.usable
    assert "eager itself" in hopeless.why_not


def test_an_output_that_is_read_is_found(tmp_path):
    adds = load(tmp_path, SETUP + "def reference(x, out, **_): out.add_(x)\n")
    inputs = SETUP.replace("torch.empty", "torch.zeros")
    adds = load(tmp_path, inputs + "def reference(x, out, **_): out.add_(x)\n")
    adds.prepare_round(1, "normal", "cpu", adds.tolerance())
    assert adds.reads_outputs == ("out",)
    copies = load(tmp_path, inputs + "def reference(x, out, **_): out.copy_(x)\n")
    copies.prepare_round(1, "normal", "cpu", copies.tolerance())
    assert copies.reads_outputs == ()


@pytest.mark.parametrize(
    ("body", "extra", "named"),
    [
        ("return x * 2", "", None),
        ("return x + 0", "", None),  # a copy kernel is what this task asks for
        ("return x * 0", "", "zeros"),
        ("return x * 1e-6", "atol = 1e-2\n", "zeros"),
        ("return torch.ones_like(x)", "", "ones"),
        ("return torch.full_like(x, 3)", "", "mean"),
        ("return x * (1 + 1e-9)", "", None),
        ("return x + 1e-4", "atol = 1e-3\nrtol = 0.0\n", "copy of x"),
        ("return torch.sign(x.sum() ** 2) * 5 + x * 0", "", "mean"),
    ],
)
def test_tasks_that_a_dummy_passes_are_named(tmp_path, body, extra, named):
    reference = load(tmp_path, SETUP + extra + f"def reference(x, **_): {body}\n", {"n": 50})
    assert degenerate(reference, reference.tolerance(), 1, "cpu") == named


def test_the_shipped_tasks_are_not_degenerate():
    for name, dims in (("softmax", {"M": 5, "N": 70}), ("reduction", {"M": 5, "N": 70})):
        reference = load_reference(KERNELS / name / "ref.py", dims)
        assert degenerate(reference, reference.tolerance(), 1, "cpu") is None
        assert {"zeros", "ones", "mean", "answer to other inputs"} <= set(
            dummies(reference, 1, "cpu")
        )


@pytest.mark.parametrize(
    ("body", "extra", "family"),
    [
        ("return torch.softmax(x, -1)", "", "softmax"),
        ("return x @ x.t() @ x", "", "gemm"),
        ("return torch.softmax(x @ x.t(), -1) @ x", "", "attention"),
        ("return torch.nn.functional.layer_norm(x, (4,))", "", "normalization"),
        ("return x / torch.sqrt(x.pow(2).mean(-1, keepdim=True))", "", "normalization"),
        ("return x.sum(-1, keepdim=True).expand(-1, 4).contiguous()", "", "reduction"),
        ("return torch.cumsum(x, -1)", "", "scan"),
        ("return torch.relu(x) * 2", "", "elementwise"),
        ("return torch.relu(x) * 2", "family = 'fused'\n", "fused"),
    ],
)
def test_families_are_declared_or_seen(tmp_path, body, extra, family):
    assert load(tmp_path, SETUP + extra + f"def reference(x, **_): {body}\n").family == family


def test_work_is_declared_counted_or_unknown(tmp_path):
    gemm = load_reference(KERNELS / "gemm/ref.py", {"M": 8, "N": 16, "K": 32})
    work = gemm.work()
    assert (work.flops_from, work.work.flops) == ("declared", 2 * 8 * 16 * 32)
    assert work.flops_by_dtype == {"fp16": 2 * 8 * 16 * 32}
    assert (work.bytes_from, work.work.bytes_in) == ("counted", 2 * (8 * 32 + 32 * 16))
    assert work.work.bytes_out == 2 * 8 * 16
    counted = load(tmp_path, SETUP + "def reference(x, **_): return x @ x.t() @ x\n").work()
    assert (counted.flops_from, counted.work.flops) == ("counted", 2 * (2 * 8 * 8 * 4))
    unknown = load(tmp_path, SETUP + "def reference(x, **_): return torch.softmax(x, 1)\n").work()
    assert (unknown.flops_from, unknown.work.flops) == ("unknown", None)
    with pytest.raises(InputError, match="flops gives no number"):
        load(tmp_path, SETUP + "flops = -1\ndef reference(x, **_): return x\n").work()

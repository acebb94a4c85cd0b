"""Values of arguments: distributions, poison, and where setup() draws them."""

from __future__ import annotations

import re

import pytest
import torch

from kbs_backends.tasks import DISTRIBUTIONS, POISONS, degenerate, digest, load_reference, poison
from kbs_backends.tasks.distributions import redrawn
from kbs_backends.tasks.read_back import read_back
from kbs_engine.errors import InputError
from tests.backends.tasks.test_reference import load


def test_distributions_redraw_floats_and_stay_in_the_domain(tmp_path):
    text = """
def setup(seed=0):
    torch.manual_seed(seed)
    n = 4096
    inputs = {
        "signed": torch.randn(n) * 3, "positive": torch.rand(n) + 0.5,
        "unit": torch.rand(n) * 2 - 1,
        "share": torch.rand(n), "mask": (torch.rand(n) > 0.5).float(), "at": torch.arange(n),
        "narrow": torch.randn(n), "half": torch.randn(n).half(), "out": torch.empty(n),
    }
    return {"inputs": inputs, "outputs": ["out"]}
domains = {"narrow": (-0.25, 0.5)}
def reference(signed, out, **_): out.copy_(signed)
"""
    reference = load(tmp_path, text)
    plain = reference.make_inputs(1)
    for distribution in DISTRIBUTIONS[1:]:
        made = reference.make_inputs(1, distribution)
        assert torch.equal(made["at"], plain["at"])
        assert torch.equal(made["mask"], plain["mask"])
        assert not torch.equal(made["signed"], plain["signed"])
        assert bool((made["positive"] > 0).all())
        assert float(made["unit"].abs().max()) <= 1
        assert 0 <= float(made["share"].min()) <= float(made["share"].max()) <= 1
        assert -0.25 <= float(made["narrow"].min()) <= float(made["narrow"].max()) <= 0.5
        assert made["half"].dtype == torch.float16
        assert bool(torch.isfinite(made["half"]).all())
        again = reference.make_inputs(1, distribution)
        assert digest(made, ["signed"]) == digest(again, ["signed"])
        other = reference.make_inputs(2, distribution)
        assert digest(made, ["signed"]) != digest(other, ["signed"])
    zeros = reference.make_inputs(1, "signed_zeros")["signed"]
    assert bool(((zeros == 0) & torch.signbit(zeros)).any())
    assert float(reference.make_inputs(1, "large_offset")["signed"].mean()) > 15
    spikes, spread = reference.make_inputs(1, "spikes")["signed"], float(plain["signed"].std())
    far = spikes[spikes.abs() > 100 * spread]
    assert 0 < int((far > 0).sum()) <= 4
    assert 0 < int((far < 0).sum()) <= 4
    assert bool(torch.isinf(torch.exp(spikes)).any())


KINDS = [
    torch.float32, torch.float16, torch.int32, torch.bool, torch.complex64, torch.uint16,
    torch.uint64, torch.float8_e4m3fn, torch.float8_e5m2,
]  # fmt: skip


@pytest.mark.parametrize("pattern", POISONS)
@pytest.mark.parametrize("dtype", KINDS)
def test_poison_fills_outputs_alone(pattern, dtype):
    inputs = {"x": torch.zeros(64), "out": torch.zeros(4, 16, dtype=dtype)}
    poison(inputs, ["out"], pattern, 5)
    assert bool((inputs["x"] == 0).all())
    filled = inputs["out"]
    assert sum(value != 0 for value in filled.flatten().tolist()) > filled.numel() // 4
    again = {"out": torch.zeros(4, 16, dtype=dtype)}
    poison(again, ["out"], pattern, 5)
    assert digest(again) == digest({"out": filled})


SOMEWHERE = """
import torch


def setup(**_):
    return {"inputs": {"x": MADE, "out": torch.empty(4)}, "outputs": ["out"]}


def reference(x, out, **_):
    out.copy_(x)
"""


@pytest.mark.parametrize(
    ("made", "there"),
    [("torch.randn(4)", True), ("torch.from_numpy(torch.randn(4).numpy())", False)],
)
def test_what_setup_makes_on_no_device_is_made_on_the_gpu_where_it_allows_that(
    tmp_path, monkeypatch, made, there
):
    """The device ``meta`` stands in for a GPU."""
    path = tmp_path / "ref.py"
    path.write_text(SOMEWHERE.replace("MADE", made))
    reference = load_reference(path, {})
    assert reference.output_names == ("out",)
    real = torch.device
    monkeypatch.setattr(torch, "device", lambda name: real("meta" if name == "cuda:0" else name))
    drawn = reference._drawn_there(1, "cuda:0")
    assert drawn["x"].is_meta is there
    assert drawn["out"].is_meta is there
    again = reference._drawn_there(2, "cuda:0")
    assert again["x"].is_meta is there


CONSTANTS = """
import torch


def setup(seed=0):
    torch.manual_seed(seed)
    inputs = {
        "x": torch.randn(64), "weight": torch.ones(64), "bias": torch.zeros(64),
        "scale": torch.tensor(4.0), "masked": torch.full((64,), float("-inf")),
        "largest": torch.full((64,), -3.4e38), "kept": torch.ones(64), "asked": torch.ones(64),
        "three": torch.randn(3), "switch": torch.tensor([0.0, 1.0, 1.0]), "out": torch.empty(64),
    }
    return {"inputs": inputs, "outputs": ["out"]}


domains = {"kept": (1.0, 1.0), "asked": (2.0, 5.0)}


def reference(x, out, **_):
    out.copy_(x)
"""
AROUND = {"weight": (0.5, 1.0), "bias": (0.0, 0.5), "scale": (2.0, 6.0), "asked": (2.0, 5.0)}


@pytest.mark.parametrize("distribution", DISTRIBUTIONS[1:])
def test_one_value_everywhere_is_drawn_around_it(tmp_path, distribution):
    reference = load(tmp_path, CONSTANTS)
    plain = reference.make_inputs(1)
    made = reference.make_inputs(1, distribution)
    for name, (low, high) in AROUND.items():
        assert low <= float(made[name].min()) <= float(made[name].max()) <= high, name
    varied = {name for name in made if not torch.equal(made[name], plain[name])}
    assert varied >= {"weight", "bias", "asked", "three"}
    assert not varied & {"masked", "largest", "kept", "switch"}
    again = reference.make_inputs(2, distribution)
    assert digest(again, ["weight"]) != digest(made, ["weight"])


def test_what_is_drawn_anew_is_named(tmp_path):
    names, constant = redrawn(load(tmp_path, CONSTANTS), 0, "cpu")
    assert names == ("x", "weight", "bias", "scale", "asked", "three")
    assert constant == ("weight", "bias", "scale", "asked")


@pytest.mark.parametrize(
    ("stated", "told"),
    [
        ("[('x', 0, 1)]", "domains is a list, not a dict"),
        ("{'x': 1}", "the domain of x is 1, not two numbers"),
        ("{'x': (None, 1)}", "has the end None, which is no number"),
        ("{'x': (2.0, -2.0)}", "goes down, from 2 to -2"),
        ("{'x': 'steup'}", "not two numbers"),
        ("{'scle': (1, 1)}", "domains names scle, which is no input"),
    ],
)
def test_domains_that_say_nothing_are_refused(tmp_path, stated, told):
    text = CONSTANTS.replace('{"kept": (1.0, 1.0), "asked": (2.0, 5.0)}', stated)
    with pytest.raises(InputError, match=re.escape(told)):
        load(tmp_path, text).make_inputs(0)


def test_an_input_with_a_structure_may_stay_as_setup_draws_it(tmp_path):
    text = CONSTANTS.replace('"kept": (1.0, 1.0)', '"kept": "setup", "x": "setup"')
    reference = load(tmp_path, text)
    made, plain = (reference.make_inputs(1, name) for name in ("normal", "setup"))
    assert torch.equal(made["x"], plain["x"])
    assert torch.equal(made["kept"], plain["kept"])


def test_a_reference_that_fails_on_other_inputs_than_its_own_is_told_how_to_keep_them(tmp_path):
    text = """
def setup(**_):
    a = torch.randn(8, 8)
    return {"inputs": {"a": a @ a.T + 8 * torch.eye(8)}}


def reference(a):
    return torch.linalg.cholesky(a)
"""
    reference = load(tmp_path, text)
    tolerance = reference.tolerance()
    for judge in (
        lambda: reference.prepare_round(1, "normal", "cpu", tolerance),
        lambda: degenerate(reference, tolerance, 1, "cpu"),
    ):
        with pytest.raises(InputError, match=r"on inputs '(normal|outliers)'") as told:
            judge()
        assert 'domains = {"NAME": "setup"}' in told.value.remedy
    assert reference.prepare_round(1, "setup", "cpu", tolerance).usable


IN_PLACE = """
import torch


def setup(**_):
    return {"inputs": {"x": MADE}, "outputs": ["x"]}


def reference(x):
    BODY
"""


@pytest.mark.parametrize(
    ("body", "made", "reads"),
    [
        ("x.copy_(torch.softmax(x, -1))", "torch.randn(4, 8)", True),
        ("x.sub_(x.mean(-1, keepdim=True))", "torch.randn(4, 8)", True),
        ("x.clamp_(min=1.0)", "torch.randn(64)", True),
        ("x.copy_(x * 2 + 1)", "torch.randn(8)", True),
        ("x.add_(1)", "torch.zeros(8, dtype=torch.int32)", True),
        ("x.copy_(x.flip(0))", "torch.rand(8) > 0.5", True),
        ("x.copy_(torch.arange(8.0).sqrt())", "torch.randn(8)", False),
        ("x.fill_(3)", "torch.empty(8, dtype=torch.float8_e5m2)", False),
        ("x.copy_(torch.ones(4, dtype=torch.uint16))", "torch.empty(4, dtype=torch.uint16)", False),
    ],
)
def test_an_output_that_is_read_is_seen(tmp_path, body, made, reads):
    reference = load(tmp_path, IN_PLACE.replace("MADE", made).replace("BODY", body))
    found = read_back(("x",), reference.make_inputs(0), reference.eager)
    assert set(found) == ({"x"} if reads else set())


def test_an_output_that_is_read_is_drawn_from_every_distribution(tmp_path):
    text = IN_PLACE.replace("MADE", "torch.randn(4, 8)")
    reference = load(tmp_path, text.replace("BODY", "x.copy_(torch.softmax(x, -1))"))
    tolerance = reference.tolerance()
    reference.prepare_round(1, "setup", "cpu", tolerance)
    assert reference.reads_outputs == ("x",)
    far = reference.prepare_round(1, "spikes", "cpu", tolerance)
    assert float(far.inputs["x"].abs().max()) > 100
    assert float(far.expected["x"].max()) == pytest.approx(1.0)

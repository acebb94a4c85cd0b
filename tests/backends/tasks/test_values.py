"""Values of arguments: distributions, poison, and where setup() draws them."""

from __future__ import annotations

import pytest
import torch

from kbs_backends.tasks import DISTRIBUTIONS, POISONS, digest, load_reference, poison
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

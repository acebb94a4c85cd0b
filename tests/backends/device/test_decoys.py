"""Decoys stand in the named inputs alone, go without a trace, and explain what was read early."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kbs_backends.device.decoys import DECOYS, explains, plant, reveal
from kbs_backends.device.layout import Layout, TensorSpec
from kbs_backends.tasks import OutputSpec, Tolerance

SHAPES = st.lists(st.integers(0, 9), max_size=3)


def _layout(shapes, item_bytes, gap, *, turned):
    specs = []
    for number, shape in enumerate(shapes):
        stride, step = [], gap
        for size in shape if turned else reversed(shape):
            stride.append(step)
            step *= max(1, size)
        order = stride if turned else stride[::-1]
        specs.append(TensorSpec(name=f"t{number}", shape=tuple(shape), stride=tuple(order),
                                dtype="uint8", item_bytes=item_bytes))  # fmt: skip
    return Layout(specs=tuple(specs), slots=2)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(SHAPES, min_size=1, max_size=4), st.sampled_from((1, 2, 4, 8)), st.integers(0, 2),
    st.booleans(), st.integers(0, 9), st.integers(0, 9),
)  # fmt: skip
def test_decoys_come_and_go_in_the_named_tensors_alone(
    shapes, item_bytes, gap, turned, slot, shift
):
    layout = _layout(shapes, item_bytes, gap, turned=turned)
    placed = layout.place(slot, shift)
    flat = torch.randint(0, 256, (layout.total_bytes,), dtype=torch.uint8)
    before = flat.clone()
    names = frozenset(f"t{n}" for n in range(0, len(shapes), 2))
    decoys = plant(flat, placed, names, 0, np.random.default_rng(slot))
    changed = set((flat != before).nonzero().flatten().tolist())
    allowed = set()
    for one in placed:
        if one.spec.name in names:
            allowed |= set(range(one.offset, one.offset + one.spec.extent_bytes))
    assert changed <= allowed
    if decoys is not None:
        assert len(decoys.places) <= DECOYS * item_bytes * len(names)
        reveal(flat, decoys)
    assert torch.equal(flat, before)


def test_a_large_tensor_holds_decoys_until_they_are_taken_away():
    layout = _layout([[64, 64]], 4, 1, turned=False)
    flat = torch.randint(0, 256, (layout.total_bytes,), dtype=torch.uint8)
    before = flat.clone()
    drawn = np.random.default_rng(1)
    seen = [plant(flat, layout.place(0, 0), frozenset({"t0"}), 0, drawn) for _ in range(2)]
    assert not torch.equal(flat, before)
    assert not torch.equal(seen[0].places, seen[1].places)


@pytest.mark.parametrize(
    ("names", "explained"), [(("x", "b"), True), (("x",), True), (("b",), True), ((), False)]
)
def test_a_wrong_output_is_explained_by_what_was_read_early(names, explained):
    generator = torch.Generator().manual_seed(3)
    true = {name: torch.randn(64, generator=generator) for name in ("x", "b")}
    early = {name: value.clone() for name, value in true.items()}
    for value in early.values():
        value[5] += 1.0

    def expected_of(inputs):
        return {"out": inputs["x"].double() * 2 + inputs["b"].double()}

    values = SimpleNamespace(
        inputs=true, expected=expected_of(true),
        specs={"out": OutputSpec(shape=(64,), stride=(1,), dtype="float32", device="cpu")},
        tolerance=Tolerance(atol=1e-5, rtol=1e-5, source="test"),
    )  # fmt: skip
    read = {name: (early if name in names else true)[name] for name in true}
    out = (expected_of(read) if names else {"out": true["x"] * 3})["out"].float()
    task = SimpleNamespace(expected_of=expected_of)
    assert explains(task, early, values, {"out": out}) is explained


def test_a_reference_that_fails_on_decoys_explains_nothing():
    def fails(_):
        raise RuntimeError("values that this reference cannot take")

    values = SimpleNamespace(inputs={}, expected={}, specs={}, tolerance=None)
    assert not explains(SimpleNamespace(expected_of=fails), {"x": torch.ones(1)}, values, {})

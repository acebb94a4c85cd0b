"""Placeholders: values of the roofline where the wiki has none, marked, and never a spec."""

from __future__ import annotations

import msgspec
import pytest

from kbs.looping.advising import platform_chip
from kbs.looping.describing import describe
from kbs_engine.errors import RefusedError
from kbs_engine.loop.asks import Describe, Described
from kbs_engine.results import Counted, Machine
from kbs_engine.roofline import build_roofline
from kbs_engine.run.records import Placeholder, Settings
from kbs_engine.work import Work

WORK = Work(kernel="softmax", dtype="fp32", bytes_in=4e9, bytes_out=4e9)
GIVEN = Placeholder(metric="memory_bandwidth", value=4.0, unit="TB/s")
UNITS = Placeholder(metric="unit_count", value=100.0)
MARK = "(PLACEHOLDER, given by the user)"


class Lacking:
    """The wiki without one metric of its chips; it knows no chip but the H100."""

    def __init__(self, store, *metrics: str) -> None:
        self.store, self.metrics = store, metrics

    def chip(self, name: str):
        if "H100" not in name:
            raise RefusedError("no such chip", where=name)
        chip = self.store.chip(name)
        kept = tuple(spec for spec in chip.specs if spec.metric not in self.metrics)
        return msgspec.structs.replace(chip, specs=kept)


def described(store, *placeholders: Placeholder, gpu: str = "NVIDIA H100 80GB HBM3") -> Described:
    settings = Settings(
        language="cuda-cpp", dims={"M": 8}, kernel_suffix=".cu", placeholders=placeholders
    )
    machine = Machine(device="cuda", gpu=gpu, arch="sm_90a", counters=True)
    counted = Counted(work=WORK, flops_from="unknown", bytes_from="declared")
    return describe(Describe(settings=settings, machine=machine, counted=counted), store)


def test_a_missing_spec_is_asked_for_and_a_placeholder_is_its_value(store):
    lacking = Lacking(store, "memory_bandwidth")
    asked = described(lacking)
    assert asked.missing == ("memory_bandwidth",)
    assert asked.roofline is not None
    assert asked.roofline.model_ns is None
    told = described(lacking, GIVEN)
    assert told.missing == ()
    assert told.roofline is not None
    (roof,) = told.roofline.roofs
    assert (roof.basis, roof.value) == ("placeholder", 4e12)
    assert roof.time_ns == pytest.approx(2e6)
    assert told.roofline.model_ns == pytest.approx(2e6 + (told.roofline.fixed_ns or 0.0))
    assert MARK in roof.citation
    assert "gpu-wiki" not in roof.citation


def test_it_is_marked_in_flags_and_target_and_stands_under_no_spec(store):
    told = described(Lacking(store, "memory_bandwidth"), GIVEN)
    assert any("placeholder" in note for note in told.notes)
    assert told.target is not None
    assert "placeholders" in told.target.because
    assert MARK in told.target.because
    assert not any("PLACEHOLDER" in line for line in told.specs)
    assert any(line.endswith("UNKNOWN (gpu-wiki not found)") for line in told.specs)


def test_near_peak_says_that_it_rests_on_one(store):
    settings = Settings(
        language="cuda-cpp", dims={}, kernel_suffix=".cu", placeholders=(GIVEN,),
        platform="NVIDIA H100 80GB HBM3",
    )  # fmt: skip
    chip = platform_chip(
        Lacking(store, "memory_bandwidth"), settings, Machine(device="cuda", gpu="")
    )
    line = build_roofline({}, chip=chip, work=WORK, time_ns=2.1e6, time_source="timer")
    assert line.near_peak
    assert line.near_peak_reason.endswith("with a placeholder for memory_bandwidth")
    assert line.gap_memory == pytest.approx(1 - 2 / 2.1)


def test_a_cited_spec_is_never_replaced(store):
    told = described(Lacking(store), Placeholder(metric="memory_bandwidth", value=9.0, unit="TB/s"))
    assert told.roofline is not None
    assert all(roof.basis != "placeholder" for roof in told.roofline.roofs)
    assert any("is not used: the wiki cites it" in note for note in told.notes)


def test_a_chip_that_nobody_knows_is_worked_on_with_placeholders_alone(store):
    asked = described(Lacking(store), gpu="Some GPU")
    assert asked.missing == ("the chip Some GPU", "memory_bandwidth", "unit_count")
    assert described(Lacking(store), GIVEN, gpu="Some GPU").missing == ("unit_count",)
    told = described(Lacking(store), GIVEN, UNITS, gpu="Some GPU")
    assert told.missing == ()
    assert told.chip == ""
    assert told.roofline is not None
    assert told.roofline.model_ns == pytest.approx(2e6)

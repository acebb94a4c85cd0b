"""What a kernel computes is told from what it left unwritten, whatever stood there before."""

from __future__ import annotations

import pytest
import torch

from kbs_backends.device.refusal import Refusal
from kbs_backends.device.task import Values
from kbs_backends.device.verdicts import History, judge
from kbs_backends.tasks import POISONS, OutputSpec, Tolerance, poison

INEXACT = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64]

COMPUTED = {
    "infinity": lambda there: torch.full_like(there, float("inf")),
    "negative infinity": lambda there: torch.full_like(there, -float("inf")),
    "NaN": lambda there: torch.full_like(there, float("nan")),
    "infinity over infinity": lambda there: torch.full_like(there, float("inf")) / float("inf"),
    "ten infinities": lambda there: torch.cat([there.new_full((10,), float("inf")), _ones(there)]),
}


def _ones(there):
    return torch.ones_like(there)[10:]


def told(dtype, pattern, kernel, *, count=256, seed=3, expected=None):
    """The reason for what ``kernel`` makes of an output that held ``pattern``."""
    expected = (torch.ones(count) if expected is None else expected).to(dtype)
    there = {"y": torch.empty(count, dtype=dtype)}
    poison(there, ["y"], pattern, seed)
    spec = OutputSpec(shape=(count,), stride=(1,), dtype=str(dtype)[6:], device="cpu")
    tolerance = Tolerance(atol=1e-3, rtol=1e-3, source="command line")
    values = Values(inputs={}, expected={"y": expected}, specs={"y": spec}, tolerance=tolerance)
    with pytest.raises(Refusal) as refused:
        judge(History(), values, {"y": kernel(there["y"].clone())}, there, timed=False)
    return refused.value.code


@pytest.mark.parametrize("computed", COMPUTED)
@pytest.mark.parametrize("pattern", POISONS)
@pytest.mark.parametrize("dtype", INEXACT, ids=str)
def test_what_overflows_was_written(dtype, pattern, computed):
    assert told(dtype, pattern, COMPUTED[computed]) == "nonfinite"


@pytest.mark.parametrize("pattern", POISONS)
@pytest.mark.parametrize("dtype", INEXACT, ids=str)
@pytest.mark.parametrize("count", [16, 256, 4096])
def test_a_tail_that_keeps_what_stood_there_was_not_written(dtype, pattern, count):
    def first_half(there):
        there[: count // 2] = 1
        return there

    assert told(dtype, pattern, first_half, count=count) == "unwritten_elements"


NARROW = [torch.bool, torch.int8, torch.uint8]


def _largest(there):
    return torch.full_like(there, True if there.dtype == torch.bool else 127)


CONSTANT = {"zeros": torch.zeros_like, "ones": torch.ones_like, "largest": _largest}


@pytest.mark.parametrize("constant", CONSTANT)
@pytest.mark.parametrize("pattern", POISONS)
@pytest.mark.parametrize("count", [1, 2, 8, 64, 4096])
@pytest.mark.parametrize("dtype", [*NARROW, torch.int32], ids=str)
def test_a_constant_of_whole_numbers_or_truths_was_written(dtype, count, pattern, constant):
    for seed in range(20):
        expected = 1 - CONSTANT[constant](torch.zeros(count)).clamp(max=1)
        assert told(dtype, pattern, CONSTANT[constant], count=count, seed=seed,
                    expected=expected) == "wrong_result"  # fmt: skip


@pytest.mark.parametrize("pattern", POISONS)
@pytest.mark.parametrize("dtype", [*INEXACT, *NARROW, torch.int32], ids=str)
@pytest.mark.parametrize("count", [32, 4096])
def test_what_was_not_touched_is_missing(dtype, pattern, count):
    assert told(dtype, pattern, lambda there: there, count=count) == "missing_output"


def test_bf16_added_as_bits_was_written():
    """The sums lie in few bits, so that some would meet a NaN that is always the same."""
    drawn = torch.rand(64) / 2 + 1.5
    bits = drawn.bfloat16().view(torch.int16) * 2
    for seed in range(50):
        assert (
            told(torch.bfloat16, "nan", lambda there: bits.view(there.dtype), count=64, seed=seed)
            == "nonfinite"
        )

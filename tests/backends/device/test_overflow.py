"""What guards against overflow must be there: some inputs are far out."""

from __future__ import annotations

import pytest

from tests.backends.device.conftest import HONEST

NAIVE = """
def run_kernel(x, y, **_):
    grown = torch.exp(x)
    y.copy_(grown / grown.sum())
"""
HALF_GUARDED = """
def run_kernel(x, y, **_):
    grown = torch.exp(x.clamp(max=60.0))
    y.copy_(grown / grown.sum())
"""


@pytest.mark.parametrize("text", [NAIVE, HALF_GUARDED])
def test_a_softmax_that_overflows_or_cuts_is_refused(rig, text):
    found = rig.check(text)
    assert found.reason in ("nonfinite", "wrong_result")
    assert found.rounds[-1].distribution == "spikes"
    assert not found.rounds[-1].ok


def test_one_that_subtracts_the_maximum_passes_there(rig):
    found = rig.check(HONEST)
    assert found.passed
    assert "spikes" in {row.distribution for row in found.rounds}

"""A timing too coarse to tell what a method does is no measurement of nothing."""

from __future__ import annotations

import contextlib
import json

import msgspec
import numpy as np
import pytest

from kbs.looping.driver import Driver
from kbs.looping.home import Went, status_lines
from kbs.looping.progress import Quiet
from kbs.looping.running import Wiring, wired
from kbs.looping.writing import Writer
from kbs_engine.gate import check_version
from kbs_engine.jobs import Time
from kbs_engine.results import Timed
from tests.loop.test_orders import REPORT, Host, started

KERNEL = '''"""One switch, which does nothing."""
SECOND = False  # kbs:method hoist_invariants


def setup(M=8, **_):
    return {"inputs": {"M": M}, "outputs": []}


def run_kernel(**_):
    pass
'''


class Steady(Host):
    """Times of one process and another differ by this share, at random."""

    spread = 0.0

    def _timed(self, job: Time) -> Timed:
        found = super()._timed(job)
        rng = np.random.default_rng(int(job.key[:8], 16))
        arms = []
        for arm in found.arms:
            pace = np.exp(self.spread * rng.standard_normal(max(arm.process) + 1))
            samples = tuple(
                float(value * pace[process])
                for value, process in zip(arm.samples_ns, arm.process, strict=True)
            )
            arms.append(msgspec.structs.replace(arm, samples_ns=samples))
        return msgspec.structs.replace(found, arms=tuple(arms))


class Coarse(Steady):
    """A machine on which nothing can be told."""

    spread = 0.3


@pytest.fixture
def went(tmp_path):
    def go(kind: type[Steady]):
        run = started(tmp_path, kernel=KERNEL, iterations=1, slots=1)
        wiring = Wiring(home=tmp_path / "home", roots=(), remember=True)
        with run, contextlib.closing(kind(run.blobs, REPORT)) as device:
            Driver(run, device, wired(run, run.state().settings, wiring), Writer(run), Quiet()).go()
            assert check_version(run, 1, final=True) == ()
            state = run.state()
        lines = "\n".join(p.read_text() for p in (tmp_path / "home").rglob("*.jsonl"))
        (outcome,) = (json.loads(line)["record"] for line in lines.splitlines() if line)
        return run.root, state, outcome

    return go


def test_what_was_not_told_counts_neither_way(went):
    root, state, outcome = went(Coarse)
    (row,) = json.loads((root / "v1/attribution.json").read_text())["methods"]
    assert row["verdict"] == "ineffective"
    assert row["high"] > 0.1
    assert "no effect beyond the noise threshold of 2 % was shown" in row["because"]
    assert (outcome["verdict"], outcome["notes"]) == ("inseparable", row["because"])
    summary = (root / "summary.md").read_text()
    assert "not told, for no effect was shown and a gain is not ruled out: hoist_inv" in summary
    assert "did nothing measurable" not in summary
    assert "not told: more is not ruled out" in (root / "final_report.md").read_text()
    assert "not told, more is not ruled out" in "\n".join(status_lines(root, Went(state=state)))


def test_what_was_measured_to_do_nothing_counts_against_the_method(went):
    root, state, outcome = went(Steady)
    (row,) = json.loads((root / "v1/attribution.json").read_text())["methods"]
    assert row["verdict"] == "ineffective"
    assert "its effect lies within the noise threshold of 2 %" in row["because"]
    assert outcome["verdict"] == "ineffective"
    assert "notes" not in outcome
    assert "did nothing measurable: hoist_invariants (v1)" in (root / "summary.md").read_text()
    for text in ("\n".join(status_lines(root, Went(state=state))),
                 (root / "final_report.md").read_text()):  # fmt: skip
        assert "not told" not in text

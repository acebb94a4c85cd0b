"""One pass in the place of two: when it is made, and what happens where it cannot be."""

from __future__ import annotations

import os

import pytest

from kbs_backends.device.outside import Outside
from kbs_backends.device.static_jobs import StaticJobs
from kbs_engine.adaptive import FIRST_SECTIONS, ProfilePlan
from kbs_engine.blobs import BlobStore
from kbs_engine.errors import MeasurementError
from kbs_engine.jobs import BaselineRef, ProfileJob, SourceRef, Task, Time
from kbs_engine.results import ArmTimes, Machine, Profiled, Timed, read

NCU = """#!/bin/sh
echo "$*" >> "{said}"
case "$*" in *{bad}*) echo '==ERROR== Failed to find metric {bad}'; exit 1;; esac
while [ "$1" != -o ]; do shift; done
printf report > "$2.ncu-rep"
"""
MACHINE = Machine(device="cuda", gpu="none", arch="sm_90a", counters=True)
SHORT_NS, LONG_NS = 40_000.0, 8e6


def widest(arch):
    return ProfilePlan(number=1, sections=FIRST_SECTIONS, metrics=(f"made_for_{arch}", "more"))


class Bench:
    def __init__(self, folder, blobs):
        self.blobs, self.said = blobs, folder / "said"
        self.task = Task(reference_sha256=blobs.put("import torch\n"), dims={"N": 8})
        self.source = SourceRef(sha256=blobs.put("text"), language="triton", name="k.py")
        static = StaticJobs(blobs, folder / "static")
        self.outside = Outside(blobs, static, folder / "outside", "cuda", 0)
        self.outside._wide = None

    def timed(self, ns, *, task=None):
        job = Time(arms=(BaselineRef(name="eager"), self.source), task=task or self.task)
        arms = [ArmTimes(name=name, samples_ns=(value,) * 3, process=(0,) * 3, position=(0, 1, 2))
                for name, value in (("eager", SHORT_NS), ("k.py", ns))]  # fmt: skip
        self.outside.saw(job, Timed(arms=tuple(arms), timer="cuda_event"))

    def profile(self, **asked):
        job = ProfileJob(source=self.source, task=self.task, **asked)
        return read(self.outside.run(job, MACHINE), Profiled)

    def runs(self):
        return self.said.read_text().splitlines()


@pytest.fixture
def make(tmp_path, monkeypatch):
    def made(*, bad="none-such", widest=widest):
        programs = tmp_path / "bin"
        programs.mkdir()
        (programs / "ncu").write_text(NCU.format(said=tmp_path / "said", bad=bad))
        (programs / "ncu").chmod(0o755)
        monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setattr("kbs_backends.device.ahead.MIN_CORES", 1 << 20)
        bench = Bench(tmp_path, BlobStore(tmp_path / "blobs"))
        bench.outside.expect_many(widest)
        return bench

    return made


def test_the_first_pass_of_a_short_kernel_is_wide_and_says_so(make):
    bench = make()
    bench.timed(SHORT_NS)
    answer = bench.profile()
    assert (answer.sections, answer.metrics) == (FIRST_SECTIONS, ("made_for_90", "more"))
    assert bench.blobs.get(answer.report_sha256) == b"report"
    (run,) = bench.runs()
    assert "--metrics made_for_90,more" in run


@pytest.mark.parametrize("why", ["long", "not timed", "of another task", "no knowledge"])
def test_else_the_first_pass_stays_narrow(make, why):
    bench = make(widest=None if why == "no knowledge" else widest)
    if why == "of another task":
        bench.timed(SHORT_NS, task=Task(reference_sha256="0" * 64, dims={"N": 8}))
    elif why != "not timed":
        bench.timed(LONG_NS if why == "long" else SHORT_NS)
    answer = bench.profile()
    assert (answer.sections, answer.metrics) == (FIRST_SECTIONS, ())
    assert "--metrics" not in bench.runs()[0]


def test_a_pass_that_names_what_it_wants_gets_just_that(make):
    bench = make()
    bench.timed(SHORT_NS)
    answer = bench.profile(metrics=("one",))
    assert (answer.sections, answer.metrics) == ((), ("one",))


def test_a_metric_that_this_ncu_does_not_know_costs_one_try(make):
    bench = make(bad="made_for_90")
    bench.timed(SHORT_NS)
    for _ in range(2):
        answer = bench.profile()
        assert (answer.sections, answer.metrics) == (FIRST_SECTIONS, ())
        assert bench.blobs.get(answer.report_sha256) == b"report"
    assert ["made_for" in run for run in bench.runs()] == [True, False, False]


def test_a_failure_of_both_is_told(make):
    bench = make(bad="SpeedOfLight")
    bench.timed(SHORT_NS)
    with pytest.raises(MeasurementError, match="SpeedOfLight"):
        bench.profile()
    assert len(bench.runs()) == 2


def test_a_slow_wide_pass_is_not_made_twice(make, monkeypatch):
    bench = make()
    bench.timed(SHORT_NS)
    monkeypatch.setattr("kbs_backends.device.wide_pass.SLOW_S", 0.0)
    assert [bool(bench.profile().metrics) for _ in range(2)] == [True, False]

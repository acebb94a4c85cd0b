"""kbs profile: without counters from outside, with a real H100 report behind the device port."""

from __future__ import annotations

import json
from concurrent.futures import Future

import msgspec
import pytest

from kbs.commands.profile import write_files
from kbs.measuring.devices import Measuring
from kbs.measuring.profiling import profile_kernel
from kbs.measuring.subject import Subject
from kbs_engine.blobs import BlobStore
from kbs_engine.jobs import Count, ProfileJob, Result, SourceRef, Task
from kbs_engine.passes import merge_passes
from kbs_engine.profiles import Profile
from tests.conftest import REPORT

REFERENCE = """
import torch
def setup(M=8, N=40, **dims):
    return {"inputs": {"x": torch.randn(M, N), "y": torch.empty(M, N)}, "outputs": ["y"]}
def reference(x, y, **kwargs):
    y.copy_(torch.softmax(x, -1))
"""
KERNEL = """
import torch
def run_kernel(x, y, **kwargs):
    y.copy_(torch.softmax(x, -1))
"""


class Reported:
    """A device whose every profile is the shipped H100 report."""

    def __init__(self, blobs):
        self.blobs, self.jobs = blobs, []

    def submit(self, job):
        self.jobs.append(job)
        future = Future()
        if isinstance(job, Count):
            answer = Result(job_key=job.key, kind="count", failure="the reference is elsewhere")
        else:
            value = {
                "mode": "ncu",
                "report_sha256": self.blobs.put(REPORT.read_bytes()),
                "report_name": "profile.ncu-rep",
            }
            answer = Result(job_key=job.key, kind="profile", value=value)
        future.set_result(answer)
        return future


@pytest.fixture
def bench(tmp_path):
    blobs = BlobStore(tmp_path / "blobs")
    return Measuring(device=Reported(blobs), blobs=blobs)


@pytest.fixture
def subject(bench):
    return Subject(
        source=SourceRef(sha256=bench.blobs.put(KERNEL), language="triton", name="k.py"),
        task=Task(reference_sha256=bench.blobs.put(REFERENCE), dims={"M": 8}),
    )


def test_one_pass_holds_every_section_that_a_rule_needs(bench, subject, store):
    found = profile_kernel(bench, subject, store, adaptive=False)
    jobs = [job for job in bench.device.jobs if isinstance(job, ProfileJob)]
    assert len(jobs) == 1
    assert "SourceCounters" in jobs[0].sections
    assert len(found.profiles) == 5
    assert found.why_not == ""
    assert found.notes == ("work not counted: the reference is elsewhere",)


CHEAP = (
    "duration_ns", "grid_size", "block_size", "compute_pct", "memory_pct", "dram_pct", "l2_pct",
    "l1_pct", "sm_count", "sm_clock_hz", "registers_per_thread", "theoretical_occupancy_pct",
    "achieved_occupancy_pct", "waves_per_sm",
)  # fmt: skip


def test_a_report_that_says_everything_needs_no_second_pass(bench, subject, store):
    found = profile_kernel(bench, subject, store, adaptive=True)
    assert "WarpStateStats" not in found.plans[0].sections
    assert found.plans[1].empty
    assert len([job for job in bench.device.jobs if isinstance(job, ProfileJob)]) == 1


def test_the_second_pass_asks_single_metrics_with_reasons(bench, subject, store, monkeypatch):
    whole = profile_kernel(bench, subject, store, adaptive=False).profiles
    cheap = tuple(
        msgspec.structs.replace(
            one, metrics={name: one.metrics[name] for name in CHEAP if name in one.metrics}
        )
        for one in whole
    )
    answers = iter([cheap, whole])
    monkeypatch.setattr("kbs.measuring.profiling.read_profiles", lambda *_: next(answers))
    found = profile_kernel(bench, subject, store, adaptive=True)
    second = found.plans[1]
    assert second.metrics
    assert "WarpStateStats" not in second.sections, "the chip is known: single metrics do"
    assert any("rival" in reason or "explain" in reason for reason in second.reasons)
    assert found.profiles[0].metrics == whole[0].metrics
    jobs = [job for job in bench.device.jobs if isinstance(job, ProfileJob)]
    assert jobs[-1].metrics == second.metrics


def test_the_files_speak_of_the_kernels(bench, subject, store, tmp_path):
    found = profile_kernel(bench, subject, store, adaptive=False)
    files = write_files(tmp_path / "out", subject.source, found, bench.blobs, ncu_num=3)
    names = {path.name for path in files}
    assert names == {"ncu_summary.md", "ncu_details.md", "ncu_top.json", "pass1.ncu-rep"}
    assert "t03_layernorm" in (tmp_path / "out/ncu_summary.md").read_text()
    top = json.loads((tmp_path / "out/ncu_top.json").read_text())
    assert all(len(rows) <= 3 for rows in top["axes"].values())
    assert (tmp_path / "out/pass1.ncu-rep").read_bytes() == REPORT.read_bytes()


@pytest.mark.sweep
def test_a_kernel_that_no_call_of_was_made_is_told_so(kbs, tmp_path):
    """Whether it would run at all is no question of a profile without counters."""
    (tmp_path / "ends.py").write_text(KERNEL + "    import os\n    os._exit(3)\n")
    (tmp_path / "ref.py").write_text(REFERENCE)
    ran = kbs(
        "profile", tmp_path / "ends.py", "--ref", tmp_path / "ref.py", "--language", "triton",
        "--device", "host", "--output-dir", tmp_path / "out",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert "no call of the kernel was made" in ran.out
    assert "# Profile of ends.py" in (tmp_path / "out/ncu_summary.md").read_text()


def test_without_counters_it_says_so_and_claims_nothing(kbs, tmp_path):
    (tmp_path / "ref.py").write_text(REFERENCE)
    (tmp_path / "k.py").write_text("import triton\n" + KERNEL)
    ran = kbs(
        "profile", str(tmp_path / "k.py"), "--ref", str(tmp_path / "ref.py"), "--device", "host",
        "--output-dir", str(tmp_path / "out"), "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert ran.json["mode"] == "counter-free"
    assert ran.json["kernels"] == []
    assert "reads no hardware counters" in (tmp_path / "out/ncu_summary.md").read_text()


def profile(name="k", time=100.0, **metrics):
    return Profile(name=name, launch=0, metrics={"duration_ns": time, **metrics})


def test_passes_complete_each_other_and_keep_the_first_values():
    merged = merge_passes(
        [profile(dram_pct=80.0)], [profile(time=101.0, dram_pct=70.0, l2_pct=5.0)]
    )
    assert merged[0].metrics == {"duration_ns": 100.0, "dram_pct": 80.0, "l2_pct": 5.0}
    assert merged[0].flags == ()


def test_passes_in_different_states_are_doubted():
    merged = merge_passes([profile()], [profile(time=150.0)])
    assert "different states" in merged[0].flags[0]


def test_launches_are_paired_by_name_and_a_lost_one_is_told():
    merged = merge_passes([profile("a"), profile("b")], [profile("b", stall_barrier=1.0)])
    assert "did not see" in merged[0].flags[0]
    assert merged[1].metrics["stall_barrier"] == 1.0

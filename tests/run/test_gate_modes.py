"""The gate in its modes: order of versions, one change, failed versions, no counters, budgets."""

from __future__ import annotations

import json
import shutil

import msgspec
import pytest

from kbs_engine.errors import InputError, RefusedError
from kbs_engine.gate import Inspectors, check_version, pass_version
from kbs_engine.jobs import Check
from kbs_engine.run.benches import build_bench
from kbs_engine.run.files import sha256_of
from kbs_engine.run.markdown import evidence_text, hypothesis_text
from kbs_engine.run.memories import Memory
from kbs_engine.run.records import (
    Correctness,
    MemoryRecord,
    ShortHypothesis,
    VersionEntry,
    with_version,
)
from tests.run import answers, judgements, texts


def reasons(found, rule):
    return [row.message for row in found if row.rule == rule]


def test_versions_pass_in_order_and_only_the_gate_opens_the_next(build):
    builder = build()
    run = builder.run
    with pytest.raises(InputError, match="no v1 stands"):
        check_version(run, 1)
    with pytest.raises(RefusedError, match="v1 is not open"):
        run.open_version(1)
    builder.version(0)
    assert run.current() is None
    builder.passed(0)
    assert run.current() == 1
    assert run.paths.current.read_text() == "v1\n"
    assert run.open_version(1).root.is_dir()
    assert pass_version(run, 0) == (), "a gate that was killed half-way is finished"
    (run.version(1).root / "kernel.py").write_text("x = 1\n")
    found = check_version(run, 0)
    assert reasons(found, "current_version") == ["names v1, not v0"]
    assert reasons(found, "later_version")


def test_the_first_gate_is_that_of_v0(build):
    builder = build()
    builder.version(0)
    builder.version(1)
    found = check_version(builder.run, 1)
    assert reasons(found, "current_version") == ["the first gate of a run is v0's, not v1's"]
    assert reasons(check_version(builder.run, 0), "later_version")


def test_a_refused_version_opens_nothing(build):
    builder = build()
    builder.version(0)
    builder.run.paths.readme.unlink()
    before = [event.kind for event in builder.run.journal.events]
    assert reasons(pass_version(builder.run, 0), "artifacts") == ["is missing"]
    assert builder.run.current() is None
    assert not builder.run.version(1).root.exists()
    assert [event.kind for event in builder.run.journal.events] == before


def test_a_kill_between_the_pointer_and_the_folder_is_finished(build):
    builder = build()
    builder.version(0)
    builder.passed(0)
    builder.run.version(1).root.rmdir()
    assert pass_version(builder.run, 0) == ()
    assert builder.run.version(1).root.is_dir()


def test_a_gain_that_only_the_device_clock_saw_is_refused(build, monkeypatch):
    builder = build()
    builder.version(0)
    builder.passed(0)
    liar = texts.kernel(vector=True, block=256)
    monkeypatch.setitem(answers.HIDDEN, sha256_of(liar), 33_000.0)
    builder.version(1)
    (told,) = reasons(check_version(builder.run, 1), "claims")
    assert told.startswith("clock_mismatch: against")
    assert "the host saw at most" in told


def test_one_change_mode(build):
    builder = build(slots=1)
    builder.version(0)
    builder.passed(0)
    builder.version(1, methods=("vectorized_access", "shared_tiling"))
    found = reasons(check_version(builder.run, 1), "one_change")
    assert found == ["holds 2 methods (vectorized_access, shared_tiling)"]


def test_one_change_mode_reads_the_switches_of_the_source(build):
    builder = build(slots=1)
    builder.version(0)
    builder.passed(0)
    builder.version(1)
    assert check_version(builder.run, 1) == ()
    kernel = builder.run.kernel_path(1)
    inspectors = Inspectors(
        switches=lambda path: {"a": path == kernel, "b": path == kernel, "c": True}
    )
    found = reasons(check_version(builder.run, 1, inspectors=inspectors), "one_change")
    assert found == ["switches 2 methods at once (a, b)"]


def test_the_short_hypothesis_is_for_one_change_alone(build):
    short = ShortHypothesis(hypothesis="wide loads", rationale="fewer", expected="faster")
    for slots, refused in ((1, False), (3, True)):
        builder = build(slots=slots)
        builder.version(0)
        builder.run.write_text(builder.paths(0).hypothesis, hypothesis_text(short))
        assert bool(reasons(check_version(builder.run, 0), "hypothesis")) == refused
        builder.close()
        shutil.rmtree(builder.run.root)


def test_a_decision_before_its_evidence_is_out_of_order(build):
    builder = build()
    builder.version(0)
    note = msgspec.structs.replace(texts.evidence(0), rejected=("found later",))
    builder.run.write_text(builder.paths(0).evidence, evidence_text(note))
    found = reasons(check_version(builder.run, 0), "order")
    assert found == ["was written before kbs_evidence.md, on which it should rest"] * 2


def test_gpu_seconds_are_counted_from_the_journal(build):
    builder = build(gpu_seconds=0.6)
    builder.version(0)
    assert reasons(check_version(builder.run, 0), "gpu_budget") == [], "v0 is spent in any case"
    builder.run.journal.append("version_opened", version=1)
    found = reasons(check_version(builder.run, 0), "gpu_budget")
    assert found == ["0.7 s of GPU time were spent; the budget is 0.6 s"]


def test_a_run_without_counters_has_no_report_and_says_so(build):
    builder = build(mode="counter-free")
    builder.version(0)
    assert check_version(builder.run, 0) == ()
    assert "reads no hardware counters" in builder.paths(0).ncu_summary.read_text()
    assert not builder.paths(0).profile.exists()


def test_a_run_with_counters_must_have_the_report(build):
    builder = build()
    builder.version(0)
    builder.paths(0).profile.unlink()
    found = reasons(check_version(builder.run, 0), "artifacts")
    assert found == ["is missing in a run that reads counters"]


def failed(builder, tries):
    """v1 of which every branch is wrong, recorded as failed."""
    run, paths = builder.run, builder.paths(1)
    text = texts.kernel(vector=True, factor=3)
    job = Check(source=builder.ref(text), task=builder.task, rounds=10)
    bench = build_bench(
        version=1, name="b0", source_sha256=sha256_of(text),
        checks=(builder.done(job, answers.checked, passed=False),), noise=0.02,
    )  # fmt: skip
    run.write_text(paths.branch(0).kernel(".py"), text)
    run.write(paths.branch(0).bench, bench)
    run.write(paths.methods, judgements.methods_file(builder, 1, ("vectorized_access",)))
    builder.sources[1] = builder.sources[0]
    run.write_text(paths.analysis, "# Analysis of v1\n\nNo branch was correct.\n")
    builder.notes(1)
    Memory(run.paths.memory).create(MemoryRecord(version=1, correctness=Correctness(status="FAIL")))
    entry = VersionEntry(version=1, base_version=0, status="failed", tries=tries)
    run.save_state(with_version(run.state(), entry))


def test_a_version_of_wrong_branches_passes_as_failed(build):
    builder = build()
    builder.version(0)
    builder.passed(0)
    failed(builder, tries=4)
    builder.passed(1)
    assert builder.run.current() == 2


def test_a_failed_version_was_not_tried_more_often_than_allowed(build):
    builder = build(retries=1)
    builder.version(0)
    builder.passed(0)
    failed(builder, tries=4)
    found = reasons(check_version(builder.run, 1), "failed_version")
    assert found == ["v1 was tried 4 times; 2 are allowed"]


def test_a_new_epoch_holds_later_jobs_to_its_own_settings(build):
    builder = build()
    builder.version(0)
    state = builder.run.state()
    settings = msgspec.structs.replace(state.settings, rtol=0.1)
    builder.run.save_state(msgspec.structs.replace(state, settings=settings, epoch=1))
    found = reasons(check_version(builder.run, 0), "fixed_settings")
    assert found == ["the whole epoch of epoch 1 is not what the journal recorded"]
    builder.run.begin_epoch(1, settings, reason="looser")
    assert check_version(builder.run, 0) == ()


def test_answers_of_another_run_do_not_count(build):
    builder = build()
    builder.version(0)
    path = builder.paths(0).bench
    mine = json.loads(path.read_text())
    mine["blocks"][0] = {**mine["blocks"][0], "job_key": "0" * 64}
    path.write_text(json.dumps(mine))
    found = reasons(check_version(builder.run, 0), "raw_samples")
    assert any("never finished in this run" in message for message in found)

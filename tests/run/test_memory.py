"""Memory: masks keep records out, never away; bad input changes nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbs_engine.errors import InputError, KbsError, RefusedError, UsageError
from kbs_engine.run.memories import Memory, parse_setting
from kbs_engine.run.records import Experience, Experiment, MemoryRecord, Performance

VERSIONS = st.sets(st.integers(0, 30), min_size=1, max_size=8)


def filled(folder, versions):
    memory = Memory(folder)
    memory.init()
    for number in versions:
        memory.create(MemoryRecord(version=number, performance=Performance(latency_us=number)))
    return memory


@settings(deadline=None, max_examples=15)
@given(VERSIONS, st.data())
def test_masked_records_are_never_visible_and_unmasking_gives_them_back(
    tmp_path_factory, versions, data
):
    memory = filled(tmp_path_factory.mktemp("m"), versions)
    before = {n: memory.load(n) for n in versions}
    hidden = data.draw(st.sets(st.sampled_from(sorted(versions))))
    assert set(memory.set_mask(hidden, masked=True)) == hidden
    assert memory.set_mask(hidden, masked=True) == ()
    assert {row.version for row in memory.visible()} == versions - hidden
    for number in hidden:
        with pytest.raises(RefusedError, match="masked"):
            memory.read(number)
    if versions - hidden:
        assert memory.latest().version == max(versions - hidden)
    memory.set_mask(hidden, masked=False)
    assert {n: memory.load(n) for n in versions} == before


@settings(deadline=None, max_examples=15)
@given(VERSIONS, st.integers(0, 30))
def test_a_partial_restart_takes_about_half_and_never_v0_nor_the_best(
    tmp_path_factory, versions, best
):
    memory = filled(tmp_path_factory.mktemp("m"), versions)
    chosen = memory.middle_half(best)
    free = versions - {0, best}
    assert set(chosen) <= free
    assert abs(len(chosen) - len(free) / 2) <= 0.5


def test_a_mask_of_a_missing_record_masks_none(tmp_path):
    memory = filled(tmp_path / "memory", {1, 2})
    with pytest.raises(InputError, match="no record of v9"):
        memory.set_mask([1, 9], masked=True)
    assert len(memory.visible()) == 2


def test_records_are_never_overwritten(tmp_path):
    memory = filled(tmp_path / "memory", {1})
    with pytest.raises(RefusedError, match="stands already"):
        memory.create(MemoryRecord(version=1))


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("performance.latency=3", "no field 'performance.latency'"),
        ("performance.latency_us=fast", "does not fit"),
        ("masked=true", "not set by hand"),
        ("version=3", "not set by hand"),
        ("open_directions=[1,2,3,4]", "does not fit"),
        ('open_directions=["a","b","c","d"]', "keep the best 3"),
        ("nothing", "sets nothing"),
    ],
)
def test_a_setting_that_does_not_fit_changes_nothing(tmp_path, setting, words):
    memory = filled(tmp_path / "memory", {1})
    before = memory.path(1).read_bytes()
    with pytest.raises(UsageError, match=words):
        memory.update(1, dict([parse_setting(setting)]))
    assert memory.path(1).read_bytes() == before


def test_fields_are_set_by_path(tmp_path):
    memory = filled(tmp_path / "memory", {1})
    record = memory.update(
        1,
        dict(
            parse_setting(text)
            for text in (
                "performance.latency_us=41.5",
                "performance.latency_us_by_shape.m8=3",
                "correctness.status=PASS",
                'experience.experiments.0={"method":"tiling","verdict":"effective"}',
                "optimization.action_description=tiles of 64 x 64",
            )
        ),
    )
    assert record.performance.latency_us == 41.5
    assert record.performance.latency_us_by_shape == {"m8": 3.0}
    assert record.experience == Experience(
        experiments=(Experiment(method="tiling", verdict="effective"),)
    )
    assert memory.load(1) == record


def test_a_record_of_an_older_workspace_is_read(tmp_path):
    memory = Memory(tmp_path / "memory")
    memory.init()
    older = {
        "version": 2,
        "masked": False,
        "performance": {"latency_us": 12.0, "tflops": None},
        "correctness": {"rel_err": 1e-5, "status": "passed"},
        "quality_gate": {"result": "pass", "failure_reason": ""},
        "pitfalls_and_fixes": ["L2 size: UNKNOWN (gpu-wiki not found)"],
        "experience": {"experiments": ["double buffering"]},
        "isa_metric_progress": None,
        "stranger": 1,
    }
    memory.path(2).write_text(json.dumps(older))
    record = memory.read(2)
    assert record.correctness.status == "PASS"
    assert record.quality_gate.result == "PASS"
    assert record.pitfalls_and_fixes[0].problem.startswith("L2 size: UNKNOWN")
    assert record.experience.experiments[0].change == "double buffering"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": -1}', '{"version": "x"}', "\x00"])
def test_a_damaged_record_is_an_error_with_its_place(tmp_path, text):
    memory = filled(tmp_path / "memory", {1})
    memory.path(1).write_text(text)
    with pytest.raises(KbsError) as caught:
        memory.load(1)
    assert "v1.json" in caught.value.where


def test_the_commands(kbs, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    assert kbs("memory", "init", run).code == 0
    assert kbs("memory", "create", run, "v0", "--set", "performance.latency_us=3").code == 0
    assert kbs("memory", "create", run, "1").code == 0
    assert kbs("memory", "mask", run, "1").out.strip() == "masked: v1"
    refused = kbs("memory", "read", run, "1", "--json")
    assert refused.code == 1
    assert "masked" in refused.error["message"]
    assert kbs("memory", "read", run, "1", "--masked").json["masked"] is True
    assert kbs("memory", "latest", run).json["version"] == 0
    assert kbs("--json", "memory", "list", run).json == {
        "records": [{"version": 0, "masked": False}]
    }
    assert "3 µs" in kbs("memory", "summary", run).out


def test_a_record_that_does_not_fit_is_not_created(kbs, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    for setting in ("performance.latency_us=abc", "nosuch=1", "version=4", "a"):
        assert kbs("memory", "create", run, "v7", "--set", setting).code == 2
    strange = tmp_path / "strange.py"
    strange.write_text("x = 1\n")
    told = kbs("memory", "create", run, "v7", "--from", strange)
    assert told.code == 2
    assert "name a memory record" in told.err
    assert not (run / "memory" / "v7.json").exists()

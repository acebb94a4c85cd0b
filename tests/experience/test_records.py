"""Ids, lines, and what is refused."""

from __future__ import annotations

import hashlib
import json
import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbs_engine.experience import Mask, Unmask, entry_of, read_line, record_id, write_line
from kbs_engine.outcomes import Outcome, dims_class
from tests.experience.records import outcome, outcomes, replication


@given(outcomes, st.sampled_from(["a", "b"]))
def test_a_line_gives_back_its_entry(record, origin):
    entry = entry_of(record, origin)
    assert read_line(write_line(entry)) == entry
    assert entry.id == record_id(entry.record)


@given(outcomes)
def test_the_origin_is_no_part_of_the_id(record):
    assert entry_of(record, "a").id == entry_of(record, "b").id


def test_two_equal_measurements_are_two_records():
    one, two = (entry_of(outcome(measurement=""), "a") for _ in range(2))
    assert one.id != two.id
    assert msgspec.structs.replace(one.record, measurement="") == msgspec.structs.replace(
        two.record, measurement=""
    )


def test_a_record_without_a_machine_counts_for_its_origin_wherever_it_goes():
    entry = entry_of(outcome(machine=""), "team")
    assert entry.record.machine == "team"


def test_a_record_altered_after_it_was_written_is_refused():
    line = write_line(entry_of(outcome(gain=0.25), "a"))
    with pytest.raises(ValueError, match="altered"):
        read_line(line.replace(b'"gain":0.25', b'"gain":0.95'))


def test_spaces_and_order_do_not_matter():
    entry = entry_of(outcome(), "a")
    value = json.loads(write_line(entry))
    value["record"] = dict(reversed(value["record"].items()))
    assert read_line(json.dumps(value, indent=1).encode()) == entry


def test_a_field_that_this_kbs_does_not_know_yet_is_read_over():
    entry = entry_of(outcome(), "a")
    value = json.loads(write_line(entry))
    value["record"]["colour"] = "red"
    raw = json.dumps(value["record"], separators=(",", ":")).encode()
    value["id"] = hashlib.sha256(raw).hexdigest()
    line = json.dumps(value, separators=(",", ":")).encode()
    assert read_line(line).record == entry.record
    assert read_line(line).id == value["id"]


def test_a_record_of_a_newer_kbs_says_so():
    for body in ({"kind": "outcome", "schema_version": 99}, {"kind": "new", "schema_version": 99}):
        line = json.dumps({"id": "0" * 64, "origin": "a", "record": body}).encode()
        with pytest.raises(ValueError, match=r"newer kbs .schema 99"):
            read_line(line)


def test_a_record_written_by_hand_is_given_its_id():
    body = msgspec.to_builtins(outcome())
    assert read_line(json.dumps(body).encode()).id == record_id(outcome())


@pytest.mark.parametrize(
    "changes",
    [{"correct": False}, {"integrity": False}, {"gain": 1.0}, {"gain": math.nan},
     {"before_ns": 0.0}, {"after_ns": -3.0}, {"after_ns": math.inf}],
)  # fmt: skip
def test_impossible_outcomes_cannot_be_built(changes):
    with pytest.raises(ValueError, match=r"claims success|no time|share of time"):
        outcome(**changes)


def test_numbers_that_json_cannot_hold_are_refused():
    for name in ("metrics_before", "metrics_after"):
        with pytest.raises(ValueError, match=r"finite|Expected"):
            entry_of(outcome(**{name: {"dram_pct": math.nan}}), "a")


def test_verdicts_are_part_of_every_new_outcome():
    fields = {"method": "m", "verdict": "ineffective", "kernel": "gemm", "language": "triton",
              "chip": "c", "arch": "a"}  # fmt: skip
    with pytest.raises(msgspec.ValidationError, match="correct"):
        msgspec.convert(fields, Outcome)


def test_masks_and_replications_say_what_they_speak_of():
    with pytest.raises(ValueError, match="names at least one record and a reason"):
        Mask(targets=("a",), reason=" ")
    with pytest.raises(ValueError, match="names at least one mask"):
        Unmask(masks=())
    with pytest.raises(ValueError, match="without passed verdicts"):
        replication("a", correct=False)


def test_dims_are_classed_by_powers_of_two():
    assert dims_class({"N": 4000, "M": 64, "causal": True}) == "M=64,N=4096,causal=True"
    assert dims_class({}) == ""

"""What others' masks take out is told, and a mask of what is no id is no record."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from kbs_engine.experience import Mask, Unmask, entry_of, record_id
from kbs_engine.experience.merging import log_of, union
from kbs_ingest.experience import Lore, merge
from kbs_ingest.experience.exchange import sync
from kbs_ingest.experience.maskings import maskings
from kbs_ingest.experience.view import Mark, hidden_by
from tests.experience.records import entries, logs, outcome
from tests.experience.test_merge_laws import _write

ONE, TWO, LOST = (outcome(measurement=name) for name in ("one", "two", "lost"))
HIDES = Mask(targets=(record_id(ONE), record_id(LOST)), reason="a test", measurement="m")


@pytest.fixture
def ours(tmp_path):
    _write(tmp_path / "mine.jsonl", entries(ONE, TWO, origin="me"))
    merge(tmp_path / "home", [tmp_path / "mine.jsonl"], lore=Lore(), origin="me")
    return tmp_path / "home"


def brought(ours, path, *records, origin="them"):
    _write(path, entries(*records, origin=origin))
    return merge(ours, [path], lore=Lore(), origin="me")


def test_a_merge_tells_whose_mask_takes_out_what(ours, tmp_path):
    (told,) = brought(ours, tmp_path / "theirs.jsonl", HIDES).masks
    assert (told.kind, told.origin, told.reason) == ("mask", "them", "a test")
    assert (told.takes_out, told.absent) == ((record_id(ONE),), 1)
    assert brought(ours, tmp_path / "theirs.jsonl", HIDES).masks == ()
    again = Mask(targets=(record_id(ONE),), reason="again", measurement="n")
    (told,) = brought(ours, tmp_path / "again.jsonl", again).masks
    assert told.takes_out == ()
    both = Unmask(masks=tuple(entry_of(mask, "").id for mask in (HIDES, again)))
    (told,) = brought(ours, tmp_path / "undo.jsonl", both).masks
    assert (told.kind, told.shows) == ("unmask", (record_id(ONE),))


def test_a_cancelled_mask_takes_nothing_out(ours, tmp_path):
    undo = Unmask(masks=(entry_of(HIDES, "").id,))
    found = brought(ours, tmp_path / "theirs.jsonl", HIDES, undo).masks
    assert [(mask.takes_out, mask.shows) for mask in found] == [((), ()), ((), ())]


def test_text_and_json_tell_it(kbs_here, ours, tmp_path):
    line = {"kind": "mask", "targets": [record_id(ONE)], "reason": "x"}
    path = tmp_path / "bare.jsonl"
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    told = kbs_here("experience", "merge", path, "--origin", "stranger", at=ours).out
    assert "1 mask came in, taking out 1 record of this log" in told
    assert f"of stranger takes out {record_id(ONE)[:12]}: x" in told
    assert "unmask ID" in told
    other = tmp_path / "other"
    _write(tmp_path / "mine.jsonl", entries(ONE, origin="me"))
    kbs_here("experience", "merge", tmp_path / "mine.jsonl", at=other)
    found = kbs_here("--json", "experience", "merge", path, at=other).json["masks"]
    assert [mask["takes_out"] for mask in found] == [[record_id(ONE)]]


@pytest.mark.parametrize("kind", ["mask", "unmask"])
@pytest.mark.parametrize("name", ["zzz", "", "A" * 64, "0" * 63, f"{'0' * 64}\n", "ｆ" * 64])
def test_a_target_that_is_no_id_rejects_its_line(ours, tmp_path, kind, name):
    key = "targets" if kind == "mask" else "masks"
    line = {"kind": kind, key: [record_id(ONE), name], "reason": "x"}
    path = tmp_path / "bare.jsonl"
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    report = merge(ours, [path], lore=Lore(), origin="me")
    assert (report.added, report.masks) == (0, ())
    assert "is no id of a record" in report.rejected[0].reason


def test_an_exchange_tells_it_too(ours, tmp_path):
    theirs = tmp_path / "team"
    brought(theirs, tmp_path / "theirs.jsonl", HIDES)
    (told,) = sync(ours, str(theirs)).masks
    assert (told.origin, told.takes_out) == ("them", (record_id(ONE),))
    assert sync(ours, str(theirs)).masks == ()


def marks(log):
    return {
        id_: Mark(id_, entry.origin, "s", 1, entry.record)
        for id_, entry in log.items()
        if isinstance(entry.record, (Mask, Unmask))
    }


@given(logs(), logs())
def test_what_is_told_is_what_changes(mine, theirs):
    mine, both = log_of(mine), union(log_of(mine), log_of(theirs))
    old, new = marks(mine), marks(both)
    told = maskings(old, new, both.__contains__)
    gone, was_gone = hidden_by(new) & both.keys(), hidden_by(old) & both.keys()
    assert {mask.id for mask in told} == new.keys() - old.keys()
    assert {name for mask in told for name in mask.takes_out} == gone - was_gone
    assert {name for mask in told for name in mask.shows} == was_gone - gone

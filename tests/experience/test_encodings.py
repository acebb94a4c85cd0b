"""Logs as editors of other systems write them: with a byte order mark, or in UTF-16."""

from __future__ import annotations

import json

import pytest

from kbs_engine.experience import write_line
from kbs_ingest.experience import Lore, merge
from kbs_ingest.experience.places import experience_folder
from kbs_ingest.experience.query import Reading
from kbs_ingest.store import open_store
from tests.experience.records import entries, outcome
from tests.experience.test_legacy import ENTRY

ENCODINGS = ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
RECORDS = [outcome(measurement=str(i), notes="µs") for i in range(3)]
SEGMENT = "".join(write_line(entry).decode() for entry in entries(*RECORDS))


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("text", [SEGMENT, json.dumps([ENTRY, {**ENTRY, "speedup": 2.5}, {
    **ENTRY, "kernel": "gemm"}])], ids=["segment", "array"])  # fmt: skip
def test_a_merge_reads_every_record(tmp_path, encoding, text):
    path = tmp_path / "log.jsonl"
    path.write_bytes(text.encode(encoding))
    report = merge(tmp_path / "home", [path], lore=Lore(), origin="a")
    assert (report.added, report.rejected) == (3, ())
    again = merge(tmp_path / "home", [path], lore=Lore(), origin="a")
    assert (again.added, again.duplicates) == (0, 3)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_segment_that_was_put_into_a_home_is_read_whole(indexed, reindex, kbs_here, encoding):
    folder = experience_folder(indexed) / "team"
    folder.mkdir(parents=True)
    (folder / "edited.jsonl").write_bytes(SEGMENT.encode(encoding))
    assert len(list(Reading(indexed, Lore()).rows())) == 3
    for _ in range(2):
        with open_store(indexed) as store:
            assert {found.measurement for found in store.outcomes()} == {"0", "1", "2"}
        summary = reindex(indexed)
        assert summary.counts["outcomes"] == 3
        assert not summary.bad_lines
    out = indexed / "out.jsonl"
    assert kbs_here("experience", "export", out, at=indexed).code == 0
    assert len(out.read_bytes().splitlines()) == 3


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_record_is_added_from_such_a_file(tmp_path, kbs_here, encoding):
    path = tmp_path / "r.json"
    record = {"method": "split_k", "verdict": "ineffective", "kernel": "gemm", "chip": "h100_sxm",
              "language": "triton", "arch": "sm_90a", "correct": True, "integrity": True,
              }  # fmt: skip
    path.write_bytes(json.dumps(record).encode(encoding))
    ran = kbs_here("experience", "add", path, "--json", at=tmp_path / "home")
    assert len(ran.json["added"]) == 1

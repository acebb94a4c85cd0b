"""What was put into a line, stands twice, or is of a later kbs: refused, or kept and told."""

from __future__ import annotations

import hashlib
import json

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from kbs.cli import cli
from kbs_engine.errors import InputError
from kbs_engine.experience import entry_of, read_line, write_line
from kbs_engine.experience.keys import refuse_repeated
from kbs_engine.experience.records import unread
from kbs_ingest.experience import Lore, merge
from kbs_ingest.experience.export import export
from kbs_ingest.experience.places import experience_folder, list_segments
from kbs_ingest.experience.query import Reading
from tests.experience.records import outcome
from tests.experience.test_legacy import ENTRY

LINE = write_line(entry_of(outcome(), "team"))[:-1]
RECORD = LINE[LINE.index(b'"record":') + 9 : -1]
BARE = json.loads(RECORD)


def sealed(raw, before=b""):
    """A line of ``raw`` with the id that its bytes have."""
    id_ = hashlib.sha256(raw).hexdigest().encode()
    return b'{"id":"' + id_ + b'","origin":"team",' + before + b'"record":' + raw + b"}"


LATER = sealed(RECORD[:-1] + b',"colour":"red","depth":{"a":1}}')

ALTERED = [
    (LINE.replace(b'"method"', b'"foo":1,"method"'), "altered"),
    (LINE.replace(b'"verdict"', b'"verdict":"harmful","verdict"'), "stands twice"),
    (LINE.replace(b'"M":4096', b'"M":1,"M":4096'), "stands twice"),
    (LINE[:-1] + b',"record":' + RECORD + b"}", "stands twice"),
    (LINE.replace(b'"record"', b'"origin":"other","record"'), "stands twice"),
    (LINE.replace(b'"record"', b'"foo":1,"record"'), "nothing else"),
    (sealed(RECORD.replace(b'"verdict"', b'"verdict":"harmful","verdict"')), "stands twice"),
    (sealed(RECORD, b'"foo":1,'), "nothing else"),
    (LATER.replace(b'"red"', b'"blue"'), "altered"),
    (LATER.replace(b',"depth"', b', "depth"'), "altered"),
    (json.dumps({**BARE, "afterns": 1.0}).encode(), "did you mean after_ns?"),
    (json.dumps({**BARE, "my_team_field": "keep me"}).encode(), "no field 'my_team_field'"),
    (RECORD.replace(b'"verdict"', b'"verdict":"harmful","verdict"'), "stands twice"),
    (
        json.dumps({"kind": "mask", "targets": ["a" * 64], "reason": "r", "why": "x"}).encode(),
        "'why'",
    ),
]


@pytest.mark.parametrize(("line", "told"), ALTERED)
def test_what_was_put_in_is_refused(line, told):
    with pytest.raises(ValueError, match=told.replace("?", r"\?")):
        read_line(line)


def test_what_was_put_in_never_reaches_the_log_nor_keeps_the_record_out(tmp_path):
    home, log = tmp_path / "home", tmp_path / "log.jsonl"
    log.write_bytes(b"".join(line + b"\n" for line, _ in ALTERED))
    report = merge(home, [log], lore=Lore(), origin="me")
    assert (report.added, [bad.line for bad in report.rejected]) == (
        0, list(range(1, len(ALTERED) + 1)),
    )  # fmt: skip
    damaged = experience_folder(home) / "team" / "damaged.jsonl"
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(ALTERED[0][0] + b"\n")
    log.write_bytes(LINE + b"\n")
    assert merge(home, [log], lore=Lore(), origin="me").added == 1
    assert [row.state for row in Reading(home, Lore()).rows()] == ["counts"]


@pytest.mark.parametrize("line", [LATER, LATER.replace(b'"origin":"team",', b'"origin": "team", ')])
def test_a_record_of_a_later_kbs_loses_nothing(tmp_path, line):
    assert unread(read_line(line)) == ["colour", "depth"]
    log, out = tmp_path / "log.jsonl", tmp_path / "out.jsonl"
    log.write_bytes(line + b"\n")
    for name, source in (("a", log), ("b", out)):
        home = tmp_path / name
        report = merge(home, [source], lore=Lore(), origin="me")
        assert (report.added, report.rejected) == (1, ())
        assert "colour, depth" in report.unread[0].reason
        (path,) = list_segments(experience_folder(home)).values()
        assert path.read_bytes() == LATER + b"\n"
        assert export(home, Lore(), {}, out) == 1
        assert out.read_bytes() == LATER + b"\n"


def test_entries_of_an_array_are_held_to_the_same(tmp_path):
    log = tmp_path / "log.json"
    double = json.dumps(ENTRY)[:-1] + ',"outcome":"success"}'
    log.write_text(f"[{double}, {json.dumps(ENTRY)}, {json.dumps({**BARE, 'foo': 1})}]")
    report = merge(tmp_path / "home", [log], lore=Lore(), origin="me")
    assert report.added == 1
    assert [bad.reason.split(":")[0] for bad in report.rejected] == ["entry 1", "entry 3"]


@pytest.mark.parametrize("text", [line.decode() for line, _ in ALTERED[-4:]])
def test_adding_a_file_is_held_to_the_same(tmp_path, text):
    path = tmp_path / "record.json"
    for written in (text, f"[{text}]", f"{RECORD.decode()}\n{text}\n"):
        path.write_text(written)
        ran = CliRunner().invoke(cli, ["--home", str(tmp_path), "experience", "add", str(path)])
        assert isinstance(ran.exception, InputError), ran.output
        assert not list(tmp_path.rglob("*.jsonl"))


def test_a_record_written_by_hand_needs_no_architecture(chip, tmp_path):
    bare = {name: value for name, value in BARE.items() if name not in ("arch", "kind")}
    log, home = tmp_path / "log.jsonl", tmp_path / "home"
    log.write_text(json.dumps(bare) + "\n")
    lore = Lore([chip("h100_sxm")])
    assert merge(home, [log], lore=lore, origin="me").added == 1
    (row,) = Reading(home, lore).rows()
    assert (row.state, row.outcome.arch) == ("counts", "sm_90a")


@given(st.recursive(st.none() | st.text(), lambda part: st.lists(part) | st.dictionaries(
    st.text(), part)))  # fmt: skip
def test_what_has_each_key_once_is_let_pass(value):
    assert refuse_repeated(json.dumps(value).encode()) is None

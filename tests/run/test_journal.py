"""The journal: nothing that counted is lost, nothing that was changed goes unseen."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbs_engine.errors import StoreError
from kbs_engine.jobs import Probe, Result
from kbs_engine.run import Journal, RunFolder
from tests.conftest import ROOT

WORDS = st.dictionaries(st.text("abc", min_size=1), st.text() | st.integers() | st.floats(-1, 1))


def filled(path, events):
    journal = Journal(path).open_for_writing()
    for data in events:
        journal.append("note", **data)
    return journal


@settings(max_examples=30, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=6), st.data())
def test_a_cut_anywhere_keeps_every_whole_event_and_the_chain(tmp_path_factory, events, data):
    path = tmp_path_factory.mktemp("j") / "events.jsonl"
    filled(path, events)
    whole = path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    journal = Journal(path).open_for_writing()
    assert len(journal.events) == whole[:cut].count(b"\n")
    assert bool(journal.healed) == (cut > 0 and whole[cut - 1 : cut] != b"\n")
    journal.append("after")
    assert Journal(path).verify() is None


@settings(max_examples=40, deadline=None)
@given(st.lists(WORDS, min_size=2, max_size=5), st.data())
def test_a_changed_byte_shows_with_its_line(tmp_path_factory, events, data):
    path = tmp_path_factory.mktemp("j") / "events.jsonl"
    filled(path, events)
    original = path.read_bytes()
    whole = bytearray(original)
    place = data.draw(st.integers(0, len(whole) - 2))
    old = whole[place]
    new = data.draw(st.integers(0x20, 0x7E).filter(lambda value: value != old))
    if old == 0x0A:
        return
    whole[place] = new
    path.write_bytes(bytes(whole))
    broken = Journal(path).verify()
    if broken is None:  # a change that means the same: 1E5 for 1e5 and the like
        before = [(row["data"], row["hash"]) for row in map(json.loads, original.splitlines())]
        assert [(event.data, event.hash) for event in Journal(path).events] == before
        return
    line = whole[:place].count(b"\n") + 1
    assert int(broken.where.rpartition(":")[2]) in (line, line + 1)
    with pytest.raises(StoreError):
        Journal(path).open_for_writing()


def test_a_removed_or_swapped_line_shows(tmp_path):
    path = tmp_path / "events.jsonl"
    filled(path, [{"a": n} for n in range(5)])
    lines = path.read_bytes().splitlines(keepends=True)
    for wrong in (lines[:2] + lines[3:], [lines[1], lines[0], *lines[2:]], lines[1:]):
        path.write_bytes(b"".join(wrong))
        assert Journal(path).verify() is not None


def test_a_cut_tail_or_a_chain_written_anew_shows_by_the_remembered_head(tmp_path):
    path, head = tmp_path / "events.jsonl", tmp_path / "home/head.json"
    journal = Journal(path, head_file=head).open_for_writing()
    for number in range(4):
        journal.append("note", number=number)
    whole = path.read_bytes()
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[:3]))
    broken = Journal(path, head_file=head).verify()
    assert broken is not None
    assert "cut off" in broken.message
    path.unlink()
    filled(path, [{"number": n} for n in range(9)])
    broken = Journal(path, head_file=head).verify()
    assert broken is not None
    assert "another chain" in broken.message
    path.write_bytes(whole)
    assert Journal(path, head_file=head).verify() is None


def test_a_head_that_lags_by_a_crash_is_no_break(tmp_path):
    path, head = tmp_path / "events.jsonl", tmp_path / "head.json"
    journal = Journal(path, head_file=head).open_for_writing()
    journal.append("one")
    lagging = head.read_bytes()
    journal.append("two")
    head.write_bytes(lagging)
    assert Journal(path, head_file=head).verify() is None


WRITER = """
import sys, pathlib
from kbs_engine.run.journal import Journal
journal = Journal(pathlib.Path(sys.argv[1])).open_for_writing()
for number in range(100_000):
    event = journal.append("note", number=number)
    print(event.seq, flush=True)
"""


@pytest.mark.parametrize("wait", [0.25, 0.4])
def test_kill_9_loses_no_event_that_was_answered(tmp_path, wait):
    path = tmp_path / "events.jsonl"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "engine")}
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, env=environment
    ) as writer:
        writer.stdout.readline()
        time.sleep(wait)
        writer.send_signal(signal.SIGKILL)
        told = writer.stdout.read().splitlines()
    journal = Journal(path).open_for_writing()
    assert len(journal.events) > int(told[-1]) if told else True
    assert [event.data["number"] for event in journal.events] == list(range(len(journal.events)))


def test_two_writers_are_one_too_many(run_at):
    with RunFolder.open(run_at, writing=True):
        with pytest.raises(StoreError, match="another process is writing"):
            RunFolder.open(run_at, writing=True)
        RunFolder.open(run_at).close()
    RunFolder.open(run_at, writing=True).close()


def test_a_second_process_is_shut_out_and_a_killed_one_leaves_no_lock(run_at):
    code = (
        "import sys, pathlib, time\n"
        "from kbs_engine.run import RunFolder\n"
        "run = RunFolder.open(pathlib.Path(sys.argv[1]), writing=True)\n"
        "print('open', flush=True)\ntime.sleep(60)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "engine")}
    with subprocess.Popen(
        [sys.executable, "-c", code, str(run_at)], stdout=subprocess.PIPE, env=environment
    ) as other:
        other.stdout.readline()
        with pytest.raises(StoreError, match=str(other.pid)):
            RunFolder.open(run_at, writing=True)
        other.kill()
    RunFolder.open(run_at, writing=True).close()


def test_a_finished_job_is_found_again_and_its_answer_is_guarded(build):
    run = build().run
    job = Probe()
    assert run.finished(job) is None
    run.job_started(job)
    assert run.journal.in_flight() == (job.key,)
    run.job_finished(job, Result(job_key=job.key, kind="probe", value={"device": "host"}))
    assert run.journal.in_flight() == ()
    assert run.journal.jobs() == {job.key: job}
    assert run.finished(job).value == {"device": "host"}
    path = run.paths.result(job.key)
    path.write_text(path.read_text().replace("host", "cuda"))
    with pytest.raises(StoreError, match="changed after the fact"):
        run.finished(job)
    path.unlink()
    with pytest.raises(StoreError, match="is gone"):
        run.finished(job)


def test_an_event_without_its_data_is_a_break_and_no_traceback(run_at):
    path = run_at / "events.jsonl"
    path.write_text(
        path.read_text().replace('"sha256":', '"sha999":').replace("job_kind", "kind_of")
    )
    with RunFolder.open(run_at) as run:
        assert run.journal.verify() is not None
        assert run.journal.artifacts() == {}
        assert run.journal.finished_jobs() == {}


def test_a_moved_run_is_known_again_and_its_cut_tail_shows(build, tmp_path):
    builder = build()
    builder.version(0)
    builder.close()
    moved = tmp_path / "elsewhere"
    copied = tmp_path / "copied"
    shutil.copytree(builder.run.root, copied)
    with RunFolder.open(copied, home=builder.home) as run:
        assert run.journal.remembered() is None, "a copy is another run"
    builder.run.root.rename(moved)
    with RunFolder.open(moved, home=builder.home) as run:
        assert run.journal.remembered() is not None
        assert run.journal.verify() is None
    lines = (moved / "events.jsonl").read_bytes().splitlines(keepends=True)
    (moved / "events.jsonl").write_bytes(b"".join(lines[:-3]))
    with RunFolder.open(moved, home=builder.home) as run:
        broken = run.journal.verify()
    assert broken is not None
    assert "its tail was cut off" in broken.message

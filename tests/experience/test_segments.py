"""Appending: nothing acknowledged is lost, whoever else writes and whoever is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from kbs_engine.errors import StoreError, UsageError
from kbs_engine.experience import read_line
from kbs_ingest.experience import append, origin_of
from kbs_ingest.experience import writer as writer_module
from kbs_ingest.experience.places import experience_folder, list_segments
from kbs_ingest.experience.writer import SegmentWriter
from tests.conftest import ROOT
from tests.experience.records import outcome

PROGRAM = """
import sys
from pathlib import Path
from kbs_ingest.experience import append
from tests.experience.records import outcome
home, count = Path(sys.argv[1]), int(sys.argv[2])
for n in range(count):
    append(home, [outcome(measurement="")], origin="team")
    print(n, flush=True)
"""


def _start(home, count):
    parts = ("", "engine", "ingest", "backends")
    path = os.pathsep.join(str(ROOT / part) for part in parts)
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(home), str(count)],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
    )


def _records(home):
    found = []
    for path in list_segments(experience_folder(home)).values():
        found += [read_line(line) for line in path.read_bytes().split(b"\n")[:-1]]
    return found


def _many(home, processes, count):
    running = [_start(home, count) for _ in range(processes)]
    for process in running:
        process.communicate(timeout=500)
    assert [process.returncode for process in running] == [0] * processes
    entries = _records(home)
    assert len({entry.id for entry in entries}) == len(entries)
    return len(entries)


def test_processes_that_append_at_once_lose_nothing(tmp_path):
    assert _many(tmp_path, 3, 40) == 3 * 40
    assert len(list_segments(experience_folder(tmp_path))) <= 3


@pytest.mark.sweep
def test_sixteen_processes_append_a_thousand_records_each(tmp_path):
    assert _many(tmp_path, 16, 1000) == 16 * 1000


def test_what_was_acknowledged_survives_a_kill(tmp_path):
    process = _start(tmp_path, 100_000)
    told = [process.stdout.readline() for _ in range(20)]
    process.send_signal(signal.SIGKILL)
    rest, _ = process.communicate(timeout=60)
    acknowledged = int([*told, *rest.split()][-1]) + 1
    append(tmp_path, [outcome(measurement="after")], origin="team")
    entries = _records(tmp_path)
    assert acknowledged + 1 <= len(entries) <= acknowledged + 2
    assert len(list_segments(experience_folder(tmp_path))) == 1  # the free segment was taken


def test_a_torn_last_line_is_cut_off_by_the_next_append(tmp_path):
    writer = SegmentWriter(tmp_path, "team")
    append(tmp_path, [outcome(measurement="a")], origin="team")
    (path,) = list_segments(experience_folder(tmp_path)).values()
    writer_module._WRITERS.popitem()[1].close()
    with path.open("ab") as file:
        file.write(b'{"id":"0123')
    append(tmp_path, [outcome(measurement="b")], origin="team")
    assert [entry.record.measurement for entry in _records(tmp_path)] == ["a", "b"]
    assert writer.path is None


def test_a_segment_that_another_process_holds_is_left_alone(tmp_path):
    one, two = SegmentWriter(tmp_path, "team"), SegmentWriter(tmp_path, "team")
    one.append([b"{}\n"])
    two.append([b"{}\n"])
    assert one.path != two.path
    one.close()
    three = SegmentWriter(tmp_path, "team")
    three.append([b"{}\n"])
    assert three.path == one.path


def test_a_full_disk_leaves_the_segment_as_it_was(tmp_path, monkeypatch):
    append(tmp_path, [outcome(measurement="a")], origin="team")

    def half(handle, data):
        os.write(handle, bytes(data)[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writer_module, "_write_all", half)
    with pytest.raises(StoreError, match="No space left"):
        append(tmp_path, [outcome(measurement="b")], origin="team")
    monkeypatch.undo()
    assert [entry.record.measurement for entry in _records(tmp_path)] == ["a"]
    append(tmp_path, [outcome(measurement="c")], origin="team")
    assert [entry.record.measurement for entry in _records(tmp_path)] == ["a", "c"]


def test_a_child_of_a_fork_writes_a_segment_of_its_own(tmp_path):
    append(tmp_path, [outcome(measurement="parent")], origin="team")
    child = os.fork()
    if child == 0:
        append(tmp_path, [outcome(measurement="child")], origin="team")
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    append(tmp_path, [outcome(measurement="parent again")], origin="team")
    assert len(list_segments(experience_folder(tmp_path))) == 2
    assert len(_records(tmp_path)) == 3


def test_a_home_has_one_name_for_ever(tmp_path, monkeypatch):
    monkeypatch.delenv("KBS_ORIGIN", raising=False)
    name = origin_of(tmp_path)
    assert origin_of(tmp_path) == name
    monkeypatch.setenv("KBS_ORIGIN", "lab-7")
    assert origin_of(tmp_path) == "lab-7"
    assert origin_of(tmp_path, "mine") == "mine"
    for bad in ("../x", "a/b", "", " ", "x" * 100):
        monkeypatch.setenv("KBS_ORIGIN", bad or "..")
        with pytest.raises(UsageError, match="is no origin"):
            origin_of(tmp_path)

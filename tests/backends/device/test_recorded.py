"""What was recorded is replayed to the letter; what was not is an error."""

from __future__ import annotations

import re

import msgspec
import pytest

from kbs_backends.device import LocalDevice, RecordedDevice, Recorder, open_device
from kbs_backends.device.recording import Writer
from kbs_engine.blobs import BlobStore
from kbs_engine.errors import InputError, MeasurementError, UsageError
from kbs_engine.jobs import Check, Probe, Task
from tests.backends.device.conftest import HONEST


@pytest.fixture(scope="module")
def recording(rig, tmp_path_factory):
    folder = tmp_path_factory.mktemp("recording")
    recorder = Recorder(rig.device, folder, rig.blobs)
    job = Check(source=rig.source(HONEST), task=rig.task, rounds=2)
    return folder, job, recorder.submit(job).result(timeout=60)


def test_a_recorded_job_is_answered_as_it_was(recording, tmp_path):
    folder, job, result = recording
    blobs = BlobStore(tmp_path / "blobs")
    with open_device(f"recorded:{folder}", blobs) as device:
        assert device.submit(job).result() == result
    assert job.source.sha256 not in blobs
    assert job.source.sha256 in BlobStore(folder / "blobs")


@pytest.mark.parametrize(("data", "cut"), [(b"", False), (b"{", True), (b"\n", False)])
def test_only_a_line_without_an_end_is_said_to_be_cut_off(tmp_path, data, cut):
    (tmp_path / "jobs.jsonl").write_bytes(data)
    failure = RecordedDevice(tmp_path).submit(Probe()).result().failure
    assert failure
    assert ("cut off" in failure) == cut


def test_a_missing_recording_names_the_job(recording):
    folder, job, _ = recording
    device = RecordedDevice(folder)
    other = Check(source=job.source, task=Task(reference_sha256="a" * 64, dims={}))
    result = device.submit(other).result()
    assert result.value is None
    assert other.key[:12] in result.failure
    assert "kernel.py" in result.failure
    assert device.submit(Probe()).result().failure


def test_a_line_cut_short_is_left_out_and_a_damaged_one_is_told(recording, tmp_path):
    folder, job, result = recording
    line = (folder / "jobs.jsonl").read_bytes()
    (tmp_path / "jobs.jsonl").write_bytes(line + line[:40])
    assert RecordedDevice(tmp_path).submit(job).result() == result
    (tmp_path / "jobs.jsonl").write_bytes(line[:40] + b"\n" + line)
    with pytest.raises(InputError, match=r"jobs.jsonl:1"):
        RecordedDevice(tmp_path)
    with pytest.raises(InputError, match="no recording"):
        RecordedDevice(tmp_path / "nowhere")


@pytest.fixture
def chained(recording, rig, tmp_path):
    """Three lines: two jobs, one of them recorded twice."""
    _, job, result = recording
    other = Check(source=job.source, task=job.task, rounds=3)
    found = [msgspec.structs.replace(result, job_key=one.key) for one in (job, other)]
    writer = Writer(tmp_path)
    for one, answer in ((job, found[0]), (other, found[1]), (job, found[0])):
        writer.append(one, answer)
    assert RecordedDevice(tmp_path).chained
    return tmp_path / "jobs.jsonl"


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda lines: [lines[0].replace(b'"passed":true', b'"passed":false'), *lines[1:]], 1),
        (lambda lines: [lines[1], lines[0], lines[2]], 1),
        (lambda lines: [lines[0], lines[2]], 2),
        (lambda lines: [*lines, lines[2]], 4),
        (lambda lines: [*lines[:2], re.sub(rb',"chain":"[0-9a-f]+"', b"", lines[2])], 3),
    ],
    ids=["edited", "swapped", "left out", "said twice", "chain taken away"],
)
def test_a_recording_that_was_changed_is_refused(chained, change, line):
    lines = chained.read_bytes().splitlines()
    chained.write_bytes(b"\n".join(change(lines)) + b"\n")
    with pytest.raises(InputError, match="changed after it was recorded") as told:
        RecordedDevice(chained.parent)
    assert told.value.where.endswith(f":{line}")


def test_a_recording_without_a_chain_is_read_and_carried_on(recording, chained):
    _, job, result = recording
    old = re.sub(rb',"chain":"[0-9a-f]+"', b"", chained.read_bytes())
    chained.write_bytes(old)
    device = RecordedDevice(chained.parent)
    assert not device.chained
    assert device.submit(job).result() == result
    Writer(chained.parent).append(job, result)
    assert not RecordedDevice(chained.parent).chained
    chained.write_bytes(chained.read_bytes().replace(b'"passed":true', b'"passed":false', 1))
    with pytest.raises(InputError, match="changed after it was recorded"):
        RecordedDevice(chained.parent)


def test_two_may_write_by_turns(recording, chained):
    _, job, result = recording
    writers = [Writer(chained.parent) for _ in range(2)]
    for writer in (*writers, *writers):
        writer.append(job, result)
    assert RecordedDevice(chained.parent).chained


def test_a_line_that_a_crash_cut_is_replaced_by_the_next(recording, chained):
    _, job, result = recording
    whole = chained.read_bytes()
    chained.write_bytes(whole + whole[:50])
    Writer(chained.parent).append(job, result)
    assert chained.read_bytes().startswith(whole)
    assert len(RecordedDevice(chained.parent)) == 2


def test_words_that_are_no_device(tmp_path, monkeypatch):
    blobs = BlobStore(tmp_path)
    with pytest.raises(UsageError, match="is no device"):
        open_device("gpu", blobs)
    with pytest.raises(UsageError, match="names no GPU"):
        open_device("cuda:x", blobs)
    monkeypatch.setattr("kbs_backends.device.gpus.gpu_count", lambda: 0)
    with pytest.raises(MeasurementError, match="--device host"):
        open_device("auto", blobs)
    with pytest.raises(ValueError, match="no such defence"):
        LocalDevice(blobs, kind="host", off=("nothing",))

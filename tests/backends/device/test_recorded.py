"""What was recorded is replayed to the letter; what was not is an error."""

from __future__ import annotations

import pytest

from kbs_backends.device import LocalDevice, RecordedDevice, Recorder, open_device
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

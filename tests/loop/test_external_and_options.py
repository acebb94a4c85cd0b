"""What a team's own driver prints, and texts of options as records."""

from __future__ import annotations

import sys

import pytest

from kbs.looping.beginning import read_placeholder, read_target, settings_of
from kbs.looping.external import read_figure, run_external
from kbs_engine.blobs import BlobStore
from kbs_engine.errors import UsageError
from kbs_engine.jobs import SourceRef, Task
from kbs_engine.loop.asks import External


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("warm\n61.5 us\n", 61500.0),
        ("mean: 2.0 ms, median: 1.5 ms", 1.5e6),
        ('log\n{"value": 61.0, "unit": "µs"}', 61000.0),
        ("12 ns", 12.0),
    ],
)
def test_the_last_time_counts(text, value):
    assert read_figure(text).value == pytest.approx(value)


def test_output_without_a_time_says_what_to_print():
    answer = read_figure("all good\n")
    assert answer.value is None
    assert "printed no time" in answer.failure


def ask(blobs: BlobStore, command: str) -> External:
    source = SourceRef(sha256=blobs.put("kernel"), language="triton", name="kernel.py")
    task = Task(reference_sha256=blobs.put("reference"), dims={"M": 3})
    return External(version=0, source=source, command=command, task=task)


def test_a_driver_is_given_kernel_reference_and_dims(tmp_path):
    blobs = BlobStore(tmp_path)
    script = (
        "import os, sys; kernel, ref = (open(p).read() for p in sys.argv[1:]); "
        "print(len(kernel) + len(ref), os.environ['KBS_DIMS']); print(7, 'us')"
    )
    assert run_external(ask(blobs, f'{sys.executable} -c "{script}"'), blobs).value == 7000.0


def test_a_driver_that_fails_is_told(tmp_path):
    blobs = BlobStore(tmp_path)
    failed = run_external(ask(blobs, f'{sys.executable} -c "raise SystemExit(4)"'), blobs)
    assert failed.failure.startswith("ended with 4")
    assert "could not be run" in run_external(ask(blobs, "/nonexistent/driver"), blobs).failure


def test_targets():
    time = read_target("61us")
    assert time is not None
    assert (time.kind, time.value) == ("time", 61000.0)
    share = read_target("0.9")
    assert share is not None
    assert (share.kind, share.value) == ("share_of_model", 0.9)
    assert read_target("") is None
    for wrong in ("fast", "1.5", "-3us", "0"):
        with pytest.raises(UsageError, match="is no target"):
            read_target(wrong)


def test_placeholders_are_marked_and_never_guessed():
    one = read_placeholder("memory_bandwidth=4e12 B/s")
    assert "PLACEHOLDER" in str(one)
    assert (one.metric, one.value, one.unit) == ("memory_bandwidth", 4e12, "B/s")
    for wrong in (
        "memory_bandwidth", "memory_bandwidth=fast", "=3", "memory_bandwidth=3 furlongs",
        "memory_bandwidth=-1", "memory_bandwidth=nan",
    ):  # fmt: skip
        with pytest.raises(UsageError):
            read_placeholder(wrong)


def test_settings_that_make_no_sense_are_a_usage_error():
    with pytest.raises(UsageError, match="settings make no sense"):
        settings_of({"language": "triton", "dims": {}, "kernel_suffix": ".py", "slots": 0})

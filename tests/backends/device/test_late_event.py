"""Arms whose clocks disagree while launches are queued ahead are timed from an open gate."""

import pytest

from kbs_backends.device import kept_cache
from kbs_backends.device.accelerators.host import HostOwner
from kbs_backends.device.context import Bench
from kbs_backends.device.context_settings import Settings
from kbs_backends.device.racing import race
from kbs_backends.device.zygote_client import Zygote
from kbs_engine.blobs import BlobStore
from kbs_engine.jobs import SourceRef, Task, Time, TimingSettings
from tests.attacks.manifest import KERNELS, TASKS, TWINS


class Queueing(HostOwner):
    """The host device as one on which launches are queued."""

    queues_launches = True


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("queueing")
    blobs = BlobStore(folder / "blobs")
    work = folder / "work"
    work.mkdir()
    zygote = Zygote(work, "host", [blobs.folder])
    zygote.start()
    settings = Settings(kind="host", gpu=0, blobs=str(blobs.folder), workdir=str(work))
    side = Queueing()
    made = Bench(settings, side, zygote)
    yield made
    made.close()
    zygote.close()
    side.close()


def timed(bench, path, **more):
    source = SourceRef(sha256=bench.blobs.put(path.read_bytes()), language="triton", name=path.name)
    task = Task(reference_sha256=bench.blobs.put((TASKS / "silu_bias.py").read_bytes()), dims={})
    settings = TimingSettings(trials=6, warmup_calls=1, warmup_ms=0.0)
    return race(bench, Time(arms=(source,), task=task, settings=settings, **more), {})


def test_a_lie_stays_a_lie_from_an_open_gate(bench):
    found = timed(bench, KERNELS / "t14_takes_over_the_protocol.py")
    assert found.arms[0].reason == "clock_mismatch"
    assert "without queueing launches ahead" in found.warnings[0]
    assert found.timer.endswith("launches not queued ahead")


def test_an_honest_arm_is_timed_once(bench):
    found = timed(bench, TWINS / "in_place.py")
    assert found.arms[0].reason is None
    assert not [words for words in found.warnings if "queueing" in words]
    assert found.timer == bench.side.timer


def test_what_the_first_process_compiled_is_given_to_the_next_ones_alone(bench, monkeypatch):
    made = {("key", "kernel.cubin"): b"code"}
    given = []
    monkeypatch.setattr(kept_cache, "keep", lambda folder: made)
    monkeypatch.setattr(kept_cache, "give", lambda kept, folder: given.append(kept))
    found = timed(bench, TWINS / "in_place.py", fresh_processes=3)
    assert found.arms[0].reason is None
    assert given == [{}, made, made]

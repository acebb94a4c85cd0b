"""A capsule whose parts do not agree is refused, whatever its manifest states."""

from __future__ import annotations

import hashlib
import json

import msgspec
import pytest

from kbs.experience.replicating import replicate
from kbs_engine.blobs import BlobStore
from kbs_engine.errors import InputError
from kbs_engine.experience.capsule import MANIFEST, Claim, pack, unpack
from kbs_engine.jobs import TimingSettings
from kbs_engine.run.files import as_json
from kbs_ingest.experience import Lore
from tests.experience.test_capsule import (
    BENCH,
    CAPSULE,
    CLAIM,
    FILES,
    TASK,
    FakeDevice,
    edited,
    failure,
)


def _claim(**fields):
    return msgspec.structs.replace(CLAIM, **fields)


def _task(**fields):
    return msgspec.structs.replace(TASK, **fields)


def _repacked(files=(), left_out=(), **fields):
    """The capsule with other content, hashes of the manifest included."""
    held = {**FILES, **dict(files)}
    held = {name: data for name, data in held.items() if name not in left_out}
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in held.items()}
    return pack(msgspec.structs.replace(CAPSULE, files=hashes, **fields), held)


OTHER = msgspec.structs.replace(CAPSULE.champion, sha256=hashlib.sha256(b"# v3\n").hexdigest())


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (lambda: _repacked(claim=Claim(ratio=99.0, low=98.0, high=100.0)), "samples give 2"),
        (lambda: _repacked(claim=msgspec.structs.replace(CLAIM, low=1.0)), "a low end of 1;"),
        (lambda: _repacked(claim=msgspec.structs.replace(CLAIM, high=9.0)), "a high end of 9;"),
        (lambda: _repacked({"v2/kernel.py": b"# v3\n"}, champion=OTHER), "another kernel than"),
        (lambda: _repacked(champion=CAPSULE.v0, v0=CAPSULE.champion), "v0 is another file"),
        (lambda: _repacked(timing=TimingSettings(trials=12)), "other settings"),
        (lambda: _repacked({"v2/bench.json": b"{}"}), "bench.json cannot be read"),
        (lambda: _repacked({"v2/bench.json": as_json(
            msgspec.structs.replace(BENCH, checks=()))}), "did not pass: not_checked"),
        (lambda: _repacked({"v2/bench.json": as_json(
            msgspec.structs.replace(BENCH, blocks=()))}), "never timed"),
        (lambda: _repacked(version=3), "v3 is another file"),
        (lambda: _repacked(claim=_claim(v0_ns=1e12)), "a time of v0 of 1e+12; its samples give 2"),
        (lambda: _repacked(claim=_claim(champion_ns=1.0)), "a time of the champion of 1;"),
        (lambda: _repacked(claim=_claim(noise=0.5)), "at a noise of 0.02, not 0.5"),
        (lambda: _repacked(task=_task(dims={"n": 65})), "checked on another task"),
        (lambda: _repacked(task=_task(atol=9.0)), "checked on another task"),
        (lambda: _repacked(task=_task(permitted=("tf32",))), "checked on another task"),
        (lambda: _repacked(check_rounds=1), "checked on another task"),
        (lambda: _repacked(process_pairs=1), "timed in 3 process pairs, not 1"),
        (lambda: _repacked(process_pairs=30), "timed in 3 process pairs, not 30"),
        (lambda: _repacked(language="cuda-cpp"), "of another language"),
        (lambda: _repacked(gpu="Best GPU"), "measured on Some GPU, not on Best GPU"),
        (lambda: _repacked(methods=("tensor_core_mma",)), "other methods than v2/methods.json"),
        (lambda: _repacked(methods=()), "other methods than v2/methods.json"),
        (lambda: _repacked({"v2/methods.json": b"{}"}), "methods.json cannot be read"),
        (lambda: _repacked(left_out=("v2/methods.json",)), "methods.json is missing"),
    ],
)  # fmt: skip
def test_a_capsule_whose_parts_do_not_agree_is_not_replicated(tmp_path, data, told):
    path = tmp_path / "c.zip"
    path.write_bytes(data())
    refused = failure(tmp_path, "replicate", path, "--device", "host")
    assert refused.exit_code == 2
    assert "its parts do not agree" in refused.message
    assert told in refused.message


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("noise", -5, "noise is a share of time from 0 to below 1, got -5"),
        ("noise", 1, "noise is a share"), ("ratio", 0, "ratio of a claim is above zero"),
        ("low", -1, "low of a claim"), ("v0_ns", -3, "v0_ns of a claim is above zero, got -3"),
    ],
)  # fmt: skip
def test_a_claim_that_nothing_could_measure_is_told_in_words(field, value, told):
    def change(name, content):
        if name != MANIFEST:
            return content
        manifest = json.loads(content)
        manifest["claim"][field] = value
        return json.dumps(manifest)

    with pytest.raises(InputError, match=told):
        unpack(edited(change), "x")


def test_a_chip_that_its_gpu_is_not_is_refused(tmp_path, wiki):
    lore = Lore.of_wiki(wiki)
    name = "NVIDIA H100 80GB HBM3"
    bench = msgspec.json.decode(FILES["v2/bench.json"])
    for row in (*bench["blocks"], *bench["checks"]):
        row["provenance"]["gpu"] = name
    for stated in ("h100_sxm", "h20", "b200"):
        data = _repacked({"v2/bench.json": json.dumps(bench).encode()}, chip=stated, gpu=name)
        opened, blobs = unpack(data, "x"), BlobStore(tmp_path / stated)
        if stated == "h100_sxm":
            assert replicate(opened, FakeDevice(), blobs, lore=lore).verdict == "replicated"
        else:
            with pytest.raises(InputError, match="is of chip h100_sxm"):
                replicate(opened, FakeDevice(), blobs, lore=lore)

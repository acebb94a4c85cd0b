"""The compile cache: by content, whole or absent, one builder at a time."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from kbs_backends.languages.cache import RECORD, CacheKey, CompileCache
from kbs_engine.errors import StoreError
from kbs_engine.results import Compiled, CompileMessage

KEY = CacheKey(source_sha256="a" * 64, arch="sm_90a", compiler="nvcc 13", flags=("-O3",))


def compiled(**changes):
    return Compiled(**{"ok": True, "arch": "sm_90a", "compiler": "nvcc 13", **changes})


def builder(folder):
    (folder / "kernel.so").write_bytes(b"machine code")
    (folder / "scratch.ii").write_text("left over")
    (folder / "more").mkdir()
    return compiled(), {"library": folder / "kernel.so"}


def never(folder):
    raise AssertionError(folder)


def test_the_second_answer_is_cached_and_the_same(tmp_path):
    cache = CompileCache(tmp_path)
    first, files = cache.build(KEY, builder)
    again, same = cache.build(KEY, never)
    assert (first.cached, again.cached) == (False, True)
    assert files == same
    assert files["library"].read_bytes() == b"machine code"
    assert sorted(p.name for p in files["library"].parent.iterdir()) == [RECORD, "kernel.so"]


@pytest.mark.parametrize(
    "change",
    [{"source_sha256": "b" * 64}, {"arch": "sm_80"}, {"compiler": "nvcc 12"}, {"flags": ()},
     {"call": {"dims": {"M": 1}}}],
)  # fmt: skip
def test_whatever_decides_the_answer_is_in_the_key(change):
    plain = {"source_sha256": "a" * 64, "arch": "sm_90a", "compiler": "nvcc 13", "flags": ("-O3",)}
    assert CacheKey(**{**plain, **change}).digest != KEY.digest


def test_a_failed_compilation_is_an_answer_too(tmp_path):
    cache = CompileCache(tmp_path)
    message = CompileMessage(severity="error", message="no", line=3)
    cache.build(KEY, lambda _: (compiled(ok=False, messages=(message,)), {}))
    again, files = cache.build(KEY, never)
    assert not again.ok
    assert again.messages[0].line == 3
    assert files == {}


@pytest.mark.parametrize("damage", ["flip", "truncate record", "remove file", "remove record"])
def test_a_damaged_entry_is_built_again(tmp_path, damage):
    cache = CompileCache(tmp_path)
    _, files = cache.build(KEY, builder)
    library = files["library"]
    record = library.parent / RECORD
    if damage == "flip":
        library.write_bytes(b"other code")
    elif damage == "truncate record":
        record.write_bytes(record.read_bytes()[:10])
    else:
        (library if damage == "remove file" else record).unlink()
    again, files = cache.build(KEY, builder)
    assert not again.cached
    assert files["library"].read_bytes() == b"machine code"


def slow_builder(folder):
    time.sleep(0.3)
    with (folder.parent / "count").open("a") as count:
        count.write("x")
    return builder(folder)


def build_slowly(folder):
    CompileCache(folder).build(KEY, slow_builder)


def test_two_at_once_build_once(tmp_path):
    context = multiprocessing.get_context("fork")
    both = [context.Process(target=build_slowly, args=(tmp_path,)) for _ in range(2)]
    for process in both:
        process.start()
    for process in both:
        process.join(20)
    assert [process.exitcode for process in both] == [0, 0]
    assert (tmp_path / "count").read_text() == "x"


def hang_in_builder(folder):
    def hanging(work):
        (work / "kernel.so").write_bytes(b"half")
        (folder / "started").touch()
        time.sleep(60)
        return compiled(), {}

    CompileCache(folder).build(KEY, hanging)


def test_a_killed_builder_leaves_nothing_that_is_believed(tmp_path):
    process = multiprocessing.get_context("fork").Process(target=hang_in_builder, args=(tmp_path,))
    process.start()
    while not (tmp_path / "started").exists():
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.join(10)
    cache = CompileCache(tmp_path)
    assert cache.get(KEY) is None
    again, files = cache.build(KEY, builder)
    assert not again.cached
    assert files["library"].read_bytes() == b"machine code"


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(StoreError, match="compile cache cannot be written"):
        CompileCache(Path(blocked) / "cache").build(KEY, builder)

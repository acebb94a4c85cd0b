"""What a process compiled goes to the next one of its arm, and nothing else that lies there."""

from __future__ import annotations

import json
import os

from kbs_backends.device import kept_cache


def _cache(worker):
    folder = worker / "triton" / "KEY"
    folder.mkdir(parents=True)
    (folder / "k.cubin").write_bytes(b"code")
    group = {"child_paths": {"k.cubin": str(folder / "k.cubin")}}
    (folder / "__grp__k.json").write_text(json.dumps(group))
    return folder


def test_files_and_their_list_move_to_the_other_folder(tmp_path):
    _cache(tmp_path / "one")
    kept_cache.give(kept_cache.keep(tmp_path / "one"), tmp_path / "two")
    there = tmp_path / "two" / "triton" / "KEY"
    assert (there / "k.cubin").read_bytes() == b"code"
    listed = json.loads((there / "__grp__k.json").read_text())["child_paths"]
    assert listed == {"k.cubin": str(there / "k.cubin")}


def test_links_pipes_and_deep_folders_stay(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("seed")
    folder = _cache(tmp_path / "one")
    (folder / "link").symlink_to(secret)
    os.mkfifo(folder / "pipe")
    (folder / "deep").mkdir()
    (folder / "deep" / "file").write_text("x")
    (folder.parent / "linked").symlink_to(tmp_path)
    assert set(kept_cache.keep(tmp_path / "one")) == {("KEY", "k.cubin"), ("KEY", "__grp__k.json")}


def test_a_linked_cache_and_none_are_empty(tmp_path):
    _cache(tmp_path / "one")
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "triton").symlink_to(tmp_path / "one" / "triton")
    assert kept_cache.keep(tmp_path / "two") == {}
    assert kept_cache.keep(tmp_path / "three") == {}


def test_too_much_is_left(tmp_path, monkeypatch):
    folder = _cache(tmp_path / "one")
    (folder / "large").write_bytes(bytes(100))
    monkeypatch.setattr(kept_cache, "MOST_BYTES", 50)
    assert kept_cache.keep(tmp_path / "one") == {}


def test_a_list_that_is_none_is_left_as_it_is(tmp_path):
    folder = _cache(tmp_path / "one")
    (folder / "__grp__k.json").write_text("[1]")
    kept_cache.give(kept_cache.keep(tmp_path / "one"), tmp_path / "two")
    assert (tmp_path / "two/triton/KEY/__grp__k.json").read_text() == "[1]"

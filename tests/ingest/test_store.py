# ruff: noqa: E501 - tables and messages stand on one line, as in the files that they test
"""The index: what goes in comes out, unchanged is fast, rebuilt is identical."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from indexed import everything, index, write_outcomes
from wiki_fixture import GUIDE, UNCOALESCED

from kbs_engine.errors import StoreError, WikiError
from kbs_engine.ports import Knowledge, Rows
from kbs_ingest.store import Store, ingest, open_store
from kbs_ingest.wiki import load_wiki

ROOT = Path(__file__).resolve().parents[2]


HEAVY = ("torch", "sentence_transformers", "lancedb", "pyarrow", "numpy", "pandas")


def _python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": f"{ROOT / 'ingest'}:{ROOT / 'engine'}"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


def test_what_the_wiki_says_comes_back(small_store: Store, wiki_root: Path) -> None:
    wiki = load_wiki([wiki_root])
    knowledge: Knowledge = small_store
    assert list(knowledge.methods()) == list(wiki.methods.values())
    assert list(knowledge.rules()) == list(wiki.rules.values())
    assert knowledge.chip("h100_sxm") == wiki.chips["h100_sxm"].chip
    assert list(knowledge.groups()) == list(wiki.groups)
    assert knowledge.features("sm_90a") == {"tma"}
    assert knowledge.features("sm_12") is None
    assert small_store.metric_map("nvidia") == wiki.metric_maps["nvidia"]
    assert small_store.signatures() == wiki.signatures
    assert small_store.stats()["embedding_model"] == "none"
    with pytest.raises(StoreError, match="no metric map for amd"):
        small_store.metric_map("amd")


def test_rules_and_anti_strategies_are_evaluated(small_store: Store) -> None:
    bad = Rows(
        p={"load_bytes_per_sector_pct": 12.5, "load_sectors_per_request": 32.0, "l1_pct": 80.0},
        c={}, w={}, h={},
    )  # fmt: skip
    good = Rows(p={"load_bytes_per_sector_pct": 100.0}, c={}, w={}, h={})
    first, second = small_store.evaluate([bad, good])
    assert [result.id for result in first] == [rule.id for rule in small_store.rules()]
    assert {result.id: result.fired for result in first} == {
        "shared_bank_conflicts": None,
        "uncoalesced_global_load": True,
    }
    fired = next(result for result in first if result.fired)
    assert (fired.severity, fired.recoverable) == pytest.approx((0.875, 0.7))
    assert second[1].missing == ("p.load_sectors_per_request",)
    assert small_store.avoid([bad, good]) == [frozenset(), frozenset({"already_coalesced"})]


def test_unchanged_is_found_out_without_heavy_imports(empty_home: Path, wiki_root: Path) -> None:
    index(empty_home, wiki_root)
    code = (
        "import sys; from pathlib import Path; from kbs_ingest.store import ingest; "
        f"s = ingest(Path({str(empty_home)!r}), [Path({str(wiki_root)!r})], embedding_model='none'); "
        f"print(s.changed, s.seconds < 1, [m for m in {HEAVY!r} if m in sys.modules])"
    )
    assert _python(code) == "False True []"


def test_reading_and_evaluating_need_no_heavy_imports(empty_home: Path, wiki_root: Path) -> None:
    index(empty_home, wiki_root)
    code = (
        "import sys; from pathlib import Path; from kbs_ingest.store import open_store; "
        "from kbs_engine.ports import Rows; "
        f"s = open_store(Path({str(empty_home)!r})); "
        "s.chip('h100_sxm'); s.methods(); s.outcomes(); s.similarity(['a'], ['b']); "
        "s.nearest_outcomes({}); s.metric_map('nvidia'); "
        "s.evaluate([Rows(p={'l1_pct': 1.0}, c={}, w={}, h={})]); "
        "s.avoid([Rows(p={'l1_pct': 1.0}, c={}, w={}, h={})]); "
        f"print([m for m in {HEAVY!r} if m in sys.modules])"
    )
    assert _python(code) == "[]"


def test_a_change_makes_a_new_generation(empty_home: Path, wiki_root: Path) -> None:
    index(empty_home, wiki_root)
    (wiki_root / "profiling/ncu.md").write_text(GUIDE + "\n## More\nzebra stripes\n")
    with open_store(empty_home) as before:
        summary = ingest(empty_home, [wiki_root], embedding_model="none")
        assert (summary.changed, summary.generation) == (True, 2)
        assert not before.search("zebra stripes").results
    with open_store(empty_home) as after:
        assert after.search("zebra stripes").results[0].chunk.heading[-1] == "More"


def test_a_rebuild_answers_identically(empty_home: Path, wiki_root: Path) -> None:
    write_outcomes(empty_home)
    index(empty_home, wiki_root)
    with open_store(empty_home) as store:
        before = everything(store)
    index(empty_home, wiki_root, rebuild=True)
    with open_store(empty_home) as store:
        assert store.manifest.generation == 2
        assert everything(store) == before


def test_a_faulty_wiki_stores_nothing(empty_home: Path, wiki_root: Path) -> None:
    index(empty_home, wiki_root)
    (wiki_root / "symptoms/uncoalesced_global_load.yaml").write_text(
        UNCOALESCED.replace("< 70", "< nothing")
    )
    with pytest.raises(WikiError):
        index(empty_home, wiki_root)
    assert sorted(path.name for path in (empty_home / "index").glob("gen-*")) == ["gen-000001"]
    with open_store(empty_home) as store:
        assert len(store.rules()) == 2


def test_overlaid_citations_resolve(empty_home: Path, wiki_root: Path, tmp_path: Path) -> None:
    team = tmp_path / "team"
    (team / "profiling").mkdir(parents=True)
    (team / "profiling/notes.md").write_text("# Notes\n\nquokka\n")
    summary = ingest(empty_home, [wiki_root, team], embedding_model="none")
    assert "no number in them counts as a spec" in summary.notes[-1]
    with open_store(empty_home) as store:
        path = store.search("quokka").results[0].chunk.path
        assert path == "team/profiling/notes.md"
        found = store.chunk("team/profiling/notes.md:L1")
        assert found is not None
        assert found.path == path
        assert store.resolve(path) == team / "profiling/notes.md"
        assert store.resolve("profiling/ncu.md") == wiki_root / "profiling/ncu.md"
        assert store.resolve("../etc/passwd") is None

# ruff: noqa: E501 - tables and messages stand on one line, as in the files that they test
"""The index: what goes in comes out, unchanged is fast, rebuilt is identical."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec
import pytest
from filelock import FileLock
from wiki_fixture import GUIDE, UNCOALESCED, write_wiki

from kbs_engine.errors import RefusedError, StoreError, UsageError, WikiError
from kbs_engine.outcomes import Outcome
from kbs_engine.ports import Knowledge, Rows
from kbs_ingest.store import Store, build, ingest, layout, open_store
from kbs_ingest.store.near_chips import ChipName, named_alike, of_architecture
from kbs_ingest.wiki import load_wiki

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("torch", "sentence_transformers", "lancedb", "pyarrow", "numpy", "pandas")


def _ingest(home: Path, root: Path, **options: bool) -> None:
    ingest(home, [root], embedding_model="none", **options)


@pytest.fixture
def store(empty_home: Path, wiki_root: Path) -> Iterator[Store]:
    """The fixture wiki, indexed without a model."""
    _ingest(empty_home, wiki_root)
    with open_store(empty_home) as opened:
        yield opened


def _everything(store: Store) -> bytes:
    """All that a reader can ask, as bytes."""
    found = {
        "chips": store.chips(),
        "rules": store.rules(),
        "methods": store.methods(),
        "groups": [sorted(group) for group in store.groups()],
        "features": store.feature_list(),
        "signatures": store.signatures(),
        "cases": store.cases(),
        "maps": store.metric_map("nvidia"),
        "similar": store.similarity(
            [rule.id for rule in store.rules()], [method.id for method in store.methods()]
        ),
        "pages": [store.similar_pages(rule.id) for rule in store.rules()],
        "search": [store.search(text) for text in ("sectors per request", "bank conflicts")],
        "outcomes": store.outcomes(),
    }
    return msgspec.json.encode(found)


def test_what_the_wiki_says_comes_back(store: Store, wiki_root: Path) -> None:
    wiki = load_wiki([wiki_root])
    knowledge: Knowledge = store
    assert list(knowledge.methods()) == list(wiki.methods.values())
    assert list(knowledge.rules()) == list(wiki.rules.values())
    assert knowledge.chip("h100_sxm") == wiki.chips["h100_sxm"].chip
    assert list(knowledge.groups()) == list(wiki.groups)
    assert knowledge.features("sm_90a") == {"tma"}
    assert knowledge.features("sm_12") is None
    assert store.metric_map("nvidia") == wiki.metric_maps["nvidia"]
    assert store.signatures() == wiki.signatures
    assert store.stats()["embedding_model"] == "none"
    with pytest.raises(StoreError, match="no metric map for amd"):
        store.metric_map("amd")


@pytest.mark.parametrize(
    "name", ["h100_sxm", "H100-SXM", "NVIDIA H100 80GB HBM3", "nvidia_h100_sxm5_80gb", " h100sxm "]
)
def test_a_chip_answers_to_its_names(store: Store, name: str) -> None:
    assert store.chip(name).id == "h100_sxm"


@pytest.mark.parametrize("name", ["H100", "h1", "nvidia"])
def test_a_shared_name_lists_its_candidates(store: Store, name: str) -> None:
    with pytest.raises(RefusedError, match="h100_pcie, h100_sxm"):
        store.chip(name)


@pytest.mark.parametrize("name", ["H999", "", "h100_sxn", "'; DROP TABLE chips; --"])
def test_an_unknown_chip_is_refused_not_approximated(store: Store, name: str) -> None:
    with pytest.raises(RefusedError) as caught:
        store.chip(name)
    assert "nothing is approximated" in caught.value.message
    assert caught.value.exit_code == 1
    if name == "h100_sxn":
        assert "h100_sxm" in caught.value.remedy


@pytest.mark.parametrize("name", ["sm_90a", "sm_90", "cc_9_0", "9.0", "Hopper", "compute_90"])
def test_an_architecture_lists_its_chips(store: Store, name: str) -> None:
    with pytest.raises(RefusedError, match="is an architecture") as caught:
        store.chip(name)
    assert "h100_pcie, h100_sxm" in caught.value.message


def test_an_unknown_name_says_where_the_names_stand(store: Store) -> None:
    with pytest.raises(RefusedError) as caught:
        store.chip("Tesla K80")
    assert caught.value.remedy == "`kbs specs` lists the GPUs that the wiki knows"


SHIPPED_NAMES = [
    ("NVIDIA V100", ["v100_pcie", "v100_sxm2"]),
    ("GeForce RTX 3090 Ti", ["rtx_3090"]),
    ("b200 nvl", ["b200", "h100_nvl", "h200_nvl"]),
]


@pytest.mark.parametrize(("name", "near"), SHIPPED_NAMES)
def test_near_names_share_the_telling_words(name: str, near: list[str]) -> None:
    assert named_alike(name, shipped_names()) == near


def test_gfx_targets_are_architectures() -> None:
    assert "mi300x" in of_architecture("gfx942", shipped_names())
    assert of_architecture("300", shipped_names()) == []


@cache
def shipped_names() -> tuple[ChipName, ...]:
    """All chips of the shipped wiki with their names."""
    chips = [page.chip for page in load_wiki([ROOT / "gpu-wiki"]).chips.values()]
    return tuple(
        ChipName(chip.id, chip.architecture, chip.arch, (chip.name, *chip.aliases))
        for chip in chips
    )


def test_rules_and_anti_strategies_are_evaluated(store: Store) -> None:
    bad = Rows(
        p={"load_bytes_per_sector_pct": 12.5, "load_sectors_per_request": 32.0, "l1_pct": 80.0},
        c={}, w={}, h={},
    )  # fmt: skip
    good = Rows(p={"load_bytes_per_sector_pct": 100.0}, c={}, w={}, h={})
    first, second = store.evaluate([bad, good])
    assert [result.id for result in first] == [rule.id for rule in store.rules()]
    assert {result.id: result.fired for result in first} == {
        "shared_bank_conflicts": None,
        "uncoalesced_global_load": True,
    }
    fired = next(result for result in first if result.fired)
    assert (fired.severity, fired.recoverable) == pytest.approx((0.875, 0.7))
    assert second[1].missing == ("p.load_sectors_per_request",)
    assert store.avoid([bad, good]) == [frozenset(), frozenset({"already_coalesced"})]


def test_search_finds_sections_with_their_place(store: Store) -> None:
    found = store.search("how many sectors does a request touch")
    assert found.mode == "bm25"
    assert "no embedding model" in found.note
    places = {hit.chunk.id for hit in found.results}
    assert "profiling/ncu.md:L3" in places
    assert [hit.chunk.kind for hit in store.search("bandwidth", kinds=["hardware"]).results]
    only = store.search("swizzle conflicts", language="triton", kinds=["method"], axis="memory")
    assert all("triton" in hit.chunk.languages for hit in only.results)
    assert store.search("sectors", arch="sm_80", kinds=["method"]).results == () or all(
        "sm_90a" not in hit.chunk.archs
        for hit in store.search("sectors", arch="sm_80", kinds=["method"]).results
    )


def test_a_row_of_a_spec_table_is_found_with_its_line(store: Store) -> None:
    (hit, *_) = store.search("SXM5 HBM3 memory_bandwidth", kinds=["spec"]).results
    assert hit.chunk.owner == "h100_sxm"
    assert hit.chunk.text.startswith("memory_bandwidth: 3.35 TB/s")


@pytest.mark.parametrize(
    "text", ['"(unbalanced AND *', "text:foo^2 ~1", "'; DROP", "?!", "ö é 漢字"]
)
def test_any_question_is_searched(store: Store, text: str) -> None:
    store.search(text)


def test_a_bad_question_is_refused(store: Store) -> None:
    with pytest.raises(UsageError):
        store.search("  ")
    with pytest.raises(UsageError):
        store.search("x", limit=0)
    with pytest.raises(UsageError):
        store.search("x", kinds=["a' OR 'b"])


def test_search_is_deterministic_and_ties_go_by_id(empty_home: Path, tmp_path: Path) -> None:
    same = {f"profiling/same_{n}.md": "# Same\n\nequal words here\n" for n in (3, 1, 2)}
    _ingest(empty_home, write_wiki(tmp_path / "w", same))
    with open_store(empty_home) as store:
        first = [hit.chunk.id for hit in store.search("equal words", limit=3).results]
        assert first == sorted(first)
        assert len(first) == 3
        assert store.search("equal words").results == store.search("equal words").results
        assert first[:2] == [hit.chunk.id for hit in store.search("equal words", limit=2).results]


def test_unchanged_is_found_out_without_heavy_imports(empty_home: Path, wiki_root: Path) -> None:
    _ingest(empty_home, wiki_root)
    code = (
        "import sys; from pathlib import Path; from kbs_ingest.store import ingest; "
        f"s = ingest(Path({str(empty_home)!r}), [Path({str(wiki_root)!r})], embedding_model='none'); "
        f"print(s.changed, s.seconds < 1, [m for m in {HEAVY!r} if m in sys.modules])"
    )
    assert _python(code) == "False True []"


def test_reading_and_evaluating_need_no_heavy_imports(empty_home: Path, wiki_root: Path) -> None:
    _ingest(empty_home, wiki_root)
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


def _python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": f"{ROOT / 'ingest'}:{ROOT / 'engine'}"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


def test_a_change_makes_a_new_generation(empty_home: Path, wiki_root: Path) -> None:
    _ingest(empty_home, wiki_root)
    (wiki_root / "profiling/ncu.md").write_text(GUIDE + "\n## More\nzebra stripes\n")
    with open_store(empty_home) as before:
        summary = ingest(empty_home, [wiki_root], embedding_model="none")
        assert (summary.changed, summary.generation) == (True, 2)
        assert not before.search("zebra stripes").results
    with open_store(empty_home) as after:
        assert after.search("zebra stripes").results[0].chunk.heading[-1] == "More"


def test_a_rebuild_answers_identically(empty_home: Path, wiki_root: Path) -> None:
    _write_outcomes(empty_home)
    _ingest(empty_home, wiki_root)
    with open_store(empty_home) as store:
        before = _everything(store)
    _ingest(empty_home, wiki_root, rebuild=True)
    with open_store(empty_home) as store:
        assert store.manifest.generation == 2
        assert _everything(store) == before


def test_a_faulty_wiki_stores_nothing(empty_home: Path, wiki_root: Path) -> None:
    _ingest(empty_home, wiki_root)
    (wiki_root / "symptoms/uncoalesced_global_load.yaml").write_text(
        UNCOALESCED.replace("< 70", "< nothing")
    )
    with pytest.raises(WikiError):
        _ingest(empty_home, wiki_root)
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


def _outcome(**changes: object) -> dict[str, object]:
    base: dict[str, object] = {
        "method": "coalesced_access", "verdict": "effective", "kernel": "transpose",
        "language": "cuda-cpp", "chip": "h100_sxm", "arch": "sm_90a", "correct": True,
        "integrity": True, "gain": 0.4,
        "metrics_before": dict.fromkeys(("dram_pct", "l2_pct", "l1_pct", "compute_pct", "memory_pct", "fma_pct", "alu_pct", "lsu_pct", "issue_active_pct"), 50.0),
    }  # fmt: skip
    return {**base, **changes}


def _write_outcomes(home: Path, name: str = "a", *records: dict[str, object] | str) -> None:
    folder = home / "experience"
    folder.mkdir(parents=True, exist_ok=True)
    lines = [r if isinstance(r, str) else json.dumps(r) for r in records or (_outcome(),)]
    with (folder / f"{name}.jsonl").open("a") as file:
        file.writelines(f"{line}\n" for line in lines)


def test_outcomes_are_read_and_bad_lines_told(empty_home: Path, wiki_root: Path) -> None:
    _write_outcomes(
        empty_home, "a", _outcome(), "{not json", _outcome(correct=False), _outcome(verdict="good"),
        {"kind": "mask", "targets": ["x"], "reason": "a test"}, _outcome(gain=0.1), "[1]",
    )  # fmt: skip
    _write_outcomes(empty_home, "b", _outcome(origin="another team"))
    summary = ingest(empty_home, [wiki_root], embedding_model="none")
    assert summary.counts["outcomes"] == 2
    assert [line.line for line in summary.bad_lines] == [2, 3, 4, 7]
    assert all(line.file == "experience/a.jsonl" for line in summary.bad_lines)
    with open_store(empty_home) as store:
        assert len({item.id for item in store.stored_outcomes()}) == 2
        assert all(isinstance(item, Outcome) for item in store.outcomes("coalesced_access"))
        assert len(store.bad_lines()) == 4
        assert not store.outcomes("smem_padding")


def test_newer_segments_are_read_without_an_ingest(empty_home: Path, wiki_root: Path) -> None:
    _write_outcomes(empty_home, "a", _outcome())
    _ingest(empty_home, wiki_root)
    _write_outcomes(empty_home, "a", _outcome(gain=0.2))
    _write_outcomes(empty_home, "b", _outcome(gain=0.3))
    with open_store(empty_home) as store:
        assert sorted(item.gain or 0 for item in store.outcomes()) == [0.2, 0.3, 0.4]
    (empty_home / "experience/a.jsonl").unlink()
    with open_store(empty_home) as store:
        assert [item.gain for item in store.outcomes()] == [0.3]


def test_similar_profiles_come_first(empty_home: Path, wiki_root: Path) -> None:
    metrics = _outcome()["metrics_before"]
    assert isinstance(metrics, dict)
    near, far = {**metrics, "dram_pct": 60.0}, {**metrics, "dram_pct": 95.0, "l2_pct": 0.0}
    few = {"dram_pct": 50.0}
    _write_outcomes(
        empty_home, "a", _outcome(gain=0.1, metrics_before=far),
        _outcome(gain=0.2, metrics_before=near), _outcome(gain=0.3, metrics_before=few),
    )  # fmt: skip
    _ingest(empty_home, wiki_root)
    with open_store(empty_home) as store:
        found = store.nearest_outcomes(metrics)
        assert [outcome.gain for outcome, _ in found] == [0.2, 0.1]
        assert found[0][1] == pytest.approx((0.1**2 / 9) ** 0.5, abs=1e-4)
        assert store.nearest_outcomes(few) == []


def test_no_index_yet_says_what_to_do(empty_home: Path) -> None:
    with pytest.raises(StoreError) as caught:
        open_store(empty_home)
    assert f"kbs --home {empty_home} ingest" in caught.value.remedy
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(("change", "word"), [(1, "newer"), (-1, "older")])
def test_another_schema_version(empty_home: Path, wiki_root: Path, change: int, word: str) -> None:
    _ingest(empty_home, wiki_root)
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
            _ingest(empty_home, wiki_root)
        _ingest(empty_home, wiki_root, rebuild=True)
    else:
        _ingest(empty_home, wiki_root)
    with open_store(empty_home) as store:
        assert store.manifest.generation == 2


@pytest.mark.parametrize("rebuild", [True, False])
@pytest.mark.parametrize("damage", ["pointer", "manifest", "database", "folder"])
def test_damage_is_told_and_an_ingest_heals_it(
    empty_home: Path, wiki_root: Path, damage: str, rebuild: bool
) -> None:
    _ingest(empty_home, wiki_root)
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
    _ingest(empty_home, wiki_root, rebuild=rebuild)
    with open_store(empty_home) as store:
        assert len(store.rules()) == 2


@pytest.mark.parametrize("lost", ["lance", "lance/chunks.lance", "kbs.duckdb", "manifest.json"])
def test_a_plain_ingest_sees_what_is_lost_and_builds_it_anew(
    empty_home: Path, wiki_root: Path, lost: str
) -> None:
    _ingest(empty_home, wiki_root)
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
    _ingest(empty_home, wiki_root)
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
    _ingest(home, wiki_root)
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
    _ingest(empty_home, wiki_root)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(build.tables, "write_tables", full)
    (wiki_root / "profiling/ncu.md").write_text(GUIDE + "more\n")
    with pytest.raises(StoreError, match="No space left on device") as caught:
        _ingest(empty_home, wiki_root)
    assert "nothing changed" in caught.value.message
    assert sorted(path.name for path in (empty_home / "index").glob("gen-*")) == ["gen-000001"]
    with open_store(empty_home) as store:
        assert len(store.rules()) == 2


def test_a_home_that_cannot_be_written(tmp_path: Path, wiki_root: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError) as caught:
        _ingest(tmp_path / "file" / "home", wiki_root)
    assert "--home or KBS_HOME" in caught.value.remedy
    assert caught.value.exit_code == 2

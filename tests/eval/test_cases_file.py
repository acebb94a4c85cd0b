"""The shipped evaluation cases: their form, their spread, and no label in any question."""

from __future__ import annotations

import hashlib
import re
from collections import Counter

import pytest
import yaml

from kbs_ingest.case_file import read_eval_cases
from tests.conftest import ROOT, WIKI
from tests.wiki.test_cases import enumeration
from tests.wiki.test_registry import table_ids

CASES = ROOT / "tests/eval/recommend_cases.yaml"
FIELDS = {
    "id", "kernel", "backend", "gpu", "symptoms", "worked", "did_not_work", "reference", "split",
}  # fmt: skip
THREAD = re.compile(r"https://github\.com/([\w.-]+/[\w.-]+)/(?:pull|issues)/(\d+)")
# What a launch or a clock says; everything else is a counter.
NOT_COUNTERS = {
    "duration_ns", "call_time_ns", "grid_size", "block_size", "sm_count", "kernel_count",
    "time_share", "Grid Size", "Workgroup Size", "gputime",
}  # fmt: skip
# Words that would give a method away although its id is spelled otherwise.
HINTS = {
    "smem_padding": r"\bpad(s|ding)?\b",
    "smem_swizzle": r"swizzl|\bxor\b",
    "loop_unrolling": r"unroll",
    "kernel_fusion": r"\bfus(e|es|ing|ion)\b",
    "epilogue_fusion": r"\bfus(e|es|ing|ion)\b",
    "vectorized_access": r"vectori[sz]|float4|\b128-bit|\b16 bytes",
    "coalesced_access": r"coalesc",
    "shared_transpose": r"through shared|stage",
    "data_layout_change": r"structure of arrays|\bsoa\b|re-?layout",
    "privatized_atomics": r"privati[sz]",
    "warp_shuffle_reduction": r"shuffle|shfl",
    "warp_shuffle_exchange": r"shuffle|shfl",
    "occupancy_tuning_registers": r"launch.?bounds|maxr?reg",
    "software_pipelining": r"pipelin",
    "more_pipeline_stages": r"more stages|num_stages",
    "persistent_kernel": r"persistent",
    "stream_k": r"stream-?k",
    "split_k": r"split-?k\b",
    "split_kv": r"split-?kv",
    "cuda_graph": r"graph (replay|capture|launch)",
    "tf32_precision": r"tf32",
    "avoid_fp64": r"fp64|\bfloat32\b",
    "load_balancing": r"balanc",
    "single_pass_algorithm": r"single pass|one pass|online",
    "thread_coarsening": r"coarsen",
    "warp_specialization": r"speciali[sz]|producer",
    "flash_attention": r"flash",
    "instruction_cache_fit": r"instruction cache|i-?cache",
    "streaming_stores": r"nontemporal|non-temporal|\bstcs\b|streaming",
    "recompute_instead_of_load": r"recomput|direct evaluation",
    "index_width_reduction": r"32-bit ind|int32 ind",
}


@pytest.fixture(scope="module")
def cases() -> list[dict]:
    return yaml.safe_load(CASES.read_text(encoding="utf-8"))


def test_the_reader_takes_them_all(cases, wiki):
    read = read_eval_cases(CASES, wiki.methods)
    assert [case.id for case in read] == [case["id"] for case in cases]


def test_fields_families_languages_and_methods_are_known(cases):
    families, methods = enumeration("kernel family"), set(table_ids("Methods"))
    languages = enumeration("language") - {"cuda-cpp"} | {"cuda"}
    for case in cases:
        assert set(case) == FIELDS, case["id"]
        assert re.fullmatch(r"[a-z][a-z0-9_]+", case["id"]), case["id"]
        assert case["kernel"] in families, case["id"]
        assert case["backend"] in languages, case["id"]
        assert set(case["worked"]) | set(case["did_not_work"]) <= methods, case["id"]
        assert case["worked"] or case["did_not_work"], case["id"]
        assert not set(case["worked"]) & set(case["did_not_work"]), case["id"]
        assert len(case["symptoms"]["text"]) >= 60, case["id"]


def test_every_case_says_where_it_was_published(cases):
    for case in cases:
        assert set(case["reference"]) == {"title", "url", "locator"}, case["id"]
        assert all(case["reference"].values()), case["id"]
        assert case["reference"]["url"].startswith("https://"), case["id"]
        thread = THREAD.fullmatch(case["reference"]["url"])
        if thread:
            assert f"#{thread[2]}" in case["reference"]["locator"], case["id"]


def test_there_are_enough_and_they_are_spread(cases):
    counters = [set(case["symptoms"]) - {"text"} - NOT_COUNTERS for case in cases]
    words = [case for case in cases if set(case["symptoms"]) == {"text"}]
    assert len(cases) >= 66
    assert sum(map(bool, counters)) >= 20
    assert len(words) >= 20
    assert sum(not case["worked"] for case in cases) >= 8
    assert len({case["kernel"] for case in cases}) >= 14
    assert len({name for case in cases for name in case["worked"]}) >= 40


def test_no_question_names_its_remedy(cases):
    for case in cases:
        text = case["symptoms"]["text"].lower()
        for name in [*case["worked"], *case["did_not_work"]]:
            spelled = re.escape(name).replace("_", r"[\s_-]")
            assert not re.search(spelled, text), (case["id"], name)
            if name in HINTS:
                assert not re.search(HINTS[name], text), (case["id"], name)


def test_no_source_is_one_of_the_wiki(cases):
    wiki = "".join(
        path.read_text(encoding="utf-8") for path in sorted((WIKI / "cases").glob("*.yaml"))
    )
    threads = set(THREAD.findall(wiki))
    pages = set(re.findall(r"https://[^\s\",}]+", wiki))
    for case in cases:
        url = case["reference"]["url"]
        assert url.rstrip("/") not in {page.rstrip("/") for page in pages}, case["id"]
        assert not threads & set(THREAD.findall(url)), case["id"]


def test_the_first_splits_follow_from_the_id(cases):
    first = [case for case in cases if case["split"] != "test2"]
    for case in first:
        digit = hashlib.sha256(case["id"].encode()).hexdigest()[2]
        assert case["split"] == ("dev" if digit < "8" else "test"), case["id"]
    halves = Counter(case["split"] for case in first)
    assert min(halves.values()) >= 0.45 * len(first)


def test_the_last_split_is_of_its_own_sources(cases):
    urls = {name: set() for name in ("dev", "test", "test2")}
    for case in cases:
        urls[case["split"]].add(case["reference"]["url"])
    assert not urls["test2"] & (urls["dev"] | urls["test"])
    last = [case for case in cases if case["split"] == "test2"]
    assert len(last) >= 60
    assert sum(not case["worked"] for case in last) >= 8

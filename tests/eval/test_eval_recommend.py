"""`kbs eval recommend`: figures worked out by hand, labels that never leak, bad files."""

from __future__ import annotations

from datetime import date

import msgspec
import pytest

from kbs.evaluating import (
    ABLATION,
    _same_source,
    advise,
    evaluate_recommend,
    of_split,
    plain_query,
)
from kbs.partial import Advisor, Asked
from kbs_engine.errors import InputError, UsageError
from kbs_engine.evaluation.cases import Labels, Question, most_frequent
from kbs_engine.evaluation.recommendation import first_hit, near, score
from kbs_ingest.case_file import read_eval_cases
from kbs_ingest.case_questions import SHORTEST, published_questions

GROUPS = (frozenset({"b", "b2"}), frozenset({"b2", "b3"}))
DAY = date(2026, 1, 31)


def labels(*worked, bad=()):
    return Labels(worked=worked, did_not_work=tuple(bad))


def test_scores_by_hand():
    rows = [
        labels("a", bad=["x"]),  # first; x in the first three
        labels("b", "c", bad=["y", "z"]),  # third: 1/3; y is fourth
        labels("b"),  # b2 stands first: only relaxed
        labels("d"),  # fifth: 1/5
        labels("e"),  # never
        labels(bad=["x"]),  # nothing helped; not in the list
    ]
    rankings = [
        ["a", "x"],
        ["p", "q", "c", "y"],
        ["b2", "p"],
        ["p", "q", "r", "s", "d"],
        ["p"],
        [],
    ]
    found = score(rows, rankings, GROUPS, best_scores=[0.3, 0.3, 0.04, 0.05, 0.3, 0.0], bar=0.05)
    assert found.recall_at_1 == pytest.approx(1 / 5)
    assert found.recall_at_3 == pytest.approx(2 / 5)
    assert found.recall_at_5 == pytest.approx(3 / 5)
    assert found.mrr == pytest.approx((1 + 1 / 3 + 0 + 1 / 5 + 0) / 5)
    assert found.recall_at_1_relaxed == pytest.approx(2 / 5)
    assert found.recall_at_3_relaxed == pytest.approx(3 / 5)
    assert found.recall_at_5_relaxed == pytest.approx(4 / 5)
    assert found.bad_in_top3 == pytest.approx(1 / 4)
    assert found.stops_right == 1.0
    assert found.stops_wrongly == pytest.approx(1 / 5)


def test_nothing_asked_is_no_figure():
    found = score([], [], ())
    assert set(msgspec.structs.astuple(found)) == {None}


def test_near_equivalents_do_not_chain_beyond_their_group():
    assert near(["b"], GROUPS) == {"b", "b2"}
    assert near(["b2"], GROUPS) == {"b", "b2", "b3"}
    assert near(["a"], GROUPS) == {"a"}
    assert first_hit(["x", "b2"], near(["b"], GROUPS)) == 2


def test_the_most_frequent_methods_leave_the_case_itself_out():
    rows = [labels("a", "b"), labels("a"), labels("b", "b"), labels("c")]
    found = most_frequent(rows)
    assert found[0] == ("a", "b", "c")  # one each: by name
    assert found[1] == ("b", "a", "c")
    assert found[3] == ("a", "b")


# ---------------------------------------------------------------- files
CASES = """- id: stores_walk_columns
  kernel: transpose
  backend: cuda
  gpu: h100_sxm
  symptoms:
    store_sectors_per_request: 32
    store_bytes_per_sector_pct: 12.5
    text: every warp writes down a column, the stores are uncoalesced
  worked: [shared_transpose, coalesced_access]
  did_not_work: [loop_unrolling]
  reference: a note
  split: test
- id: conflicts
  kernel: reduction
  backend: cuda-cpp
  gpu: A100
  symptoms: {"Stall Short Scoreboard": 9.1, text: "8-way bank conflicts in shared memory"}
  worked: [smem_padding]
- id: at_the_roof
  kernel: softmax
  backend: triton
  gpu: NVIDIA H100 80GB HBM3
  symptoms: {dram_throughput_pct: 93, text: already at 93 % of peak bandwidth}
  worked: []
  split: dev
"""


def write(tmp_path, text=CASES):
    path = tmp_path / "cases.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def advisor(store):
    return Advisor(store)


@pytest.fixture
def known(store):
    return {method.id for method in store.methods()}


def test_cases_are_read(tmp_path, known):
    cases = read_eval_cases(write(tmp_path), known)
    first = cases[0]
    assert (first.id, first.line) == ("stores_walk_columns", 1)
    assert first.question.family == "transpose"
    assert first.question.language == "cuda-cpp"
    assert first.question.metrics["store_sectors_per_request"] == 32.0
    assert first.labels.worked == ("shared_transpose", "coalesced_access")
    assert [case.id for case in of_split(cases, "dev")] == ["at_the_roof"]
    assert len(of_split(cases, None)) == 3
    with pytest.raises(UsageError, match="dev, test"):
        of_split(cases, "train")


BAD = {
    "empty": ("", 1, "no list"),
    "a mapping": ("a: 1\n", 1, "no list"),
    "no id": ("- kernel: gemm\n  worked: []\n", 1, "no id"),
    "no worked": ("- id: a\n- id: b\n", 1, "worked"),
    "unknown method": ("- id: a\n  worked:\n    - smem_paddin\n", 3, "near: smem_padding"),
    "unknown bad": ("- id: a\n  worked: []\n  did_not_work: [nothing_known]\n", 3, "no method"),
    "worked a word": ("- id: a\n  worked: smem_padding\n", 2, "no list"),
    "both": (
        "- id: a\n  worked: [smem_padding]\n  did_not_work: [smem_padding]\n", 3, "did not",
    ),
    "twice": ("- id: a\n  worked: []\n- id: a\n  worked: []\n", 3, "given twice"),
    "symptoms a list": ("- id: a\n  worked: []\n  symptoms: [x]\n", 3, "no mapping"),
    "nested": ("- id: a\n  worked: []\n  symptoms:\n    dram_pct: [1]\n", 4, "not a number"),
    "not finite": ("- id: a\n  worked: []\n  symptoms:\n    dram_pct: .nan\n", 4, "not a number"),
    "kernel a list": ("- id: a\n  worked: []\n  kernel: [x]\n", 3, "not words"),
    "no yaml": ("- id: {\n", 2, "YAML"),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(BAD))
def test_a_malformed_file_is_refused_with_its_line(tmp_path, known, name):
    text, line, words = BAD[name]
    path = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read_eval_cases(path, known)
    assert caught.value.where == f"{path}:{line}"
    assert words in caught.value.message
    assert caught.value.remedy


def test_labels_reference_split_and_unknown_keys_change_no_recommendation(tmp_path, known, advisor):
    other = (
        CASES.replace("id: conflicts", "id: renamed\n  hint: use smem_swizzle")
        .replace("worked: [smem_padding]", "worked: [cuda_graph]\n  did_not_work: [smem_padding]")
        .replace("worked: [shared_transpose, coalesced_access]", "worked: []")
        .replace("reference: a note", "reference: privatized_atomics solved it")
        .replace("split: test", "split: dev")
    )
    assert other.count("cuda_graph") == 1
    before = read_eval_cases(write(tmp_path), known)
    after = read_eval_cases(write(tmp_path, other), known)
    for one, two in zip(before, after, strict=True):
        assert one.question == two.question
        assert plain_query(one.question) == plain_query(two.question)
        for parts in ABLATION.values():
            assert advise(one.question, advisor, DAY, parts) == advise(
                two.question, advisor, DAY, parts
            )


def test_the_question_holds_no_label():
    asked = {field.name for field in msgspec.structs.fields(Question)}
    assert not asked & ({field.name for field in msgspec.structs.fields(Labels)} | {"id"})


def test_small_cases_are_answered(tmp_path, known, store):
    cases = read_eval_cases(write(tmp_path), known)
    found = evaluate_recommend(cases, store, as_of=DAY, bar=0.05)
    ours = found.scores["ours"]
    assert ours.recall_at_3_relaxed == 1.0
    assert ours.stops_right == 1.0
    assert ours.stops_wrongly == 0.0
    assert found.scores["vector"] is None
    assert "no vector baseline" in found.notes[0]
    assert set(found.ablation) == {"rules_only", "retrieval_only", "experience_only", "all"}
    assert found.ablation["experience_only"].recall_at_5 == 1.0  # published cases alone
    assert {"bm25", "bm25_sayings", "frequent"} <= set(found.scores)


@pytest.mark.sweep
def test_the_command(kbs, tmp_path):
    path = write(tmp_path)
    ran = kbs("eval", "recommend", path, "--json", "--as-of", "2026-01-31")
    assert ran.code == 0, ran.err
    found = ran.json
    keys = {
        "recall_at_1",
        "recall_at_3",
        "recall_at_5",
        "mrr",
        "recall_at_3_relaxed",
        "bad_in_top3",
    }
    for name in ("ours", "bm25", "frequent"):
        assert keys <= set(found[name])
    assert found["vector"] is None
    assert found["counts"] == {"cases": 3, "with_a_fix": 2, "nothing_helped": 1}
    assert found["cases"][0]["id"] == "stores_walk_columns"
    assert found["cases"][0]["recommended"]["ours"]
    assert found["cases"][0]["recommended"]["bm25"]
    table = kbs("eval", "recommend", path, "--split", "dev")
    assert table.code == 0, table.err
    assert "0 cases with a fix, 1 where nothing helped" in table.out
    assert kbs("eval", "recommend", path, "--split", "none").code == 2


def test_published_cases_are_asked_without_what_tells_the_remedy(store):
    titles = {row.id: row.title for row in store.methods()}
    questions = {case.id: case for case in published_questions(store.cases(), titles)}
    assert len(questions) >= 100
    raw = {case.id: case.raw for case in store.cases()}
    for name, case in questions.items():
        assert len(case.question.text) >= SHORTEST
        assert set(case.labels.worked) | set(case.labels.did_not_work) <= set(raw[name]["methods"])
        assert bool(case.labels.worked) == (raw[name]["verdict"] == "helped")
    padded = questions["bpg_matmul_aat_padding"].question.text
    assert "bank" in padded
    assert "padding" not in padded


def test_a_question_from_a_published_case_does_not_hear_its_source(store):
    titles = {row.id: row.title for row in store.methods()}
    questions = published_questions(store.cases(), titles)
    one = next(case for case in questions if case.id == "bpg_matmul_aat_padding")
    asked = Asked(text=one.question.text, kernel=one.question.kernel)
    loud = Advisor(store).ask(asked).hints["smem_padding"]
    quiet = Advisor(store, without=_same_source(questions)).ask(asked).hints["smem_padding"]
    sources = {case.id: case.raw["reference"]["url"] for case in store.cases()}
    assert one.labels.reference in {sources[name] for name in loud.read}
    assert one.labels.reference not in {sources[name] for name in quiet.read}


def test_leave_one_out_takes_no_file(kbs_here, tmp_path):
    for arguments in (
        [],
        [write(tmp_path), "--leave-one-out"],
        ["--leave-one-out", "--split", "x"],
    ):
        ran = kbs_here("eval", "recommend", *arguments, "--json")
        assert ran.code == 2
        assert "--leave-one-out" in ran.error["message"]


def test_an_unknown_method_reaches_the_user(kbs_here, tmp_path):
    path = write(tmp_path, "- id: a\n  worked: [magic]\n")
    ran = kbs_here("eval", "recommend", path, "--json")
    assert ran.code == 2
    assert ran.error["where"] == f"{path}:2"

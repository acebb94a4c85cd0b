"""words.yaml: read, searched, and refused where it names what nobody defines."""

from __future__ import annotations

import shutil

import pytest

from kbs_engine.errors import WikiError
from kbs_ingest.retrieval import Retrieval
from kbs_ingest.wiki.load import load_wiki
from tests.conftest import WIKI


def test_every_symptom_and_method_has_sayings(wiki):
    said = {(chunk.kind, chunk.owner) for chunk in wiki.chunks if chunk.kind.endswith("_words")}
    assert {name for kind, name in said if kind == "symptom_words"} == set(wiki.rules)
    assert {name for kind, name in said if kind == "method_words"} == set(wiki.methods)


def test_a_saying_is_cited_at_its_line(wiki):
    chunk = next(c for c in wiki.chunks if (c.kind, c.owner) == ("method_words", "split_k"))
    lines = (WIKI / "words.yaml").read_text(encoding="utf-8").splitlines()
    assert lines[chunk.line - 1] == "  split_k:"


def test_sayings_are_found(store):
    search = Retrieval(store)
    found = search.near_words("registers spill, stack frame reported by ptxas", "symptom_words")
    assert max(found, key=lambda name: found[name]) == "register_spills"
    assert max(found.values()) == 1.0
    assert search.near_words("", "symptom_words") == {}
    assert search.near_meaning("anything", "symptom_words") == {}  # no model in this index
    hits = store.search("stack frame reported by ptxas", kinds=("symptom_words",)).results
    assert hits[0].chunk.owner == "register_spills"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("methods:\n  split_kk: [slow]\n", "split_kk"),
        ("symptoms:\n  nothing_known: [slow]\n", "nothing_known"),
        ("methods:\n  split_k: []\n", "no sayings"),
        ("methods:\n  split_k: [slow, slow]\n", "twice"),
        ("methods:\n  split_k: ['']\n", "0 characters"),
        (f"methods:\n  split_k: [{'x' * 161}]\n", "161 characters"),
        ("method:\n  split_k: [slow]\n", "method"),
    ],
)
def test_a_bad_file_is_refused(tmp_path, text, words):
    team = tmp_path / "team"
    shutil.copytree(WIKI / "metrics", team / "metrics")
    (team / "words.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(WikiError, match=words):
        load_wiki([WIKI, team])


def test_a_team_adds_its_own_sayings(tmp_path):
    team = tmp_path / "team"
    shutil.copytree(WIKI / "metrics", team / "metrics")
    (team / "words.yaml").write_text("methods:\n  split_k: [flux compensator]\n", encoding="utf-8")
    chunks = load_wiki([WIKI, team]).chunks
    found = [c for c in chunks if (c.kind, c.owner) == ("method_words", "split_k")]
    assert len(found) == 2

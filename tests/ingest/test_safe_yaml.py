"""YAML without surprises."""

from __future__ import annotations

import pytest

from kbs_engine.errors import InputError, WorkError
from kbs_ingest.safe_yaml import load


def test_values_and_lines():
    document, lines = load("a: 1\nb:\n  0: [x, 1e9]\n  c: {d: 'no'}\n", "f")
    assert document == {"a": 1, "b": {0: ["x", 1e9], "c": {"d": "no"}}}
    assert lines["a",] == 1
    assert lines["b", 0, 1] == 3
    assert lines["b", "c", "d"] == 4


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"), ("on", "on"), ("2025-01-01", "2025-01-01"), ("12:30", "12:30"),
        ("1e9", 1e9), ("1_000", "1_000"), ("0x10", 16), ("017", 17), ("~", None), ("", None),
        ("true", True), ("'1'", "1"), (".5", 0.5), ("1e999", "1e999"), ("- a\n- b", ["a", "b"]),
    ],
)  # fmt: skip
def test_scalars_mean_what_they_look_like(text, value):
    document, _ = load(text, "f")
    assert document == value
    assert type(document) is type(value)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: 1\nb: 2\na: 3", 3, "given twice, first on line 1"),
        ("a: 1\n1: 2\n1: 3", 3, "given twice"),
        ("a: &x 1", 1, "anchor"), ("a: [1]\nb: *x", 2, "alias"), ("a: !!int 1", 1, "tag"),
        ("!python/object:os.system {}", 1, "tag"), ("<<: {a: 1}", 1, "key"),
        ("? [1, 2]\n: 3", 1, "key"), ("a: 1\n---\nb: 2", 2, "second document"),
        ("a: [1", 2, "not valid YAML"), ("a: b: c", 1, "not valid YAML"),
        ("a: 1\nb: \x01", 2, "not valid YAML"), ("[" * 60, 1, "nested"), ("1.5: a", 1, "key"),
        ("x" * 5_000_000, 1, "larger"),
    ],
)  # fmt: skip
def test_refused_with_the_line(text, line, message):
    with pytest.raises(InputError, match=message) as caught:
        load(text, "f.yaml")
    assert caught.value.where == f"f.yaml:{line}"
    assert caught.value.remedy


def test_front_matter_keeps_the_lines_of_its_file():
    _, lines = load("kind: method\nid: x\n", "page.md", first_line=2)
    assert lines["id",] == 3
    with pytest.raises(WorkError, match="given twice, first on line 2") as caught:
        load("a: 1\na: 2\n", "page.md", error=WorkError, first_line=2)
    assert caught.value.where == "page.md:3"

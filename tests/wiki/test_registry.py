"""Vocabulary and wiki agree in both directions."""

from __future__ import annotations

import re

from tests.conftest import ROOT, WIKI

VOCABULARY = (ROOT / "docs/vocabulary.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return VOCABULARY.split(f"## {title}\n")[1].split("\n## ")[0]


def table_ids(title: str) -> dict[str, str]:
    """Ids of the first column with the second column, also where two share a row."""
    found = {}
    for line in section(title).splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        names = re.fullmatch(r"`\w+`(, `\w+`)*", cells[0]) if len(cells) > 2 else None
        if names:
            found.update(dict.fromkeys(re.findall(r"\w+", cells[0]), cells[1]))
    return found


def test_every_symptom_has_its_rule_and_every_rule_its_symptom(wiki):
    wanted = table_ids("Symptoms")
    assert {rule.id for rule in wiki.rules.values()} == set(wanted)
    for rule in wiki.rules.values():
        axis = wanted[rule.id]
        assert rule.axis == ("none" if axis == "–" or rule.id.startswith("at_") else axis)


def test_every_method_has_its_page_and_every_page_its_method(wiki):
    wanted = table_ids("Methods")
    assert len(wanted) >= 100
    assert {method.id for method in wiki.methods.values()} == set(wanted)
    for method in wiki.methods.values():
        assert method.axis == wanted[method.id]
        assert (WIKI / "methods" / method.axis / f"{method.id}.md").is_file()


def test_every_method_names_the_languages_of_the_vocabulary(wiki):
    letters = {"C": "cuda-cpp", "T": "triton", "X": "cutlass", "D": "cute-dsl", "H": "hip"}
    rows = re.findall(r"^\| `(\w+)` \| \w+ \| ([CTXDH]+) \|", section("Methods"), re.MULTILINE)
    by_id = wiki.methods
    for name, backends in rows:
        named = {letters[letter] for letter in backends}
        assert named <= {*by_id[name].languages}, name


def test_near_equivalents_are_the_groups(wiki):
    lines = [line for line in section("Near-equivalents").splitlines() if line.startswith("- ")]
    wanted = {frozenset(re.findall(r"`(\w+)`", line)) for line in lines}
    assert {frozenset(group) for group in wiki.groups} == wanted


def test_every_symptom_is_addressed_by_a_method_or_is_a_finding(wiki):
    addressed = {symptom for method in wiki.methods.values() for symptom in method.addresses}
    unaddressed = {rule.id for rule in wiki.rules.values() if rule.axis != "none"} - addressed
    assert unaddressed <= {"clock_throttled"}


def test_every_canonical_metric_of_the_vocabulary_can_be_read(wiki):
    named = set(
        re.findall(r"`(\w+)`", section("Canonical metrics (core; more as rules need them)"))
    )
    stalls = set(re.findall(r"`(\w+)`", VOCABULARY.split("| stalls |")[1].split("\n")[0]))
    reasons = {f"stall_{name}" for name in stalls if not name.startswith("stall_")}
    known = set(wiki.metric_maps["nvidia"].metrics)
    missing = (named - stalls - {"_pct", "nan"}) | reasons
    missing -= known
    assert {name for name in missing if not name.startswith("opcode_")} == set()


def test_the_shipped_wiki_has_the_first_chips(wiki):
    ids = set(wiki.chips)
    assert ids >= {
        "h100_sxm", "h100_pcie", "h200_sxm", "a100_sxm_80gb", "l40s", "rtx_4090", "b200", "mi300x",
    }  # fmt: skip

"""Published cases: known ids, a reference each, and effects that agree with themselves."""

from __future__ import annotations

import re
from collections import Counter
from decimal import Decimal

import pytest

from tests.conftest import ROOT, WIKI
from tests.wiki.test_registry import VOCABULARY, table_ids

FIELDS = {
    "id", "title", "kernel", "language", "gpu", "chip", "arch", "symptoms", "evidence", "metrics",
    "methods", "effect", "verdict", "reference", "notes",
}  # fmt: skip
EFFECT = {"before", "after", "unit", "speedup"}
TIME_UNITS = {"ns", "us", "ms", "s", "time (unit not printed)"}
RATE_UNITS = {
    "GB/s", "GiB/s", "TB/s", "GFLOP/s", "TFLOPS", "tokens/s", "queries/s",
    "of the vendor kernel", "rate (unit not printed)",
}  # fmt: skip
VERDICTS = {"helped": (1.0, 1e9), "no_effect": (0.95, 1.05), "hurt": (0.0, 1.0)}
THREAD = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+/(?:pull|issues)/\d+")


def enumeration(name: str) -> set[str]:
    """The values of one row of the vocabulary's first table."""
    row = next(line for line in VOCABULARY.splitlines() if line.startswith(f"| {name} |"))
    return set(re.findall(r"`([\w-]+)`", row.split("|")[2]))


def ratio(effect: dict) -> float | None:
    """How many times as fast by the two numbers, None where they are not both stated."""
    before, after = effect["before"], effect["after"]
    if before is None or after is None:
        return None
    return before / after if effect["unit"] in TIME_UNITS else after / before


def rounding(speedup: float) -> float:
    """Half of the last digit in which the source states a speedup."""
    return 0.5 * 10.0 ** int(Decimal(str(speedup)).as_tuple().exponent)


@pytest.fixture(scope="module")
def cases(wiki):
    return [case.raw for case in wiki.cases.values()]


def test_there_are_enough_cases_and_enough_that_failed(cases):
    verdicts = Counter(case["verdict"] for case in cases)
    assert len(cases) >= 100
    assert verdicts["no_effect"] + verdicts["hurt"] >= 15
    assert verdicts["helped"] > 0


def test_ids_are_unique_over_all_files():
    ids = Counter(
        found
        for path in sorted((WIKI / "cases").glob("*.yaml"))
        for found in re.findall(r"^ *- id: (\w+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert [id_ for id_, count in ids.items() if count > 1] == []


def test_every_case_has_all_fields_and_no_others(cases):
    for case in cases:
        assert set(case) == FIELDS, case["id"]
        assert set(case["effect"]) - {"at"} == EFFECT, case["id"]
        assert len(case["evidence"]) >= 40, case["id"]


def test_symptoms_methods_and_metrics_are_known(cases, wiki):
    symptoms, methods = set(table_ids("Symptoms")), set(table_ids("Methods"))
    metrics = {name for part in wiki.metric_maps.values() for name in part.metrics}
    for case in cases:
        assert set(case["symptoms"]) <= symptoms, case["id"]
        assert case["methods"], case["id"]
        assert set(case["methods"]) <= methods, case["id"]
        assert set(case["metrics"]) <= metrics, case["id"]
        for names in (case["symptoms"], case["methods"]):
            assert len(names) == len(set(names)), case["id"]


def test_families_and_languages_are_known(cases):
    families, languages = enumeration("kernel family"), enumeration("language")
    for case in cases:
        assert case["kernel"] in families, case["id"]
        assert case["language"] in languages, case["id"]


def test_a_chip_is_in_the_wiki_and_has_that_architecture(cases, wiki):
    for case in cases:
        assert case["gpu"], case["id"]
        if case["chip"] is not None:
            assert case["chip"] in wiki.chips, case["id"]
            assert case["arch"] == wiki.chips[case["chip"]].chip.arch, case["id"]


def test_every_case_says_where_it_was_published(cases):
    for case in cases:
        reference = case["reference"]
        assert set(reference) == {"title", "url", "repository", "locator"}, case["id"]
        assert reference["url"].startswith("https://"), case["id"]
        assert reference["title"], case["id"]
        assert reference["locator"], case["id"]
        if THREAD.fullmatch(reference["url"]):
            owner_and_name, kind, number = (
                reference["url"].removeprefix("https://github.com/").rsplit("/", 2)
            )
            assert owner_and_name == reference["repository"], case["id"]
            word = "PR" if kind == "pull" else "issue"
            assert reference["locator"].startswith(f"{word} #{number}"), case["id"]


def test_effects_state_a_speedup_or_two_numbers_with_a_unit(cases):
    for case in cases:
        effect = case["effect"]
        stated = ratio(effect)
        assert stated is not None or effect["speedup"] is not None, case["id"]
        assert (effect["before"] is None) == (effect["after"] is None), case["id"]
        if stated is None:
            assert effect["unit"] is None, case["id"]
        else:
            assert effect["unit"] in TIME_UNITS | RATE_UNITS, case["id"]


def test_a_published_speedup_agrees_with_the_published_numbers(cases):
    for case in cases:
        effect = case["effect"]
        stated = ratio(effect)
        if stated is not None and effect["speedup"] is not None:
            allowed = max(0.02 * effect["speedup"], rounding(effect["speedup"]))
            assert stated == pytest.approx(effect["speedup"], abs=allowed), case["id"]


def test_verdicts_agree_with_the_numbers(cases):
    for case in cases:
        effect = case["effect"]
        gain = ratio(effect) or effect["speedup"]
        low, high = VERDICTS[case["verdict"]]
        assert low <= gain <= high, case["id"]
        if case["verdict"] != "no_effect":
            assert gain != pytest.approx(1.0), case["id"]


def test_no_evaluation_case_comes_from_a_published_case(cases):
    """What is searched and cited must not be what recommendation is scored on."""
    known = {case["reference"]["url"] for case in cases if THREAD.match(case["reference"]["url"])}
    evaluation = ROOT / "tests/eval"
    for path in sorted(evaluation.rglob("*")) if evaluation.is_dir() else []:
        if path.suffix in {".yaml", ".yml", ".json"}:
            found = set(THREAD.findall(path.read_text(encoding="utf-8")))
            assert not found & known, path


def test_the_id_of_a_case_that_lost_says_so(cases):
    endings = {"hurt": "_hurt", "no_effect": "_no_effect"}
    for case in cases:
        lost = next((end for end in endings.values() if case["id"].endswith(end)), None)
        assert endings.get(case["verdict"]) == lost, case["id"]

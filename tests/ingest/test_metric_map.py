"""The metric maps: format, and what the shipped ones must hold."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from kbs_engine.errors import WikiError
from kbs_ingest.metric_map import load_metric_map

ROOT = Path(__file__).resolve().parents[2]
MAPS = ROOT / "gpu-wiki/metrics"
HEAD = "vendor: nvidia\nmetrics:\n  x_pct:\n"


def load(tmp_path, text):
    path = tmp_path / "m.yaml"
    path.write_text(text)
    return load_metric_map(path)


@pytest.fixture(scope="module")
def nvidia():
    return load_metric_map(MAPS / "nvidia.yaml")


def vocabulary():
    """Canonical metrics of docs/vocabulary.md."""
    text = (ROOT / "docs/vocabulary.md").read_text(encoding="utf-8")
    table = text.split("## Canonical metrics")[1].split("\n## ")[0]
    names = set()
    for row in table.splitlines():
        if row.startswith("| stalls"):
            reasons = row.split(":", 1)[1]
            names |= {f"stall_{one}" for one in re.findall(r"`([a-z_]+)`", reasons)}
        elif row.startswith("|"):
            names |= set(re.findall(r"`([a-z0-9_]+)`", row))
    return names


def test_every_canonical_metric_has_a_counter(nvidia):
    words = vocabulary()
    assert len(words) > 60
    assert words - nvidia.metrics.keys() == set()


def test_labels_stand_for_one_counter_in_a_section(nvidia):
    owners = defaultdict(set)
    for rule in nvidia.metrics.values():
        for label in rule.labels:
            owners[label.casefold(), rule.section, rule.unit].add(rule.names[0])
    assert {key: names for key, names in owners.items() if len(names) > 1} == {}


def test_every_rule_explains_itself_and_names_its_section(nvidia):
    for name, rule in nvidia.metrics.items():
        assert len(rule.description) > 8, name
        assert rule.section, name


@pytest.mark.parametrize("vendor", ["nvidia", "amd"])
def test_shipped_maps_load(vendor):
    assert load_metric_map(MAPS / f"{vendor}.yaml").vendor == vendor


def test_terms_may_be_a_name_or_alternatives(tmp_path):
    rule = load(tmp_path, HEAD + "    {unit: pct, description: d, ratio: [a, [b, c]]}\n")
    assert rule.metrics["x_pct"].ratio == (("a",), ("b", "c"))


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("vendor: nvidia\n", 1, "keys"),
        ("vendor: intel\nmetrics: {a: {}}\n", 1, "nvidia or amd"),
        ("vendor: amd\nmetrics: {}\n", 2, "no metrics"),
        (HEAD + "    {unit: pct, description: d}\n", 3, "no vendor metric"),
        (HEAD + "    {unit: mile, description: d, names: [a]}\n", 3, "mile"),
        (HEAD + "    {unit: pct, names: [a]}\n", 3, "description"),
        (HEAD + "    {unit: pct, description: d, names: a}\n", 3, "x_pct"),
        (HEAD + "    {unit: pct, description: d, nmes: [a]}\n", 3, "nmes"),
        (HEAD + "    unit: ns\n    description: d\n    names: [a]\n", 4, "unit is ns"),
        (HEAD + "    {unit: pct, description: d, ratio: [a]}\n", 4, "two terms"),
        (HEAD + "    {unit: pct, description: d, max: [a], labels: [L]}\n", 4, "labels"),
        (HEAD + "    {unit: pct, description: d, names: [a], min_arch: 90, max_arch: 80}\n",
         3, "min_arch"),
        ("vendor: amd\nmetrics: {Bad-Name: {unit: pct}}\n", 2, "snake_case"),
        ("vendor: amd\nmetrics: {x: 3}\n", 2, "no fields"),
    ],
)  # fmt: skip
def test_faults_are_told_with_line_and_fix(tmp_path, text, line, message):
    with pytest.raises(WikiError) as caught:
        load(tmp_path, text)
    assert message in str(caught.value)
    assert caught.value.where.endswith(f"m.yaml:{line}")


def test_missing_map(tmp_path):
    with pytest.raises(WikiError, match="cannot be read"):
        load_metric_map(tmp_path / "none.yaml")

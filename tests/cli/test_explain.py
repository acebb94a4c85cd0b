"""kbs recommend --explain METHOD: every standing that a method can have."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT

RAW = ROOT / "tests/data/reports/h100_triton_torch.raw.csv"


def kernels(kbs, *options):
    ran = kbs("recommend", RAW, "--launch", 1, *options, "--json")
    assert ran.code == 0, ran.err
    return ran.json["kernels"]


@pytest.fixture(scope="module")
def listed(request):
    kbs = request.getfixturevalue("kbs")
    return kernels(kbs)[0]


def test_every_listed_and_filtered_method_is_explained_as_listed(kbs, listed):
    first = listed["recommendations"][0]
    (kernel,) = kernels(kbs, "--explain", first["method"])
    found = kernel["explanation"]
    assert kernel["recommendations"] == listed["recommendations"]
    assert (found["standing"], found["rank"]) == ("recommended", 1)
    assert found["score"]["score"] == pytest.approx(first["score"])
    there = {row["symptom"] for row in found["addresses"] if row["found"] in ("cause", "effect")}
    assert set(first["addresses"]) == there


def test_a_near_equivalent_keeps_its_score_and_names_its_speaker(kbs, listed):
    row = next(row for row in listed["filtered"] if row["filter"] == "near_equivalent")
    (kernel,) = kernels(kbs, "--explain", row["method"])
    found = kernel["explanation"]
    assert (found["standing"], found["rank"]) == ("filtered", None)
    assert row["reason"] in found["reason"]
    assert found["score"]["method"] == row["method"]


def test_a_hard_filter_is_told(kbs, listed):
    row = next(row for row in listed["filtered"] if row["filter"] == "architecture")
    found = kernels(kbs, "--explain", row["method"])[0]["explanation"]
    assert found["reason"].startswith("architecture: ")
    assert found["score"] is None


def test_a_method_that_nothing_asks_for_says_what_it_treats(kbs):
    ran = kbs("recommend", RAW, "--launch", 3, "--explain", "split_k")
    assert "not raised: no symptom that it treats was found" in ran.out
    assert "small_grid (weight 0.85): absent" in ran.out


def test_words_are_explained_too(kbs):
    ran = kbs("recommend", "--text", "bank conflicts in a shared tile", "--explain", "smem_padding")
    assert ran.code == 0, ran.err
    assert "recommended: number 1 of" in ran.out
    assert "shared_bank_conflicts (weight" in ran.out


def test_an_unknown_method_is_refused(kbs):
    ran = kbs("recommend", RAW, "--explain", "magic")
    assert ran.code == 2
    assert "--explain magic is no method" in ran.err

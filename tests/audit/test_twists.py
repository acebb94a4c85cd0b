"""A number that is not said as the page says it does not pass: signs, comparisons, no numbers."""

from __future__ import annotations

import pytest

from kbs_ingest.audit.scan import scan_text

FORMS = {
    "colon": "- {label}: {value} <- {place}",
    "equals": "{label} = {value} <- {place}",
    "prose": "The {label} is {value} <- {place}",
    "code": "x = 1  # {label}: {value} <- {place}",
    "table": "| what | value | from |\n|---|---|---|\n| {label} | {value} | <- {place} |",
    "bold": "- **{label}**: **{value}** <- {place}",
}


@pytest.fixture
def verdict(judge, wiki):
    place = str(wiki.chips["h100_sxm"].chip.find("memory_bandwidth").citation)

    def ask(form, value):
        suffix = ".py" if form == "code" else ".md"
        text = FORMS[form].format(label="H100 SXM HBM3 bandwidth", value=value, place=place)
        (found,) = scan_text(text, suffix).citations
        return judge.judge(found).verdict

    return ask


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", ["3.35 TB/s", "~3.35 TB/s", "about 3.35 TB/s", "+3.35 TB/s",
                                   "up to 3.35 TB/s", "3350 GB/s"])  # fmt: skip
def test_the_value_as_it_stands_passes(verdict, form, value):
    assert verdict(form, value) == "ok"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "value",
    [
        "-3.35 TB/s", "−3.35 TB/s", "not 3.35 TB/s", "never 3.35 TB/s", "not quite 3.35 TB/s",
        ">3.35 TB/s", "> 3.35 TB/s", "<3.35 TB/s", "≥3.35 TB/s", ">= 3.35 TB/s", "≠ 3.35 TB/s",
        "±3.35 TB/s", "more than 3.35 TB/s", "at least 3.35 TB/s", "less than 3.35 TB/s",
    ],
)  # fmt: skip
def test_a_sign_a_comparison_or_a_negation_does_not(verdict, form, value):
    assert verdict(form, value) == "wrong_value"


@pytest.mark.parametrize("form", ["colon", "equals", "code", "bold", "table"])
@pytest.mark.parametrize(
    "value", ["nan TB/s", "inf TB/s", "3.35x TB/s", "3.35x", "3.35e400 TB/s", "3.35e400",
              "many TB/s"]
)  # fmt: skip
def test_what_is_no_number_is_none(verdict, form, value):
    assert verdict(form, value) == "wrong_value"

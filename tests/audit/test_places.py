"""Every spelling of a place is read, or what stands before it does not pass."""

from __future__ import annotations

import pytest

from kbs_ingest.audit import audit_paths
from kbs_ingest.audit.scan import scan_text

PLACE = "gpu-wiki/hardware/nvidia/h100_sxm.md:L34"
FORMS = [
    "HBM3 bandwidth: {} <- [{p}](x)", "HBM3 bandwidth: {} <- [h100]({p})",
    "HBM3 bandwidth: {} ([h100]({p}))", "HBM3 bandwidth: [{}]({p})", "HBM3 bandwidth: {} ‹– {p}",
    "HBM3 bandwidth: {} <— {p}", "HBM3 bandwidth: {} <= {p}", "HBM3 bandwidth: {} &larr; {p}",
    "HBM3 bandwidth: {} <- <{p}>", 'HBM3 bandwidth: {} <- <a href="{p}">h100</a>',
    "HBM3 bandwidth: {} <- _{p}_", "HBM3 bandwidth: {} <- ![x]({p})",
]  # fmt: skip


def verdicts(judge, text, suffix=".md"):
    return [judge.judge(found).verdict for found in scan_text(f"{text}\n", suffix).citations]


@pytest.mark.parametrize("form", FORMS)
def test_a_place_in_any_markup_is_one(judge, form):
    assert verdicts(judge, form.format("3.35 TB/s", p=PLACE)) == ["ok"]
    assert verdicts(judge, form.format("9.99 TB/s", p=PLACE)) == ["wrong_value"]


@pytest.mark.parametrize("text", [
    "HBM3 bandwidth: 9.99 TB/s, see [h100]({p})", "HBM3 bandwidth 9.99 TB/s as {p} says",
    "The 999 units of it <- {p}", "HBM3 bandwidth 9.99TBs <- {p}",
])  # fmt: skip
def test_a_value_near_a_place_that_is_not_understood_does_not_pass(judge, text):
    assert verdicts(judge, text.format(p=PLACE)) == ["wrong_value"]


@pytest.mark.parametrize("text", ["See [h100]({p}).", "The roof of the H100 SXM <- {p}",
                                  "Its 3.35 TB/s stand in {p} too"])  # fmt: skip
def test_a_place_alone_is_a_reference(judge, text):
    assert verdicts(judge, text.format(p=PLACE)) == ["ok"]


@pytest.mark.parametrize("line", ["L34.5", "L034x", "L34abc", "34.5"])
def test_what_is_no_line_number_is_told(judge, line):
    text = f"HBM3 bandwidth: 3.35 TB/s <- {PLACE.replace('L34', line)}"
    assert verdicts(judge, text) == ["missing"]


@pytest.mark.parametrize(("suffix", "text"), [
    (".cu", "// HBM3 bandwidth: {}\n// TB/s <- {p}"),
    (".py", "# HBM3 bandwidth: {}\n# TB/s <- {p}"),
    (".md", "The HBM3 bandwidth is {}\nTB/s <- {p}"),
])  # fmt: skip
def test_a_value_over_two_lines_is_one_value(judge, suffix, text):
    assert verdicts(judge, text.format("3.35", p=PLACE), suffix) == ["ok"]
    assert verdicts(judge, text.format("9.99", p=PLACE), suffix) == ["wrong_value"]


def test_a_reference_covers_no_number_of_its_line(knowledge, tmp_path):
    path = tmp_path / "a.md"
    path.write_text("The peak bandwidth is 9.99 TB/s, see gpu-wiki/README.md:L1\n")
    assert [row.kind for row in audit_paths([path], knowledge).uncited] == ["uncited"]

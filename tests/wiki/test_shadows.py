"""A team's page that contradicts the shipped page of its id is told, by check and by ingest."""

from __future__ import annotations

import pytest

from kbs_ingest.wiki.load import load_wiki
from kbs_ingest.wikicheck import check_wiki
from tests.conftest import WIKI

H100 = "hardware/nvidia/h100_sxm.md"


@pytest.fixture
def team(tmp_path):
    def write(*edits):
        page = tmp_path / "team" / H100
        page.parent.mkdir(parents=True, exist_ok=True)
        text = (WIKI / H100).read_text(encoding="utf-8")
        for before, after in edits:
            assert before in text
            text = text.replace(before, after, 1)
        page.write_text(text, encoding="utf-8")
        return tmp_path / "team"

    return write


def shadows(root):
    return [fault for fault in check_wiki([WIKI, root]).faults if fault.check == "shadow"]


def test_another_value_is_told_with_both_and_its_line(team, wiki):
    root = team(("| 3.35 | TB/s |", "| 3.40 | TB/s |"))
    (fault,) = shadows(root)
    assert fault.line == wiki.chips["h100_sxm"].chip.find("memory_bandwidth").citation.line
    assert fault.severity == "warning"
    assert "memory_bandwidth 3.4 TB/s for 3.35 TB/s" in fault.message
    assert load_wiki([WIKI, root]).shadows == (
        f"team/{H100} replaces {H100} and differs from it: memory_bandwidth 3.4 TB/s for 3.35 TB/s",
    )


def test_a_copy_and_the_same_value_in_another_unit_are_no_contradiction(team):
    root = team(("| 3.35 | TB/s |", "| 3350 | GB/s |"))
    assert shadows(root) == []
    assert load_wiki([WIKI, root]).shadows == ()


def test_a_row_that_is_left_out_is_told(team):
    (line,) = [row for row in (WIKI / H100).read_text("utf-8").split("\n") if "| `tdp`" in row]
    (fault,) = shadows(team((f"{line}\n", "")))
    assert "tdp is left out for 700 W" in fault.message

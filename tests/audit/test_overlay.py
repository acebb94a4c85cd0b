"""An overlay that replaces a page, and paths that name no page of the wiki."""

from __future__ import annotations

import pytest

from kbs_ingest.audit import Judge, load_knowledge
from kbs_ingest.audit.scan import scan_text
from kbs_ingest.wikicheck import check_wiki
from tests.conftest import WIKI

H100 = "hardware/nvidia/h100_sxm.md"
VALUES = ["3.35", "3.35 Tb/s", "3.35-4.8 TB/s", "3.35 mTB/s"]


@pytest.fixture
def team(tmp_path):
    """An overlay whose page of the H100 states another bandwidth."""
    page = tmp_path / "team" / H100
    page.parent.mkdir(parents=True)
    text = (WIKI / H100).read_text(encoding="utf-8")
    page.write_text(text.replace("| 3.35 | TB/s |", "| 3.40 | TB/s |", 1), encoding="utf-8")
    return tmp_path / "team"


@pytest.fixture
def line(wiki):
    return wiki.chips["h100_sxm"].chip.find("memory_bandwidth").citation.line


def judged(judge, text):
    (found,) = scan_text(f"{text}\n", ".md").citations
    return judge.judge(found).verdict


@pytest.mark.parametrize("value", VALUES)
def test_a_replaced_page_is_still_read_as_specs(judge, team, line, value):
    text = f"memory_bandwidth: {value} <- gpu-wiki/{H100}:L{line}"
    with_team = Judge(load_knowledge([WIKI, team]))
    assert judged(with_team, text) == judged(judge, text) == "wrong_value"


def test_each_page_answers_for_itself(team, line):
    judge = Judge(load_knowledge([WIKI, team]))
    for path, value in ((H100, "3.35"), (f"team/{H100}", "3.40"), (f"docs/{H100}", "3.35")):
        other = "3.40" if value == "3.35" else "3.35"
        place = f"gpu-wiki/{path}:L{line}"
        assert judged(judge, f"H100 SXM HBM3 bandwidth: {value} TB/s <- {place}") == "ok", path
        assert judged(judge, f"H100 SXM HBM3 bandwidth: {other} TB/s <- {place}") != "ok", path


def test_the_check_of_an_overlay_reads_replaced_pages_as_specs(team, line):
    note = team / "methods" / "note.md"
    note.parent.mkdir()
    note.write_text(f"memory_bandwidth: 3.35 Tb/s <- gpu-wiki/{H100}:L{line}\n", encoding="utf-8")
    assert any(fault.check == "citation" for fault in check_wiki([WIKI, team]).faults)


@pytest.mark.parametrize(
    "path",
    [
        "foo/hardware/amd/h100_sxm.md", "foo/hardware/nvidia/h100_sxm.md",
        "hardware/amd/h100_sxm.md", "hardware/h100_sxm.pdf", "hardware/h100_sxm",
        "hardware/nvidia/h100_sxm", "hardware/nvidia/h100_sxm.txt", "hardware/h100_sxm.md",
        "hardware/nvidia/x/h100_sxm.md", "nvidia/hardware/h100_sxm.md", f"team/{H100}",
        "docs/team/hardware/nvidia/h100_sxm.md", "docs/hardware/amd/h100_sxm_spec.md",
        "hardware/nvidia/h100_sxm.md.md", "../gpu-wiki/hardware/nvidia/h100_sxm.md",
        "methods/../../gpu-wiki/hardware/nvidia/h100_sxm.md", "measured/h100_sxm.md",
    ],
)  # fmt: skip
def test_a_path_that_names_no_page_is_missing(judge, line, path):
    assert judged(judge, f"H100 HBM3 bandwidth: 3.35 TB/s <- gpu-wiki/{path}:L{line}") == "missing"


@pytest.mark.parametrize(
    "place",
    [
        f"<gpu-wiki>/docs/{H100}", "gpu-wiki/docs/hardware/h100_sxm_spec.md",
        "gpu-wiki/ref-docs/hardware/h100_sxm.md", f"../gpu-wiki/{H100}", f"./gpu-wiki/./{H100}",
        f"/home/me/kbs/gpu-wiki/{H100}", f"[gpu-wiki]/{H100}",
        "gpu-wiki/docs/hardware/nvidia/h100_sxm_specs.md",
    ],
)  # fmt: skip
def test_every_spelling_of_the_page_is_read(judge, line, place):
    assert judged(judge, f"H100 HBM3 bandwidth: 3.35 TB/s <- {place}:L{line}") == "ok"

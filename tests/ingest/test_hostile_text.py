"""Texts and rules that people do not write: read or refused, never a crash."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wiki_fixture import H100, UNCOALESCED, write_wiki

from kbs_engine.errors import WikiError
from kbs_ingest.rules.check import MAX_WIDTH, ConditionChecker
from kbs_ingest.rules.columns import Columns
from kbs_ingest.rules.evaluate import Condition
from kbs_ingest.wiki import load_wiki
from kbs_ingest.wiki.markdown import parse

PIECES = st.sampled_from(
    ["\r", "\n", "\r\n", "\x0b", "\x0c", "\u2028", "\x85", "\0", "---", "# a", "## b", "| a | b |",
     "|---|---|", "| 1 |", "- x", "```", "    ", "> ", "\t", "===", "a", "\\|", "é"]
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.one_of(st.lists(PIECES, max_size=30).map("".join), st.text(max_size=200)))
def test_any_text_is_a_page_or_refused(text):
    try:
        page = parse(text, "x.md")
    except WikiError:
        return
    last = max(text.replace("\r", "\n").count("\n") + 1, 1)
    for section in page.sections:
        assert 1 <= section.line <= last
        for table in section.tables:
            assert all(len(row.cells) == len(table.header) for row in table.rows)


def test_old_mac_line_ends_read_as_lines(tmp_path):
    write_wiki(tmp_path)
    plain = load_wiki([tmp_path]).chips["h100_sxm"].chip.specs
    for end in (b"\r", b"\r\n"):
        path = tmp_path / "hardware/nvidia/h100_sxm.md"
        path.write_bytes(H100.encode().replace(b"\n", end))
        assert load_wiki([tmp_path]).chips["h100_sxm"].chip.specs == plain


def test_a_stray_carriage_return_shifts_no_line():
    page = parse("# a\n\nwords\r| x |\n\n## b\n", "x.md")
    assert [(part.title, part.line) for part in page.sections] == [("a", 1), ("b", 5)]


@pytest.fixture(scope="module")
def checker():
    return ConditionChecker(Columns())


@pytest.mark.parametrize("spec", ["999999999", ".999999", "0>41", ".41f", "9" * 5000, ".00041f"])
def test_a_wide_message_is_refused(checker, spec):
    told = checker.message_faults(f"{{p.duration_ns:{spec}}}", {"p.duration_ns"})
    assert len(told) == 1
    assert f"at most {MAX_WIDTH}" in told[0]
    assert len(told[0]) < 200


def test_a_usual_message_is_not(checker):
    for spec in (".1f", "40.40f", "08.2f", ",.0f", "time"):
        assert not checker.message_faults(f"{{p.duration_ns:{spec}}}", {"p.duration_ns"})


@pytest.mark.parametrize(
    "share",
    ["1/0", "power(10, power(10, 308))", "p.dram_pct * (1/0)", "coalesce(ln(0), 0.5)",
     "least(1, power(10, 309))", "p.dram_pct / (3 - 3) + sqrt(-1)",
     "CASE WHEN p.dram_pct > 1 / 0 THEN 0.5 ELSE 0 END"],
)  # fmt: skip
def test_a_share_that_cannot_compute_is_refused(checker, share):
    for field in ("severity", "recoverable"):
        rule = Condition(id="r", needs=("p.dram_pct",), when="p.dram_pct > 1", **{field: share})
        told = checker.faults(rule)
        assert [name for name, _ in told] == [field], told
        assert "for every profile" in told[0][1]


@pytest.mark.parametrize(
    "share",
    ["1 - p.dram_pct / 100", "p.dram_pct / (p.l2_pct - 1)", "nullif(p.dram_pct, 0) * (1 / 4)",
     "CASE WHEN p.dram_pct > 1 THEN NULL ELSE -0.5 + 1 END", "exp(p.dram_pct)"],
)  # fmt: skip
def test_a_share_that_computes_for_some_profile_is_not(checker, share):
    rule = Condition(
        id="r", needs=("p.dram_pct", "p.l2_pct"), when="p.dram_pct > 1", severity=share
    )
    assert checker.faults(rule) == []


def test_a_rule_file_with_a_wide_message_is_refused(tmp_path):
    write_wiki(tmp_path)
    path = tmp_path / "symptoms/uncoalesced_global_load.yaml"
    text = UNCOALESCED.replace(":.1f}", ":999999999f}", 1)
    assert text != UNCOALESCED
    path.write_text(text)
    with pytest.raises(WikiError, match="at most 40"):
        load_wiki([tmp_path])

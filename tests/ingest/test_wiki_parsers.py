"""Property tests of the Basis and table parsers."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from kbs_engine.facts import Basis
from kbs_ingest.wiki.basis import parse_basis
from kbs_ingest.wiki.markdown import parse, split_cells
from kbs_ingest.wiki.names import is_id, normalise

_known = st.fixed_dictionaries(
    {},
    optional={
        "density": st.sampled_from(["dense", "sparse"]),
        "accumulate": st.sampled_from(["fp32", "fp16", "int32", "fp8_e4m3"]),
        "scope": st.sampled_from(["chip", "die", "unit", "block", "thread"]),
        "clock_hz": st.integers(1, 9000).map(lambda mhz: mhz * 1e6),
        "direction": st.sampled_from(["both", "one"]),
    },
)
_remark = st.from_regex(r"\A[a-z]{3,8} [a-z0-9]{1,8}\Z").filter(
    lambda text: not text.startswith(("per ", "clock ")) and not text.endswith("accumulate")
)
_cell = st.text(st.characters(codec="utf-8", exclude_characters="\n\r|\\`<&*_[]!~"), max_size=12)


@given(_known, st.lists(_remark, max_size=3))
def test_what_a_basis_prints_is_read_back(known: dict[str, object], remarks: list[str]) -> None:
    basis = Basis(**known, remarks=tuple(remarks))  # type: ignore[arg-type]
    assert parse_basis(str(basis)) == basis


@given(st.text(max_size=60))
def test_a_basis_is_read_or_refused_but_never_crashes(text: str) -> None:
    try:
        basis = parse_basis(text)
    except ValueError as problem:
        assert "twice" in str(problem)  # noqa: PT017 - either outcome is right
    else:
        assert all(part == part.strip() for part in basis.remarks)


def test_order_and_spacing_of_tokens_do_not_matter() -> None:
    assert parse_basis("per chip;dense ;  clock 1830 MHz") == parse_basis(
        "clock 1830 MHz; dense; per chip"
    )


def test_contradictions_are_refused() -> None:
    with pytest.raises(ValueError, match="scope twice"):
        parse_basis("per chip; per die")


@given(st.lists(st.lists(_cell, min_size=3, max_size=3), min_size=1, max_size=6), st.integers(0, 5))
def test_tables_come_back_with_cells_and_lines(rows: list[list[str]], above: int) -> None:
    rows = [[" ".join(cell.split()) for cell in row] for row in rows]
    head = "\n" * above + "# T\n\n| a | b | c |\n|---|---|---|\n"
    text = head + "".join(f"| {' | '.join(row)} |\n" for row in rows)
    page = parse(text, "p.md")
    (table,) = page.sections[0].tables
    assert not page.faults
    assert [list(row.cells) for row in table.rows] == rows
    for number, row in enumerate(table.rows):
        assert row.line == above + 5 + number


@given(
    st.lists(st.lists(st.sampled_from(["x", "`y`", "a\\|b", "1.5", ""]), min_size=1, max_size=5),
             min_size=1, max_size=5)
)  # fmt: skip
def test_rows_of_another_width_are_all_reported(rows: list[list[str]]) -> None:
    text = "| a | b | c |\n|---|---|---|\n" + "".join(f"| {' | '.join(r)} |\n" for r in rows)
    page = parse(text, "p.md")
    wrong = [n + 3 for n, row in enumerate(rows) if len(split_cells(f"| {' | '.join(row)} |")) != 3]
    assert [int(fault.where.rpartition(":")[2]) for fault in page.faults] == wrong


@given(st.lists(st.sampled_from(["x", "a\\|b", "`c`", "1", "long words"]), min_size=2, max_size=6))
def test_cells_are_split_as_markdown_does(cells: list[str]) -> None:
    line = f"| {' | '.join(cells)} |"
    html = MarkdownIt("commonmark").enable("table").render(f"{line}\n|{'---|' * len(cells)}\n")
    shown = [re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<th>(.*?)</th>", html)]
    assert [cell.replace("`", "") for cell in split_cells(line)] == shown


def test_a_table_inside_a_code_fence_is_no_table() -> None:
    page = parse("# T\n\n```\n| a | b |\n| c |\n```\n", "p.md")
    assert not page.faults
    assert not page.sections[0].tables


def test_front_matter_keeps_the_lines_of_the_body() -> None:
    page = parse("---\na: 1\nb: 2\n---\n# T\n\ntext\n\n## U\n", "p.md")
    assert page.front == "\na: 1\nb: 2"
    assert [(part.line, part.heading) for part in page.sections] == [(5, ("T",)), (9, ("T", "U"))]


def test_underlined_headings_are_headings() -> None:
    page = parse("Title\n=====\nbody\n", "p.md")
    assert [(s.line, s.heading, s.text) for s in page.sections] == [(1, ("Title",), "body")]


@given(st.text(max_size=200))
def test_any_text_is_parsed(text: str) -> None:
    page = parse("# T\n" + text.replace("\r", ""), "p.md")
    count = text.count("\n") + 2
    assert all(1 <= section.line <= count for section in page.sections)


@given(st.text(max_size=20))
def test_names_compare_without_case_and_separators(name: str) -> None:
    assert normalise(name) == normalise(f" {name.swapcase().casefold()}_-")
    if is_id(name):
        assert normalise(name) == name.replace("_", "")

"""Numbers in the styles of different locales."""

from __future__ import annotations

import pytest

from kbs_engine.errors import ReportError
from kbs_ingest.readers.numbers import POINT, AmbiguousError, Style, is_absent, parse, style_of

COMMA = Style(",", True)


def style(*cells, whole=False):
    return style_of([(cell, whole) for cell in cells]).decimal


@pytest.mark.parametrize(
    ("cells", "mark"),
    [
        (["1,234.5"], "."), (["1.234,5"], ","), (["1,234,567"], "."), (["1.234.567"], ","),
        (["0,123"], ","), (["0.123"], "."), (["12,34"], ","), (["1234,567"], ","),
        (["1,234", "5.25"], "."), (["1,234", "5,25"], ","), (["1.234", "7,5"], ","),
        (["1 234,5"], ","), (["12"], "."), ([".5"], "."), (["1.5e-05"], "."),
        (["n/a", "(4096, 1, 1)", "1.25"], "."),
    ],
)  # fmt: skip
def test_the_file_decides(cells, mark):
    assert style(*cells) == mark


@pytest.mark.parametrize("cells", [["1,234"], ["1,234", "999"], ["12,345", "1"]])
def test_one_reading_is_not_guessed(cells):
    with pytest.raises(AmbiguousError):
        style(*cells)


def test_a_point_alone_is_taken_and_marked_as_unproved():
    assert style_of([("1.234", False)]) == Style(".", False)


def test_two_styles_in_one_file():
    with pytest.raises(AmbiguousError, match="two styles"):
        style("1,234.5", "1.234,5")


def test_whole_numbers_prove_the_grouping_mark():
    assert style("1,234", whole=True) == "."
    assert style("1.234", whole=True) == ","
    assert style("128.00", whole=True) == "."


@pytest.mark.parametrize(
    ("text", "mark", "value"),
    [
        ("1,234.5", POINT, 1234.5), ("1.234,5", COMMA, 1234.5), ("12,34,567", POINT, 1234567),
        ("1 234,5", COMMA, 1234.5), ("1\u202f234\u202f567,25", COMMA, 1234567.25),
        ("1’234.5", POINT, 1234.5), ("-3.5", POINT, -3.5), ("+2", POINT, 2),
        ("4.34259040e-02", POINT, 0.0434259040), ("1e+06", POINT, 1e6), (".5", POINT, 0.5),
        ("(!) n/a", POINT, None), ("-nan(ind)", POINT, None), ("1e999", POINT, float("inf")),
    ],
)  # fmt: skip
def test_parse(text, mark, value):
    assert parse(text, mark) == value


@pytest.mark.parametrize("text", ["12,34", "1,2345", "1.2.3", "1.234,5", "0x10", "12abc", "1,,2"])
def test_what_does_not_fit_the_style_is_an_error(text):
    with pytest.raises(ValueError, match=r"."):
        parse(text, POINT)


def test_absent_words():
    assert all(is_absent(word) for word in ("N/A", " nan ", "", "no data", "Inf"))


def test_a_german_export_reads_as_the_english_one(read_text, shipped):
    text = shipped("details.csv").read_text(encoding="utf-8")
    swap = str.maketrans(",.", ".,")
    rows = []
    for line in text.splitlines():
        cells = line.split('","')
        if len(cells) > 14 and cells[0] != '"ID':
            value, quote, rest = cells[14].partition('"')
            cells[14] = value.translate(swap) + quote + rest
            if len(cells) > 19:
                cells[19] = cells[19].translate(swap)
        rows.append('","'.join(cells))
    german, english = read_text("\n".join(rows)), read_text(text)
    assert [one.metrics for one in german.profiles] == [one.metrics for one in english.profiles]


def test_an_undecidable_export_asks_for_plain_numbers(read_text):
    from tests.ingest.readers import layouts as L  # noqa: N812

    with pytest.raises(ReportError) as caught:
        read_text(L.raw([("smsp__inst_executed.sum", "inst")], ["1,234"]))
    assert "--print-fp" in caught.value.remedy
    assert "LC_ALL=C" in caught.value.remedy

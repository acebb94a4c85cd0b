"""Generated pages are what `make docs` would write now; nothing is compiled for it."""

from __future__ import annotations

import difflib

import pytest

from tools import generate_docs
from tools.markdown_table import between, table


def test_generated_pages_are_fresh():
    for path, text in generate_docs.documents().items():
        written = path.read_text(encoding="utf-8") if path.exists() else ""
        difference = difflib.unified_diff(
            written.splitlines(), text.splitlines(), str(path), "make docs", n=0, lineterm=""
        )
        assert written == text, "run `make docs`:\n" + "\n".join(list(difference)[:20])


def test_only_what_stands_between_the_markers_is_replaced():
    page = "a\n<!-- generated: t -->\nold\n<!-- end: t -->\nb\n"
    assert between(page, "t", "new\n") == page.replace("old", "new")


def test_a_page_without_markers_is_refused():
    with pytest.raises(ValueError, match="generated: t"):
        between("a\n", "t", "new\n")


def test_cells_cannot_break_a_table():
    assert table(("A",), [("x|y",), ("",), (0,)]).splitlines()[2:] == [
        "| x\\|y |",
        "| – |",
        "| 0 |",
    ]

"""Times of two tasks in one run: every table says which is which."""

from __future__ import annotations

import json

import pytest

from kbs.looping.home import Went, status_lines
from kbs.render.run_html import run_page
from kbs_engine.gate import check_version
from kbs_engine.run.view import read_run
from tests.loop.test_orders import go, order, started


@pytest.fixture(scope="module")
def two_epochs(tmp_path_factory):
    """v0 and v1 with M=8; v2 is v1 measured again with M=16, and v3 is made from it."""
    with started(tmp_path_factory.mktemp("epochs"), iterations=1, slots=1) as run:
        assert go(run)["best_version"] == 1
        order(run, kind="set", changes={"dims": {"M": 16}}, reason="larger batches")
        go(run)
        assert check_version(run, 3, final=True) == ()
        yield run


def rows(text: str, title: str) -> dict[str, list[str]]:
    """A table by its first cells, from the section of that title."""
    part = text.split(f"## {title}\n")[1].split("\n## ", maxsplit=1)[0]
    cells = [line.strip("|").split("|") for line in part.splitlines() if line.startswith("|")]
    return {row[0].strip(): [cell.strip() for cell in row[1:]] for row in cells}


@pytest.mark.parametrize(
    ("file", "title"),
    [("summary.md", "Timeline"), ("summary.md", "Bottleneck drift"),
     ("final_report.md", "Versions")],
)  # fmt: skip
def test_a_column_marks_the_epoch(two_epochs, file, title):
    found = rows((two_epochs.root / file).read_text(), title)
    assert found["Version"][0] == "Epoch"
    assert {name: found[name][0] for name in ("v0", "v1", "v2", "v3")} == {
        "v0": "0", "v1": "0", "v2": "1", "v3": "1",
    }  # fmt: skip


@pytest.mark.parametrize(("file", "title"), [("summary.md", "Timeline"),
                                             ("final_report.md", "Versions")])  # fmt: skip
def test_below_it_stands_what_began_each(two_epochs, file, title):
    text = (two_epochs.root / file).read_text()
    assert "- epoch 0 from v0 (M=8)\n- epoch 1 from v2: larger batches (M=16)" in text
    assert rows(text, title)["v2"][-1] == "v1 measured again"


def test_a_version_measured_again_is_called_so(two_epochs):
    note = json.loads((two_epochs.root / "v2/attribution.json").read_text())["note"]
    assert note == "it is v1 measured again: there is no method to attribute"
    analysis = (two_epochs.root / "v2/analysis.md").read_text()
    assert note in analysis
    assert "by its tunables alone" not in analysis
    assert "What moved" not in analysis, "nothing is compared across epochs"
    assert "What moved" in (two_epochs.root / "v3/analysis.md").read_text()
    record = json.loads((two_epochs.root / "memory/v2.json").read_text())
    assert record["optimization"]["action_description"] == "v1 measured again in epoch 1"


def test_status_draws_a_line_between(two_epochs):
    lines = status_lines(two_epochs.root, Went(state=two_epochs.state()))
    (line,) = (n for n, text in enumerate(lines) if text.startswith("  epoch 1 from v2"))
    (first, *_) = (n for n, text in enumerate(lines) if text.startswith("  v2 "))
    assert line == first - 1
    assert "v1 measured again" in lines[first]


def test_the_plots_name_it_too(two_epochs):
    page = run_page(read_run(two_epochs))
    assert "v1, epoch 0" in page
    assert "v2, epoch 1" in page


def test_a_run_of_one_epoch_says_nothing_of_it(tmp_path):
    with started(tmp_path, iterations=1, slots=1) as run:
        state = go(run)
        assert len(state["epochs"]) == 1
        texts = [(run.root / name).read_text() for name in ("summary.md", "final_report.md")]
        texts += [
            "\n".join(status_lines(run.root, Went(state=run.state()))),
            run_page(read_run(run)),
        ]
    assert not any(word in text for text in texts for word in ("epoch 0", "Epoch", "epochs"))

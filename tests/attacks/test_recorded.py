"""Recordings keep what the manifest promises, and the page says what they say."""

import pytest

from tests.attacks.manifest import attacks
from tests.attacks.page import PAGE, page
from tests.attacks.recording import recordings


def test_the_page_is_generated():
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.attacks.page"


@pytest.mark.parametrize("recording", recordings(), ids=lambda r: r.name)
def test_nothing_got_through_and_no_twin_was_refused(recording):
    assert [f"{row.id}: {row.wrong}" for row in recording.rows if row.wrong] == []


@pytest.mark.parametrize("recording", recordings(), ids=lambda r: r.name)
def test_recorded_rows_are_those_of_the_manifest(recording):
    known = {attack.id for attack in attacks()}
    for row in recording.rows:
        if row.kind == "attack":
            assert row.id in known
        if row.kind == "twin":
            assert len(row.outcomes) >= 3
